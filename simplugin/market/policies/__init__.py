"""Decisions: how tasks are shared and at which prices, and which site gets a bundle."""
