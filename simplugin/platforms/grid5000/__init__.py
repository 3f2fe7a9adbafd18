"""Grid'5000: facts, a selection of them, latencies, and the platform that they make."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
