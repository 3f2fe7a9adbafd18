"""Modules that a server has loaded: installed ones once, others for each simulation."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from simplugin.core.errors import SimulationError
from simplugin.simulation import simulate

TEXT = """
import os, time
time.sleep(0.02)
PID = os.getpid()
VERSION = 1
async def actor(me):
    await me.sleep_for(1)
    return VERSION, PID != os.getpid(), IMPORTED_WITH
IMPORTED_WITH = os.environ.get("FLAVOUR")
"""


def rewrite(file: Path, text: str) -> None:
    """Write a module anew; byte code differs by size and whole seconds only."""
    later = file.stat().st_mtime + 10
    file.write_text(text)
    os.utime(file, (later, later))


@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize("place", ["", "site-packages"])
def test_installed_modules_are_loaded_once_and_others_each_time(
    two_hosts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    file = tmp_path / place / "slow_to_import.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TEXT)
    monkeypatch.syspath_prepend(file.parent)
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)
    actor = importlib.import_module("slow_to_import").actor

    def ask() -> Any:
        return simulate(two_hosts, [("ada", actor)]).returned[0].value

    loaded = bool(place)
    assert ask() == (1, False, None)
    assert ask() == (1, loaded, None)
    # A module may look at the environment when imported; one that is loaded has done so.
    monkeypatch.setenv("FLAVOUR", "sweet")
    assert ask() == (1, loaded, None if loaded else "sweet")
    rewrite(file, TEXT.replace("VERSION = 1", "VERSION = 2"))
    assert ask()[:2] == (1 if loaded else 2, loaded)
    rewrite(file, "raise ImportError('broken now')\n")
    if not loaded:
        with pytest.raises(SimulationError):
            ask()
