"""Failures, churn and load of hosts and links, drawn as profiles."""
