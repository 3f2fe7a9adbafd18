"""Actors of the nodes of a tree, on SimGrid."""
