"""Policies for batch jobs, one module a family."""
