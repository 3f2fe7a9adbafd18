"""A laboratory for scheduling on grids and multi-clusters, built on SimGrid.

Public names are listed in ``__init__.pyi``, here as in the packages below, and loaded when first
used: importing this package alone costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
