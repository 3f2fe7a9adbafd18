"""Policies of our group for bags of tasks on trees."""
