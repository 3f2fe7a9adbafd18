"""Whether an execution's trace keeps within the model: ports, CPUs, buffers, amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simplugin.bags.execution import Execution

# What counts as the same date, relative to the end of the simulation; as the same amount.
SAME = 1e-9


def violations(
    execution: Execution, buffer: int, *, parallel: bool = False, bundled: bool = False
) -> list[str]:
    """Say where an execution's trace leaves the model; an empty list if nowhere.

    Nothing but the trace, the tree and the bags is looked at: no host sends two tasks at a time,
    or computes two; no buffer holds more tasks than it may; no transfer is faster than its link;
    and each host computes what is said of it.

    Parameters
    ----------
    execution : Execution
        Made with ``trace=True``; all of its hosts and links are as in its tree.
    buffer : int
        Tasks that a buffer may hold.
    parallel : bool
        Whether each application had schedulers of its own: their transfers may overlap, and so may
        their computations.
    bundled : bool
        Whether tasks were bundled: what the trace tells of buffers is not looked at.

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
    found += _amounts(execution, moves)
    if not parallel:
        found += _overlaps("sends", moves.source, moves.left, moves.arrived, slack)
        found += _overlaps("computes", moves.worker, moves.began, moves.ended, slack)
    if not bundled:
        found += _full(execution, moves, buffer, slack)
    return found


@dataclass(frozen=True)
class _Moves:
    """What the trace tells of tasks: transfers, and computations."""

    source: NDArray[np.str_]
    target: NDArray[np.str_]
    left: NDArray[np.float64]
    arrived: NDArray[np.float64]
    byte: NDArray[np.float64]
    worker: NDArray[np.str_]
    began: NDArray[np.float64]
    ended: NDArray[np.float64]
    flop: NDArray[np.float64]

    @classmethod
    def of(cls, execution: Execution) -> _Moves:
        """Read a trace."""
        trace = execution.result.trace
        done = trace.state == "done"
        sends = np.flatnonzero(done & (trace.kind == "comm") & (trace.label == "task"))
        works = np.flatnonzero(done & (trace.kind == "exec"))
        ends = np.array([each.split("->") for each in trace.resource[sends]]).reshape(-1, 2)
        transfers = (trace.start[sends], trace.end[sends], trace.amount[sends])
        computations = (trace.start[works], trace.end[works], trace.amount[works])
        return cls(ends[:, 0], ends[:, 1], *transfers, trace.resource[works], *computations)


def _overlaps(
    what: str,
    host: NDArray[np.str_],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    slack: float,
) -> Iterator[str]:
    """Find hosts that do two things at a time."""
    for name in np.unique(host).tolist():
        mine = host == name
        order = np.lexsort((end[mine], start[mine]))
        early = end[mine][order][:-1] - start[mine][order][1:]
        if early.size and early.max() > slack:
            date = float(start[mine][order][1:][int(np.argmax(early))])
            yield f"host {name!r} {what} two tasks at {date:g} s"


def _fast(execution: Execution, moves: _Moves, slack: float) -> Iterator[str]:
    """Find transfers that are faster than their links."""
    tree = execution.tree
    number = {name: each for each, name in enumerate(tree.hosts)}
    child = np.array([number[name] for name in moves.target.tolist()], dtype=np.int64)
    least = moves.byte / tree.bandwidth[child] + tree.latency[child]
    for each in np.flatnonzero(moves.arrived - moves.left < least * (1 - SAME) - slack).tolist():
        yield f"a task gets from {moves.source[each]!r} to {moves.target[each]!r} too fast"


def _amounts(execution: Execution, moves: _Moves) -> Iterator[str]:
    """Find hosts that have not computed what is said of them."""
    said = execution.computed @ execution.bags.flop
    for name, flop in zip(execution.tree.hosts, said.tolist(), strict=True):
        traced = float(moves.flop[moves.worker == name].sum())
        if abs(traced - flop) > SAME * max(flop, 1.0):
            yield f"host {name!r} computes {traced:g} flop, not {flop:g}"


def _full(execution: Execution, moves: _Moves, buffer: int, slack: float) -> Iterator[str]:
    """Find hosts, the root apart, whose buffers hold too much."""
    for name in execution.tree.hosts[1:]:
        come = moves.arrived[moves.target == name]
        # A slot is free when its task is computed or sent; a moment early, to let that go first.
        gone = [moves.began[moves.worker == name], moves.arrived[moves.source == name]]
        dates = np.concatenate([come, *gone]) - np.repeat(
            [0.0, slack], [len(come), sum(map(len, gone))]
        )
        steps = np.repeat([1, -1], [len(come), len(dates) - len(come)])
        held = np.cumsum(steps[np.argsort(dates, kind="stable")])
        if held.size and held.max() > buffer:
            yield f"the buffer of host {name!r} holds {held.max()} tasks, not {buffer}"
