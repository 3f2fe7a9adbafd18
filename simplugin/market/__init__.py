"""Markets for bundles of tasks: prices, auctions, and the true maximum of the benefit."""
