"""Check of the trace of an execution against the model: capacities, precedence, amounts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.execution import BagExecution
from simplugin.core.errors import WorkloadError

Floats = NDArray[np.float64]
Names = NDArray[np.str_]
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
    moves = _Moves.of(execution)
    slack = SAME * execution.result.clock
    found = list(_fast(execution, moves, slack))
    found += _early(execution, moves, slack)
    found += _computed(execution, moves)
    if not parallel or moves.up:
        found += _overlaps(moves.verb, moves.port, moves.left, moves.arrived, slack)
    if not parallel:
        found += _overlaps("computes", moves.worker, moves.began, moves.ended, slack)
    if not bundled:
        # Of each line, a result can be on its way, and one of one's own wait for room.
        lines = execution.bags.n_applications if parallel else 1
        found += _full(execution, moves, buffer + 2 * lines * moves.up, slack)
    return found


@dataclass(frozen=True)
class _Moves:
    """Transfers of tasks, or of results up, and computations in a trace."""

    up: bool
    source: Names
    target: Names
    left: Floats
    arrived: Floats
    byte: Floats
    worker: Names
    began: Floats
    ended: Floats
    flop: Floats
    application: Names

    @classmethod
    def of(cls, execution: BagExecution) -> _Moves:
        """Read a trace."""
        trace = execution.result.trace
        done = trace.state == "done"
        up = execution.direction == "results"
        label = "result" if up else "task"
        sends = np.flatnonzero(done & (trace.kind == "comm") & (trace.label == label))
        works = np.flatnonzero(done & (trace.kind == "exec"))
        ends = np.array([each.split("->") for each in trace.resource[sends]]).reshape(-1, 2)
        transfers = (trace.start[sends], trace.end[sends], trace.amount[sends])
        computations = (trace.start[works], trace.end[works], trace.amount[works])
        hosts, labels = trace.resource[works], trace.label[works]
        return cls(up, ends[:, 0], ends[:, 1], *transfers, hosts, *computations, labels)

    @property
    def port(self) -> Names:
        """The host whose port each transfer uses: the parent's."""
        return self.target if self.up else self.source

    @property
    def verb(self) -> str:
        """The verb for the use of a port in messages."""
        return "receives" if self.up else "sends"


def _overlaps(what: str, host: Names, start: Floats, end: Floats, slack: float) -> Iterator[str]:
    """Find hosts that do two things at a time."""
    for name in np.unique(host).tolist():
        mine = host == name
        order = np.lexsort((end[mine], start[mine]))
        early = end[mine][order][:-1] - start[mine][order][1:]
        if early.size and early.max() > slack:
            date = float(start[mine][order][1:][int(np.argmax(early))])
            yield f"host {name!r} {what} two tasks at {date:g} s"


def _fast(execution: BagExecution, moves: _Moves, slack: float) -> Iterator[str]:
    """Find transfers and computations that are faster than their links and hosts can be."""
    tree = execution.tree
    number = {name: each for each, name in enumerate(tree.hosts)}
    below = moves.source if moves.up else moves.target
    child = np.array([number[name] for name in below.tolist()], dtype=np.int64)
    worker = np.array([number[name] for name in moves.worker.tolist()], dtype=np.int64)
    wire = moves.byte / tree.bandwidth[child]
    least = wire + tree.latency[child]
    for each in np.flatnonzero(moves.arrived - moves.left < least * (1 - SAME) - slack).tolist():
        yield f"a task gets from {moves.source[each]!r} to {moves.target[each]!r} too fast"
    with np.errstate(divide="ignore"):
        least = moves.flop / tree.speed[worker]
    for each in np.flatnonzero(moves.ended - moves.began < least * (1 - SAME) - slack).tolist():
        yield f"host {moves.worker[each]!r} computes a task too fast"
    yield from _crowded(moves.verb, moves.port, (moves.left, moves.arrived), wire, slack)
    yield from _crowded("computes", moves.worker, (moves.began, moves.ended), least, slack)


