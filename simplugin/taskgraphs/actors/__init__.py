"""Actors that execute task graphs."""
