"""A laboratory for scheduling on grids and multi-clusters, built on SimGrid.

Public names are listed in ``__init__.pyi``, here as in the packages below, and loaded when first
used: importing this package alone costs next to nothing.
"""

import sys

_is_command = sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] == __name__
if _is_command and not sys.flags.safe_path:
    # `python -m simplugin`: no file of the current directory is imported, lazy_loader.py neither.
    del sys.path[0]

import lazy_loader  # noqa: E402  not before

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