def _crowded(
    what: str, host: Names, dates: tuple[Floats, Floats], least: Floats, slack: float
) -> Iterator[str]:
    """Find hosts that were busy for less time than all they did takes, one after the other."""
    for name in np.unique(host).tolist():
        mine = host == name
        start, end = dates[0][mine], dates[1][mine]
        order = np.argsort(start, kind="stable")
        start, end = start[order], np.maximum.accumulate(end[order])
        before = np.concatenate([start[:1], end[:-1]])
        busy = float(np.sum(np.maximum(end - np.maximum(start, before), 0.0)))
        needed = float(np.sum(least[mine]))
        if busy < needed * (1 - SAME) - slack:
            yield f"host {name!r} {what} in {busy:g} s what takes {needed:g} s"


def _early(execution: BagExecution, moves: _Moves, slack: float) -> Iterator[str]:
    """Find hosts, the root apart, that compute or send data before it has arrived."""
    bags = execution.bags
    byte = dict(zip(bags.names, bags.byte.tolist(), strict=True))
    computed = np.array([byte[name] for name in moves.application.tolist()], dtype=np.float64)
    for name in execution.tree.hosts[1:]:
        come, worked, sent = moves.target == name, moves.worker == name, moves.source == name
        # A moment later, to let what arrives at that date come first. A result is there once it
        # is computed.
        used = moves.ended[worked] if moves.up else moves.began[worked] + slack
        dates = np.concatenate([moves.arrived[come], used, moves.left[sent] + slack])
        own = computed[worked] if moves.up else -computed[worked]
        amounts = np.concatenate([moves.byte[come], own, -moves.byte[sent]])
        order = np.argsort(dates, kind="stable")
        held = np.cumsum(amounts[order])
        if held.size and held.min() < -SAME * float(np.abs(amounts).sum()):
            date = float(dates[order][int(np.argmin(held))])
            yield f"host {name!r} has used data at {date:g} s that has not arrived"


def _computed(execution: BagExecution, moves: _Moves) -> Iterator[str]:
    """Find hosts and applications of which not what may, or is said to, has been computed."""
    bags = execution.bags
    said = (execution.computed * bags.flop).sum(axis=-1)
    for name, flop in zip(execution.tree.hosts, said.tolist(), strict=True):
        here = moves.worker == name
        computed = set(moves.application[here].tolist())
        for application, may in zip(bags.names, bags.may_compute(name), strict=True):
            if application in computed and not may:
                yield f"host {name!r} computes tasks of {application!r}, which it may not"
        traced = float(moves.flop[here].sum())
        if abs(traced - flop) > SAME * flop:
            yield f"host {name!r} computes {traced:g} flop, not {flop:g}"
    for name, count in zip(bags.names, bags.count.tolist(), strict=True):
        tasks = int(np.sum(moves.application == name))
        if tasks != count:
            yield f"{tasks} tasks of {name!r} are computed, not {count}"


def _full(execution: BagExecution, moves: _Moves, buffer: int, slack: float) -> Iterator[str]:
    """Find hosts, the root apart, whose buffers hold too much."""
    for name in execution.tree.hosts[1:]:
        come = moves.arrived[moves.target == name]
        # A slot is free when its task is computed or sent; a moment early, to let that go first.
        gone = [moves.began[moves.worker == name], moves.arrived[moves.source == name]]
        if moves.up:
            come, gone = np.append(come, moves.ended[moves.worker == name]), gone[1:]
        dates = np.concatenate([come, *gone]) - np.repeat(
            [0.0, slack], [len(come), sum(map(len, gone))]
        )
        steps = np.repeat([1, -1], [len(come), len(dates) - len(come)])
        held = np.cumsum(steps[np.argsort(dates, kind="stable")])
        if held.size and held.max() > buffer:
            yield f"the buffer of host {name!r} holds {held.max()} tasks, not {buffer}"
