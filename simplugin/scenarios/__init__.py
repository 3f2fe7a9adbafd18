"""Scenarios: loading a TOML document, running it, and the outcome."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.inputs.kinds import Outcome
    from simplugin.scenarios.scenario import Scenario, load_scenario, run_scenario

__all__ = ["Outcome", "Scenario", "load_scenario", "run_scenario"]

_HOMES = {
    "Outcome": "simplugin.inputs.kinds",
    "Scenario": "simplugin.scenarios.scenario",
    "load_scenario": "simplugin.scenarios.scenario",
    "run_scenario": "simplugin.scenarios.scenario",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it; pydantic takes its time."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
