"""Foundations of every layer: errors, units, name suggestions, formatting, elementary functions."""
