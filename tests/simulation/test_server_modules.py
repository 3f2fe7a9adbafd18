"""Modules that a server has loaded: once, until they change or another comes first."""

from __future__ import annotations

import importlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming
from processes import is_alive, wait_until

from simplugin.core.errors import SimulationError
from simplugin.simulation import servers, simulate


@pytest.fixture
def slow_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of an importable module that takes a while to import."""
    file = tmp_path / "slow_to_import.py"
    file.write_text(
        "import time, os\n"
        "time.sleep(0.02)\n"
        "PID = os.getpid()\n"
        "VERSION = 1\n"
        "async def actor(me):\n"
        "    await me.sleep_for(1)\n"
        "    return VERSION, PID != os.getpid(), os.environ.get('FLAVOUR'), IMPORTED_WITH\n"
        "IMPORTED_WITH = os.environ.get('FLAVOUR')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)
    return file


def ask(platform: Path) -> Any:
    """Return what the module's actor sees."""
    actor = importlib.import_module("slow_to_import").actor
    return simulate(platform, [("ada", actor)]).returned[0].value


def rewrite(file: Path, text: str) -> None:
    """Write a module anew; byte code differs by size and whole seconds only."""
    later = file.stat().st_mtime + 10
    file.write_text(text)
    os.utime(file, (later, later))


@pytest.mark.usefixtures("no_servers")
def test_slow_modules_are_loaded_once_until_they_change(
    two_hosts: Path, slow_module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    assert ask(two_hosts) == (1, False, None, None)
    assert ask(two_hosts) == (1, True, None, None)
    # A module may look at the environment when imported.
    monkeypatch.setenv("FLAVOUR", "sweet")
    assert ask(two_hosts) == (1, False, "sweet", "sweet")
    assert ask(two_hosts) == (1, True, "sweet", "sweet")
    rewrite(slow_module, slow_module.read_text().replace("VERSION = 1", "VERSION = 2"))
    assert ask(two_hosts) == (2, False, "sweet", "sweet")
    wait_until(lambda: sum(map(is_alive, servers.server_processes())) == 1, "replaced servers end")


@pytest.mark.usefixtures("no_servers")
def test_replaced_server_finishes_its_simulations(
    two_hosts: Path, slow_module: Path, tmp_path: Path
) -> None:
    started, go_on = tmp_path / "started", tmp_path / "go_on"

    async def patient(me: Any) -> str:
        await me.sleep_for(1)
        started.touch()
        wait_until(go_on.exists, "the test says so")
        return "done"

    ask(two_hosts)
    (server,) = (pid for pid in servers.server_processes() if is_alive(pid))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(simulate, two_hosts, [("ada", patient)])
        wait_until(started.exists, "the simulation starts")
        rewrite(slow_module, slow_module.read_text().replace("VERSION = 1", "VERSION = 3"))
        assert ask(two_hosts)[0] == 3
        assert is_alive(server)
        go_on.touch()
        assert waiting.result(timeout=600).returned[0].value == "done"
    wait_until(lambda: not is_alive(server), "the replaced server ends")


def test_module_that_is_broken_is_an_error(two_hosts: Path, slow_module: Path) -> None:
    ask(two_hosts)
    rewrite(slow_module, "raise ImportError('broken now')\n")
    with raises_naming(SimulationError, "broken now"):
        ask(two_hosts)


@pytest.mark.usefixtures("no_servers")
def test_a_server_serves_callers_with_other_paths_as_long_as_they_lead_to_its_modules(
    two_hosts: Path, slow_module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    assert [ask(two_hosts)[:2], ask(two_hosts)[:2]] == [(1, False), (1, True)]
    mine = servers.server_processes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.syspath_prepend(elsewhere)
    assert ask(two_hosts)[:2] == (1, True)
    assert servers.server_processes() == mine
    # The same name, but another module comes first now, and the caller has imported that one.
    text = slow_module.read_text().replace("VERSION = 1", "VERSION = 2")
    (elsewhere / "slow_to_import.py").write_text(text)
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "slow_to_import")
    assert ask(two_hosts)[:2] == (2, False)
    assert servers.server_processes() != mine
