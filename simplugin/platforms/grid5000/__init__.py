"""Grid'5000: facts, a selection of them, latencies, and the platform that they make."""
