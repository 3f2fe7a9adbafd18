"""Optima and bounds with their certificates, one module a problem."""
