"""Facts of Grid'5000: its reference repository, the shipped catalogue, and latencies."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
