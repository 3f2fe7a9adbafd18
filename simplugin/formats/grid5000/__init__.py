"""Facts of Grid'5000: its reference repository, the shipped catalogue, and latencies."""
