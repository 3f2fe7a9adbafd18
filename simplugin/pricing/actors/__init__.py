"""Agents of applications and price managers, as actors of a simulation."""
