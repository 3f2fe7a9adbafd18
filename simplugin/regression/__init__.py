"""Recorded results: what moved, by how much, and where it began."""
