"""Decisions about task graphs: shares, allocations, and mappings, as pure functions."""
