"""Actors of a batch system."""
