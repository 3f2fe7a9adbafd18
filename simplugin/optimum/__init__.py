"""The best that can be: optima and bounds computed by cvxpy."""
