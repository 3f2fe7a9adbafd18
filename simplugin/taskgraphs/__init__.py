"""Concurrent parallel task graphs on multi-clusters: allocation, shares, mapping, execution."""
