"""Campaigns of many runs: loading them, running them, and their results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign, load_campaign
    from simplugin.campaigns.running.campaign_runs import run_campaign
    from simplugin.campaigns.store.reading import results

__all__ = ["Campaign", "load_campaign", "results", "run_campaign"]

_HOMES = {
    "Campaign": "campaign",
    "load_campaign": "campaign",
    "results": "store.reading",
    "run_campaign": "running.campaign_runs",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it; pydantic takes its time."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
