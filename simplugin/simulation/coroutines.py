"""The default back end: actors are coroutines resumed by the compiled driver."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

from simplugin.core.errors import ActorError, BlockedActor, DeadlockError
from simplugin.simulation import _driver
from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.back_end import (
    GuardedCallbacks,
    UnawaitedDetector,
    await_place,
    collected,
    date_limit_error,
    prepare_plugins,
)
from simplugin.simulation.choices import ChoiceRecorder, Chooser, first_option
from simplugin.simulation.process.failures import described, full_trace_error
from simplugin.simulation.protocol import ActorJob

# New objects after which Python looks for cycles of them while it simulates.
_NEW_OBJECTS = 100_000


def _waiting() -> tuple[BlockedActor, ...]:
    """Return the actors that have not ended."""
    return tuple(
        BlockedActor(name, host, await_place(coroutine), waits_for, since)
        for name, host, coroutine, waits_for, since in _driver.blocked()
    )


class CoroutinesBackEnd:
    """SimGrid driven by ``cpp/``; see :class:`simplugin.simulation.back_end.BackEnd`.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace_limit : int
        Memory that the trace may occupy [byte]; 0 to keep none.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(
        self, arguments: Sequence[str], *, trace_limit: int, energy: bool, seed: int
    ) -> None:
        _driver.setup(list(arguments), trace_limit, energy, seed)
        locates = sys.get_coroutine_origin_tracking_depth() > 0
        UnawaitedDetector(_driver.stop, _driver.running, locates=locates)
        self._arguments, self._energy = list(arguments), energy
        self.choose_with(first_option)

    def load_platform(self, path: str) -> None:
        """Read a platform file."""
        _driver.load_platform(path)
        prepare_plugins(self._arguments, path, energy=self._energy)

    speaker = staticmethod(_driver.speaker)
    clock = staticmethod(_driver.clock)
    log_with = staticmethod(_driver.log_with)
    # pause_with(pausing, date): call a function of a date before the first event after the date
    # [s]; it returns the date up to which events may happen.
    pause_with = staticmethod(_driver.pause_with)

    def call_back(self, callbacks: Callbacks) -> None:
        """Let SimGrid call a user's functions; once the platform is loaded."""
        called = GuardedCallbacks(callbacks, _driver.stop)
        if called.on_activity_completion is not None:
            _driver.monitor_activities(called.on_activity_completion)

    order_by = staticmethod(_driver.order_by)

    def choose_with(self, chooser: Chooser) -> None:
        """Leave the actors' decisions to a chooser."""
        self._choices = ChoiceRecorder(chooser, _driver.clock, _driver.stop)
        _driver.choose_with(self._choices.ask)

    def spawn(self, actor: ActorJob) -> None:
        """Place an actor."""
        kill_time = -1.0 if actor.kill_time is None else actor.kill_time
        _driver.spawn(*actor[:5], kill_time, *actor[6:])

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate until the end, an error or the simulated date `until` [s]."""
        # Messages in transit outlive many collections, and each would traverse all of them.
        often = gc.get_threshold()
        gc.set_threshold(max(often[0], _NEW_OBJECTS) if often[0] else 0, *often[1:])
        try:
            at_end = _driver.run(-1.0 if until is None else until, progress)
        except BaseException as error:
            failed = _driver.failed_actor()
            if failed is None or isinstance(error, KeyboardInterrupt):
                raise
            inside = error.__traceback__ and error.__traceback__.tb_next  # without our own frame
            raise ActorError(*failed, _driver.clock(), *described(error, inside)) from error
        finally:
            gc.set_threshold(*often)
        if _driver.trace_is_full():
            raise full_trace_error(_driver.clock())
        if _driver.expected_awaits():
            # Some may be in reference cycles.
            gc.collect()
            _driver.check()
        if not at_end:
            raise date_limit_error(until or 0.0)
        blocked = _waiting()
        if blocked:
            raise DeadlockError(_driver.clock(), blocked)

    @staticmethod
    def look(date: float) -> tuple[Any, ...]:
        """Return the state at a date between the last event and the next [s]; rows of plain data.

        Returns
        -------
        tuple of (hosts, links, activities, actors)
        """
        return *_driver.look(date), _waiting()

    def collect(self) -> dict[str, Any]:
        """Return totals, trace and returned values, as columns."""
        raw = _driver.collect()
        names = [name for name, *_ in raw["returned"]]
        return collected(
            raw["clock"],
            returned=raw["returned"],
            hosts={"name": raw["host_names"]}
            | {each: raw[f"host_{each}"] for each in ("flops", "busy", "energy")},
            links={"name": raw["link_names"]}
            | {each: raw[f"link_{each}"] for each in ("bytes", "energy")},
            trace=raw["trace"] | {"actor_names": names},
            choices=self._choices.taken,
            ties=_driver.ties(),
        )
