"""Scheduling policies of the nodes of a tree."""
