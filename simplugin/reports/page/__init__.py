"""A page about a campaign: one file that any browser shows, without a network."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from simplugin.reports.page.contents import CampaignReport, Column, KeptRun

__all__ = ["CampaignReport", "Column", "KeptRun", "page_text", "write_page"]


def __getattr__(name: str) -> Any:
    """Load the functions that write the page on first use."""
    if name not in ("page_text", "write_page"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.assembly"), name)
