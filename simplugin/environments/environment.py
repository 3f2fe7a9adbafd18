"""A scenario whose choices an agent takes, as a Gymnasium environment."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.environments.rendering import image
from simplugin.scenarios import Scenario, ScenarioResult, load_scenario
from simplugin.scenarios.sections import DEFAULT_FILES
from simplugin.scenarios.user_metrics import add_user_metrics
from simplugin.simulation import Choice, Result, Simulation

Observation = TypeVar("Observation")
# As Gymnasium has it: what is in it depends on the environment.
Info: TypeAlias = dict[str, Any]


class _WarmSimulation:
    """A simulation that has paused at its first choice; episodes are its branches.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    seed : int
        Seed of all that it draws.

    Attributes
    ----------
    simulation : Simulation
        The simulation.
    prepared : PreparedSimulation
        How it was prepared.
    choice : Choice
        Its first choice.
    close : callable
        Ends its process.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        drawn = replace(scenario, simulation=replace(scenario.simulation, seed=seed))
        assert scenario.kind.prepare is not None
        with contextlib.ExitStack() as stack:
            with scenario.importable():
                prepared = scenario.kind.prepare(drawn, choices=True).then(
                    lambda outcome: add_user_metrics(drawn.metrics, drawn, outcome)
                )
                # The agent decides, and nobody looks ahead.
                options = replace(prepared.options, chooser=None)
                self.prepared = replace(prepared, options=options)
                self.simulation = stack.enter_context(self.prepared.paused())
                with self.prepared.errors():
                    choice = self.simulation.run_to_choice()
                loaded = dict(sys.modules)
            # Those of the scenario, which leave with the block.
            left = (name for name in loaded if sys.modules.get(name) is not loaded[name])
            self._modules = {name: loaded[name] for name in left}
            if choice is None:
                raise SimpluginError(
                    f"{scenario.file}: the simulation ends at {self.simulation.clock:g} s without a"
                    " choice; let an actor call me.choose, or give task graphs a second cluster"
                )
            self.choice = choice
            # At the latest when Python ends.
            self.close = weakref.finalize(self, stack.pop_all().close)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Translate errors of the simulation, and let choices name modules of the scenario."""
        hidden = {name: sys.modules[name] for name in self._modules if name in sys.modules}
        sys.modules.update(self._modules)
        try:
            with self.prepared.errors():
                yield
        finally:
            for name in self._modules:
                sys.modules.pop(name, None)
            sys.modules.update(hidden)

    def outcome(self, result: Result) -> ScenarioResult:
        """Return the outcome of an episode."""
        with self._scenario.importable():
            return self.prepared.outcome(result)


class ScenarioEnvironment(gymnasium.Env[Observation, np.int64]):
    """A scenario whose choices are the steps of an episode.

    The action is the index of an option; one beyond the options means option 0, the scheduler's
    own decision, and `info` has the index that was taken. The reward of a step is minus the
    simulated time that it takes [s], the first with that before the first choice, so that the
    return is minus the date of the end. An episode is never truncated.

    `info` has ``action_mask``, 1 for each option; ``date`` [s] and ``label`` of the open choice;
    after a step ``taken``; and at the end ``metrics``, the row of the scenario, with ``metric``,
    the value of the one that has a best possible value, ``bound``, this value, and ``gap``; NaN
    where the scenario has none.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario, whose scheduler makes option 0 of each choice.
    observe : callable
        Gives the observation of a `Choice`; of the last one, at the end of an episode.
    observation_space : gymnasium.Space
        The space of the observations.
    max_options : int
        Number of actions.
    redraw : bool
        True if each `reset` without a seed draws a seed of the scenario; else the episodes are
        branches of one simulation until a reset has another seed.
    render_mode : {"rgb_array"}, optional
        `render` draws the Gantt chart so far.

    Raises
    ------
    SimpluginError
        The scenario cannot be read, or its kind offers no choices.

    Attributes
    ----------
    n_actions : int
        `max_options`.
    choice : Choice or None
        The open choice.
    outcome : ScenarioResult or None
        The outcome of an episode that has ended.
    workload : str
        Kind of the workload that the scenario has to be of; empty for all that offer choices.
    """

    workload: ClassVar[str] = ""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 # as Gymnasium has it

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        observe: Callable[[Choice], Observation],
        observation_space: gymnasium.Space[Observation],
        *,
        max_options: int = 8,
        redraw: bool = False,
        render_mode: str | None = None,
    ) -> None:
        # Its modules are found wherever the caller goes.
        file = scenario if isinstance(scenario, Scenario) else os.path.abspath(scenario)
        found = file if isinstance(file, Scenario) else load_scenario(file)
        kind = found.document["workload"]["kind"]
        if found.kind.prepare is None or self.workload not in ("", kind):
            wanted = self.workload or "actors"
            raise SimpluginError(f"{found.file}: workload.kind is {kind!r}; give one of {wanted!r}")
        for section in ("scheduler", "workload"):
            if getattr(getattr(found, section), "lookahead", None) is not None:
                message = f"{section}.lookahead decides what an agent is to decide"
                raise found.error(message, section, "lookahead", remedy="remove it")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SimpluginError(f"render_mode is {render_mode!r}; choose 'rgb_array'")
        if render_mode is not None:
            # Without a chart to draw, nothing is traced.
            output = found.output.model_copy(update={"gantt": DEFAULT_FILES["gantt"]})
            found = replace(found, output=output)
        self.scenario, self.render_mode = found, render_mode
        self.observation_space = observation_space
        self.n_actions = max_options
        self.action_space = gymnasium.spaces.Discrete(max_options)
        self.choice: Choice | None = None
        self.outcome: ScenarioResult | None = None
        self._observe, self._redraw = observe, redraw
        self._seed = found.simulation.seed
        self._warm: _WarmSimulation | None = None
        self._episode: Simulation | None = None
        self._date = 0.0
        self._is_branch = False
        self._stack = contextlib.ExitStack()
        weakref.finalize(self, self._stack.close)

    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the scenario, ``simulation.seed``: task graphs of generators, errors of
            measurements and random numbers of actors are drawn by it. Without one the episode
            begins as the one before, or is drawn (`redraw`).
        options : dict, optional
            Without effect.

        Raises
        ------
        SimpluginError
            There is no choice in the simulation, or the environment is a branch; errors of the
            simulation are those of `run_scenario`.
        """
        super().reset(seed=seed, options=options)
        if self._is_branch:
            raise SimpluginError("a branch has one episode; reset the environment it comes from")
        drawn = self._seed if seed is None else seed
        if seed is None and self._redraw:
            drawn = int(self.np_random.integers(2**31))
        self._stack.close()
        if self._warm is None or drawn != self._seed:
            self.close()
            self._warm, self._seed = _WarmSimulation(self.scenario, drawn), drawn
        try:
            self._episode = self._stack.enter_context(self._warm.simulation.branch())
        except SimpluginError:
            self.close()  # the next reset starts it anew
            raise
        self._date, self.outcome, self.choice = 0.0, None, self._warm.choice
        return self._observed(self.choice), self._info(self.choice)

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, Info]:
        """Take the open choice, and go on to the next one, or to the end.

        Raises
        ------
        SimpluginError
            No choice is open, or the next one has more options than there are actions; errors of
            the simulation are those of `run_scenario`.
        """
        choice, episode, warm = self.choice, self._episode, self._warm
        if choice is None or episode is None or warm is None:
            raise SimpluginError("no choice is open; call reset first")
        if not self.action_space.contains(action):
            last = self.n_actions - 1
            raise SimpluginError(f"the action is {action!r}; give an index from 0 to {last}")
        taken = int(action) if action < len(choice.options) else 0
        self.choice = None
        with warm.running():
            episode.choose(taken)
            self.choice = following = episode.run_to_choice()
            result = episode.run() if following is None else None
        if result is not None:
            self.outcome = warm.outcome(result)
        date = episode.clock if following is None else following.date
        reward, self._date = self._date - date, date
        info = self._info(following) | {"taken": taken}
        return self._observed(following or choice), reward, following is None, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return True for each action that is an option, as agents with masks ask for it."""
        return np.arange(self.n_actions) < len(self.choice.options if self.choice else ())

    @contextlib.contextmanager
    def branch(self) -> Iterator[Self]:
        """Copy the environment amid an episode, for planners: ``with env.branch() as other:``.

        The copy has the same future, and ends with the block; it cannot be reset.

        Raises
        ------
        SimpluginError
            No choice is open.
        """
        if self._episode is None or self.choice is None:
            raise SimpluginError("no choice is open; call reset first")
        with self._episode.branch(quiet=True) as forked:
            other = copy.copy(self)
            other._episode, other._is_branch = forked, True
            other._stack = contextlib.ExitStack()
            yield other

    def render(self) -> NDArray[np.uint8] | None:
        """Return the Gantt chart so far as an image, shape (height, width, 3).

        A branch runs to its end by the scheduler's decisions; its chart is cut at this date.
        """
        if self.render_mode is None or self._episode is None or self._warm is None:
            return None
        outcome = self.outcome
        if outcome is None:
            with self._episode.branch(quiet=True) as other, self._warm.running():
                other.choose(0)
                result = other.run()
            outcome = self._warm.outcome(result)
        return image(outcome, self._date, self.scenario.title)

    def close(self) -> None:
        """End the processes of the environment; a reset starts them again."""
        self._stack.close()
        self.choice = self._episode = None
        if self._warm is not None and not self._is_branch:
            self._warm.close()
            self._warm = None

    def _observed(self, choice: Choice) -> Observation:
        """Return the observation of a choice that fits the actions."""
        count, most = len(choice.options), self.n_actions
        if count > most:
            raise SimpluginError(
                f"a choice at {choice.date:g} s has {count} options, but there are {most} actions;"
                f" give max_options={count} or more"
            )
        return self._observe(choice)

    def _info(self, choice: Choice | None) -> Info:
        """Return what Gymnasium calls info, of a choice or of the end."""
        info: Info = {"action_mask": self.action_masks().astype(np.int8), "date": self._date}
        if choice is not None:
            return info | {"date": choice.date, "label": choice.label or ""}
        assert self.outcome is not None
        row, best = self.outcome.row, self.outcome.row.best
        known = {"metric": row[best.metric], "bound": best.value, "gap": row.gap} if best else {}
        nothing = dict.fromkeys(("metric", "bound", "gap"), float("nan"))
        return info | {"label": "", "metrics": row.flat()} | nothing | known
