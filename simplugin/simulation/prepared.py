"""A simulation before it starts, with what its result becomes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from simplugin.platforms import Platform
from simplugin.simulation.options import SimulationOptions
from simplugin.simulation.placement import Placement

if TYPE_CHECKING:
    from simplugin.simulation.result import Result
    from simplugin.simulation.stepping import Simulation

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class PreparedSimulation(Generic[T]):
    """A simulation that can run at once, or step by step.

    Attributes
    ----------
    platform : Platform or path
        The platform.
    placements : sequence of Placement
        The actors.
    options : SimulationOptions
        Options of the simulation.
    outcome : callable
        Turns the result into what the caller asked for.
    errors : callable
        Makes a context manager that translates errors of the simulation for the caller.
    """

    platform: Platform | str | os.PathLike[str]
    placements: Sequence[Placement]
    options: SimulationOptions
    outcome: Callable[[Result], T]
    errors: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def run(self) -> T:
        """Simulate; raise as `simulate` does, or as `errors` translates it."""
        # Loaded late: checking a scenario needs no numpy.
        from simplugin.simulation.simulate import simulate

        with self.errors():
            result = simulate(self.platform, self.placements, **self.options.keywords())
        return self.outcome(result)

    @contextlib.contextmanager
    def paused(self) -> Iterator[Simulation]:
        """Start the simulation, which pauses before the first event, as `simulation` does."""
        from simplugin.simulation.stepping import simulation

        with simulation(self.platform, self.placements, **self.options.keywords()) as sim:
            yield sim

    def then(self, function: Callable[[T], U]) -> PreparedSimulation[U]:
        """Return the same simulation whose outcome goes through a function."""
        return replace(self, outcome=lambda result: function(self.outcome(result)))  # type: ignore[arg-type, return-value]
