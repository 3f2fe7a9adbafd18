"""Both back ends offer what the documented interface says, or refuse it by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming
from operations import parts, table
from worlds import PLAIN

from simplugin.core.errors import SimpluginError
from simplugin.simulation import Callbacks, SimGridOptions, api, simulate


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


def of_each(me: Any) -> dict[str, Any]:
    """Return an object of each class of the interface but disks."""
    mutex = me.mutex("mutex")
    return {
        "Activity": me.exec_async(1),
        "Actor": me,
        "Barrier": me.barrier(1),
        "Condition": me.condition(mutex),
        "SimulatedHost": me.host,
        "SimulatedLink": me.links[0],
        "Mailbox": me.mailbox("box"),
        "MessageQueue": me.message_queue("queue"),
        "Mutex": mutex,
        "SimulatedRoute": me.route("ada", "bob"),
        "Semaphore": me.semaphore(1),
    }


async def sort_operations(me: Any, has_disks: bool) -> dict[str, Any]:
    """Return, of each class, what has the documented parameters, and what is refused by name."""
    sorted_: dict[str, Any] = {}
    offered = of_each(me) | ({"SimulatedDisk": me.host.disks[0]} if has_disks else {})
    for name, item in offered.items():
        same, refused = sorted_[name] = [], []
        for key, promised in members(getattr(api, name)).items():
            try:
                getattr(item, key)
            except SimpluginError as error:
                refused.append(key if f"refuses {name}.{key};" in str(error) else str(error))
            else:
                found = getattr(type(item), key, None)
                is_method = inspect.isfunction(found) and not key.startswith("__")
                assert not is_method or parameters(found) == parameters(promised), key
                same.append(key)
    return sorted_


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    file = tmp_path / "platform.xml"
    file.write_text(PLAIN)
    return file


def test_everything_is_there(platform: Path) -> None:
    options = SimGridOptions(extra={"plugin": "host_load,link_load"})
    found = simulate(platform, [("ada", sort_operations, True)], options=options)
    sorted_ = found.value_of("sort_operations")
    assert sorted(sorted_) == sorted(api.__all__)
    # It is not measured here.
    assert [key for _, refused in sorted_.values() for key in refused if "energy" not in key] == []


def test_the_table_says_what_threads_refuses(platform: Path) -> None:
    actors = [("ada", sort_operations, False)]
    found = simulate(platform, actors, back_end="threads").returned[0].value
    special = ("__await__", "__aenter__", "__aexit__")
    shown = table()
    assert shown.pop("SimulatedDisk") == ([], ["all"])
    assert shown == {
        name: tuple(sorted(set(each).difference(special)) for each in both)
        for name, both in found.items()
    }


async def change(me: Any) -> list[str]:
    """Return what is refused of operations that are otherwise the same."""
    calls: list[Callable[[], object]] = [
        lambda: setattr(me.exec_async(1e9), "host", "bob"),
        lambda: me.exec_async(1.0, threads=2),
        lambda: me.sendto_async("ada", "bob", 1.0, rate=1.0),
        lambda: me.mailbox("box").put_async(None, 1.0, rate=1.0),
        lambda: setattr(me.host, "concurrency_limit", 1),
    ]
    refused = []
    for call in calls:
        with raises_naming(SimpluginError, "back_end='threads'") as error:
            call()
        refused.append(str(error.value))
    return refused


def test_parts_are_refused_by_name(platform: Path) -> None:
    options = SimGridOptions(host_model="ptask_L07")

    async def send_to_itself(me: Any) -> None:
        await me.parallel_execute(["ada"], [1.0], [[1.0]])

    async def send_nothing(me: Any) -> None:
        await me.sendto("ada", "bob", 0)

    async def send_a_part(me: Any) -> None:
        await me.sendto("ada", "bob", 1.5)

    refused = list(simulate(platform, [("ada", change)], back_end="threads").returned[0].value)
    for actor, choices in (
        (send_to_itself, {"options": options}),
        (send_nothing, {"options": options}),
        (send_a_part, {}),
        (change, {"callbacks": Callbacks(on_host_state_change=print)}),
        (change, {"order": 1}),
        (change, {"options": SimGridOptions(extra={"plugin": "host_load"})}),
        (change, {"options": SimGridOptions(extra={"tracing/categorized": "yes"})}),
    ):
        with pytest.raises(SimpluginError) as error:
            simulate(platform, [("ada", actor)], back_end="threads", **choices)
        refused.append(str(error.value))
    for part in parts():
        assert any(f"refuses {part};" in each for each in refused), part
