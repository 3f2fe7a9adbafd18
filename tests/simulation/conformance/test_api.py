"""Both back ends offer what the documented interface says."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from worlds import PLAIN

from simplugin.simulation import api, simulate


def members(protocol: Any) -> dict[str, Any]:
    """Return what a protocol promises."""
    special = ("__await__", "__aenter__", "__aexit__")
    return {
        key: value
        for base in protocol.__mro__
        if base.__module__.startswith(api.__name__)
        for key, value in vars(base).items()
        if key in special or not key.startswith("_")
    }


def parameters(function: Any) -> list[tuple[str, Any]]:
    """Return names and defaults of what may be given by name."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return [(each.name, each.default) for each in found if each.kind is not each.VAR_POSITIONAL]


async def compare(me: Any) -> tuple[list[str], list[str]]:
    """Look, inside a simulation, for what is missing or has other parameters."""
    mutex = me.mutex("mutex")
    offered = {
        "Activity": me.exec_async(1),
        "Actor": me,
        "Barrier": me.barrier(1),
        "Condition": me.condition(mutex),
        "Disk": me.host.disks[0],
        "Host": me.host,
        "Link": me.links[0],
        "Mailbox": me.mailbox("box"),
        "MessageQueue": me.message_queue("queue"),
        "Mutex": mutex,
        "Route": me.route("ada", "bob"),
        "Semaphore": me.semaphore(1),
    }
    assert sorted(offered) == sorted(api.__all__)
    missing, different = [], []
    for name, item in offered.items():
        for key, promised in members(getattr(api, name)).items():
            found = getattr(type(item), key, None)
            if key in ("energy", "figures"):  # not measured here
                continue
            if not hasattr(item, key):
                missing.append(f"{name}.{key}")
            elif inspect.isfunction(found) and parameters(found) != parameters(promised):
                different.append(f"{name}.{key}")
    return missing, different


@pytest.mark.parametrize("back_end", ["threads", "coroutines"])
def test_everything_is_there(tmp_path: Path, back_end: Any) -> None:
    platform = tmp_path / "platform.xml"
    platform.write_text(PLAIN)
    result = simulate(platform, [("ada", compare)], back_end=back_end)
    assert result.returned[0].value == ([], [])
