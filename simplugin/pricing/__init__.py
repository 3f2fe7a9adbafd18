"""Decentralised pricing: shadow prices share a grid fairly between bags of tasks."""
