"""Tables and charts of results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not lazily: a later import of the module `gantt` would take the function's name.
from simplugin.reports.gantt import draw_gantt, gantt

if TYPE_CHECKING:
    from simplugin.reports.tables import print_result

__all__ = ["draw_gantt", "gantt", "print_result"]


def __getattr__(name: str) -> Any:
    """Load `print_result` when it is first used, and rich with it."""
    if name != "print_result":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.tables").print_result
