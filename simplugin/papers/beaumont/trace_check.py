"""Check of the trace of an execution against the model: capacities, precedence, amounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.execution import BagExecution
from simplugin.core.errors import WorkloadError

if TYPE_CHECKING:
    import pandas as pd

# Relative tolerance of dates, to the end of the simulation, and of amounts.
SAME = 1e-9


def trace_violations(
    execution: BagExecution, buffer: int, *, parallel: bool = False, bundled: bool = False
) -> list[str]:
    """Return where an execution's trace leaves the model; an empty list if nowhere.

    Nothing but the trace, the tree and the bags is looked at: no host sends two tasks at a time
    (receives two results, where these travel), or computes two;
    no buffer holds more tasks than it may; no transfer is faster than its link,
    no computation faster than its host, and neither all transfers of a port nor all computations
    of a host; nothing is computed or sent before it has arrived; no host computes an application
    that it may not; each host computes what is said of it; and all tasks are computed, once.

    Parameters
    ----------
    execution : BagExecution
        Made with ``trace=True``; all of its hosts and links are as in its tree.
    buffer : int
        Tasks that a buffer may hold.
    parallel : bool
        True if each application had schedulers of its own: their transfers may overlap, and so may
        their computations.
    bundled : bool
        True if tasks were bundled; buffers are not checked then.

    Raises
    ------
    WorkloadError
        There is no trace.
    """
    if not len(execution.result.trace):
        raise WorkloadError("the execution has no trace; execute it with trace=True")
    up, slack = execution.direction == "results", SAME * execution.result.clock
    moves, works = _tables(execution, up=up)
    found = [
        f"a task gets from {move.source!r} to {move.target!r} too fast"
        for move in _shorter(moves, moves.needed + moves.latency, slack)
    ]
    found += [
        f"host {work.resource!r} computes a task too fast"
        for work in _shorter(works, works.needed, slack)
    ]
    # Of each line, a result can be on its way, and one of one's own wait for room.
    lines = execution.bags.n_applications if parallel else 1
    room = buffer + 2 * lines * up
    for verb, uses, host, alone in (
        ("receives" if up else "sends", moves, "target" if up else "source", up or not parallel),
        ("computes", works, "resource", not parallel),
    ):
        for name, mine in uses.groupby(host):
            found += _busy(f"host {name!r} {verb}", mine, slack, alone=alone)
    for name in execution.tree.hosts[1:]:
        come, work = moves[moves.target == name], works[works.resource == name]
        sent = moves[moves.source == name]
        # A moment later, to let what arrives at that date come first. A result is there once it is
        # computed.
        own = (work.end, work.byte) if up else (work.start + slack, -work.byte)
        dates, held = _levels((come.end, come.amount), own, (sent.start + slack, -sent.amount))
        if held.min() < -SAME * float(come.amount.sum() + work.byte.sum() + sent.amount.sum()):
            date = dates[int(np.argmin(held))]
            found.append(f"host {name!r} has used data at {date:g} s that has not arrived")
        # A slot is free when its task is computed or sent; a moment early, to let that go first.
        slot = (work.end, 1) if up else (work.start - slack, -1)
        _, held = _levels((come.end, 1), slot, (sent.end - slack, -1))
        if not bundled and held.max() > room:
            found.append(f"the buffer of host {name!r} holds {held.max():g} tasks, not {room}")
    return [*found, *_computed(execution, works)]


def _tables(execution: BagExecution, *, up: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the transfers of tasks, or of results up, and the computations in a trace.

    `needed` is the least time of each, and `byte` the data that a computation uses or makes.
    """
    tree, bags = execution.tree, execution.bags
    table = execution.result.trace.to_pandas().astype({"resource": object, "label": object})
    table = table[table.state == "done"]
    moves = table[(table.kind == "comm") & (table.label == ("result" if up else "task"))]
    source, target = ([each.split("->")[end] for each in moves.resource] for end in (0, 1))
    child = source if up else target
    bandwidth = dict(zip(tree.hosts, tree.bandwidth.tolist(), strict=True))
    latency = dict(zip(tree.hosts, tree.latency.tolist(), strict=True))
    moves = moves.assign(
        source=source,
        target=target,
        needed=moves.amount / [bandwidth[name] for name in child],
        latency=[latency[name] for name in child],
    )
    works = table[table.kind == "exec"]
    speed = works.resource.map(dict(zip(tree.hosts, tree.speed.tolist(), strict=True)))
    byte = works.label.map(dict(zip(bags.names, bags.byte.tolist(), strict=True)))
    return moves, works.assign(needed=works.amount / speed, byte=byte)


def _shorter(uses: pd.DataFrame, least: pd.Series[float], slack: float) -> Iterator[Any]:
    """Return the transfers or computations that last less than they can."""
    return uses[uses.end - uses.start < least * (1 - SAME) - slack].itertuples()


def _busy(what: str, uses: pd.DataFrame, slack: float, *, alone: bool) -> Iterator[str]:
    """Find two uses of a host at a time, or less time than all of them take in turn."""
    uses = uses.sort_values(["start", "end"])
    start, end = uses.start.to_numpy(), uses.end.to_numpy()
    early = end[:-1] - start[1:]
    if alone and early.size and early.max() > slack:
        yield f"{what} two tasks at {start[1 + int(np.argmax(early))]:g} s"
    last = np.maximum.accumulate(end)
    before = np.append(start[:1], last[:-1])
    busy = float(np.sum(np.maximum(last - np.maximum(start, before), 0.0)))
    needed = float(uses.needed.sum())
    if busy < needed * (1 - SAME) - slack:
        yield f"{what} in {busy:g} s what takes {needed:g} s"


def _levels(*changes: tuple[Any, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dates in order, and a level after each, 0 at first, from dates and changes there."""
    dates = np.concatenate([[-np.inf], *(each for each, _ in changes)])
    steps = np.concatenate([[0.0], *(np.broadcast_to(step, len(each)) for each, step in changes)])
    order = np.argsort(dates, kind="stable")
    return dates[order], np.cumsum(steps[order])


def _computed(execution: BagExecution, works: pd.DataFrame) -> Iterator[str]:
    """Find hosts and applications of which not what may, or is said to, has been computed."""
    bags = execution.bags
    said = (execution.computed * bags.flop).sum(axis=-1)
    for name, flop in zip(execution.tree.hosts, said.tolist(), strict=True):
        here = works[works.resource == name]
        for application, may in zip(bags.names, bags.may_compute(name), strict=True):
            if not may and (here.label == application).any():
                yield f"host {name!r} computes tasks of {application!r}, which it may not"
        traced = float(here.amount.sum())
        if abs(traced - flop) > SAME * flop:
            yield f"host {name!r} computes {traced:g} flop, not {flop:g}"
    for name, count in zip(bags.names, bags.count.tolist(), strict=True):
        tasks = int((works.label == name).sum())
        if tasks != count:
            yield f"{tasks} tasks of {name!r} are computed, not {count}"
