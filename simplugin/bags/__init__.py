"""Bags of tasks on trees: demand-driven schedulers (Beaumont et al.)."""
