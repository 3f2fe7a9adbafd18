"""The default back end: actors are coroutines resumed by the compiled driver."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import ActorError, BlockedActor, DeadlockError, SimulatedTimeLimitError
from simplugin.simulation import _driver
from simplugin.simulation.back_end import OPTIONS_IN_FORCE, Collected, await_place
from simplugin.simulation.plugins import plugin_figures, prepare_plugins
from simplugin.simulation.unawaited import Watch

if TYPE_CHECKING:
    from types import CoroutineType

_TRACE_TYPES = {
    "actor_code": np.int32,
    "resource_code": np.int32,
    "label_code": np.int32,
    "kind": np.int8,
    "state": np.int8,
    "start": np.float64,
    "end": np.float64,
    "amount": np.float64,
}


class CoroutinesBackEnd:
    """SimGrid driven by ``cpp/``; see :class:`simplugin.simulation.back_end.BackEnd`.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace : bool
        Keep a row for each activity.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(self, arguments: Sequence[str], *, trace: bool, energy: bool, seed: int) -> None:
        _driver.setup(list(arguments), trace, energy, seed)
        watch = Watch(_driver.stop, _driver.clock)
        _driver.watch_awaits(watch.report, sys.get_coroutine_origin_tracking_depth() > 0)
        watch.watch_coroutines(_driver.running, _driver.exceptions)
        self._arguments, self._energy = list(arguments), energy

    def load_platform(self, path: str) -> None:
        """Read a platform file."""
        _driver.load_platform(path)
        prepare_plugins(self._arguments, path, energy=self._energy)

    def spawn(
        self,
        function: Callable[..., CoroutineType[Any, Any, Any]],
        args: tuple[Any, ...],
        *,
        host: str,
        name: str,
        start_time: float,
        kill_time: float | None,
        restart: bool,
        daemon: bool,
        properties: dict[str, str],
    ) -> None:
        """Place an actor."""
        _driver.spawn(
            function,
            args,
            host,
            name,
            start_time,
            -1.0 if kill_time is None else kill_time,
            restart,
            daemon,
            properties,
        )

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate until the end, an error or the simulated date `until` [s]."""
        try:
            at_end = _driver.run(-1.0 if until is None else until, progress)
        except BaseException as error:
            failed = _driver.failed_actor()
            if failed is None or isinstance(error, KeyboardInterrupt):
                raise
            raise _actor_error(error, *failed) from error
        if _driver.expected_awaits():
            # Some may be in reference cycles.
            gc.collect()
            _driver.check()
        if not at_end:
            limit = SimulatedTimeLimitError(
                f"the simulated clock reached its limit of {until:g} s; actors still run"
            )
            limit.limit = limit.clock = float(until or 0.0)
            raise limit
        blocked = tuple(
            BlockedActor(name, host, await_place(coroutine), waits_for, since)
            for name, host, coroutine, waits_for, since in _driver.blocked()
        )
        if blocked:
            raise DeadlockError(_driver.clock(), blocked)

    def collect(self) -> Collected:
        """Hand over totals, trace and returned values."""
        raw = _driver.collect()
        trace = raw["trace"]
        for column, kind in _TRACE_TYPES.items():
            trace[column] = np.frombuffer(trace[column], dtype=kind)
        trace["actor_names"] = [name for name, *_ in raw["returned"]]
        return Collected(
            clock=raw["clock"],
            returned=raw["returned"],
            host_names=raw["host_names"],
            host_flops=np.frombuffer(raw["host_flops"]),
            host_busy=np.frombuffer(raw["host_busy"]),
            host_energy=np.frombuffer(raw["host_energy"]),
            link_names=raw["link_names"],
            link_bytes=np.frombuffer(raw["link_bytes"]),
            link_energy=np.frombuffer(raw["link_energy"]),
            trace=trace,
            options={
                name: str(_driver.option(name, kind)) for name, kind in OPTIONS_IN_FORCE.items()
            },
            plugins=plugin_figures(),
        )


def _actor_error(error: BaseException, actor: str, host: str) -> ActorError:
    """Say which actor failed, when and where in its code."""
    inside = error.__traceback__ and error.__traceback__.tb_next  # without our own frame
    lines = traceback.format_exception(type(error), error, inside)
    summary = traceback.format_exception_only(error)[-1].strip()
    return ActorError(actor, host, _driver.clock(), summary, "".join(lines))
