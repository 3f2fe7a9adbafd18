"""How bundles are sold: the ``[scheduler]`` of scenarios of kind "bundles"."""

from __future__ import annotations

import functools
import inspect
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simplugin.errors import InfeasibleError, UnitError, WorkloadError
from simplugin.inputs.messages import suggestion
from simplugin.market.policies.dispatch import DISPATCHERS
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES, posted
from simplugin.units import parse_time

if TYPE_CHECKING:
    from collections.abc import Collection

    from simplugin.market.actors.stations import Counters
    from simplugin.market.policies.negotiation import Negotiation
    from simplugin.scenarios.scenario import Scenario
    from simplugin.workloads.bundle_markets import BundleMarket

_KEY = ("scheduler", "parameters")
# What a policy is given by place.
_MARKET = 4


@dataclass(frozen=True)
class Wishes:
    """The parameters of the scheduler, sorted by whom they are for.

    Attributes
    ----------
    overlap : bool
        Whether a peer fetches its next task while it computes one.
    counters : {"reset", "kept"} or float
        As in `simplugin.market.execution.execute`.
    dispatch : str
        How the global scheduler of several sites chooses one.
    policy : dict
        What the policy is given by keyword.
    """

    overlap: bool
    counters: Counters
    dispatch: str
    policy: dict[str, Any]


def wishes_of(scenario: Scenario) -> Wishes:
    """Return the parameters of the scheduler, checked.

    Raises
    ------
    ScenarioError
        A parameter is unknown, out of its range, or says nothing.
    """
    given = dict(scenario.scheduler.parameters)
    overlap = given.pop("overlap", False)
    if not isinstance(overlap, bool):
        raise _wrong(scenario, "overlap", "give true or false")
    counters = _counters(scenario, given.pop("counters", "reset"))
    dispatch = given.pop("dispatch", "first_idle")
    if dispatch not in DISPATCHERS:
        raise _wrong(scenario, "dispatch", suggestion(str(dispatch), DISPATCHERS, "give one of"))
    if "dispatch" in scenario.scheduler.parameters and not scenario.workload.sites:
        message = "scheduler.parameters.dispatch says nothing to one site"
        raise scenario.error(message, *_KEY, "dispatch", remedy="remove it")
    _check_known(scenario, given)
    return Wishes(overlap, counters, dispatch, given)


def _wrong(scenario: Scenario, name: str, remedy: str) -> Exception:
    """Return what to raise about a value."""
    value = scenario.scheduler.parameters[name]
    return scenario.error(f"scheduler.parameters.{name} is {value!r}", *_KEY, name, remedy=remedy)


def _counters(scenario: Scenario, value: Any) -> Counters:
    """Return how long discount counters last."""
    if value == "reset" or value == "kept":
        kept: Counters = value
        return kept
    try:
        time = parse_time(value) if isinstance(value, str) else value
    except UnitError:
        time = None
    if isinstance(time, bool) or not isinstance(time, int | float) or not time > 0:
        remedy = "give 'reset', 'kept', or the time in s, above 0, with which they decay"
        raise _wrong(scenario, "counters", remedy)
    return float(time)


def _check_known(scenario: Scenario, given: Collection[str]) -> None:
    """Refuse parameters that the policy does not have either."""
    function = _policy(scenario)
    taken = [] if function is None else list(inspect.signature(function).parameters.values())
    if any(each.kind is each.VAR_KEYWORD for each in taken):
        return
    shipped = ":" not in scenario.scheduler.name
    own = [each.name for each in taken[_MARKET:] if not (shipped and each.name == "seed")]
    for key in given:
        if key not in own:
            if key == "seed":
                remedy = "give simulation.seed, from which all draws follow"
            else:
                known = [*own, "overlap", "counters", "dispatch"]
                remedy = suggestion(key, known, f"{scenario.scheduler.name!r} takes")
            message = f"unknown key 'scheduler.parameters.{key}'"
            raise scenario.error(message, *_KEY, key, remedy=remedy)


def _policy(scenario: Scenario) -> Callable[..., Any] | None:
    """Return the policy, shipped or one's own; None for a negotiation that is none."""
    name = scenario.scheduler.name
    if ":" in name:
        return scenario.function(name, "scheduler", "name")
    return POLICIES.get(name.removeprefix("market."))


def _guarded(policy: Callable[..., Any]) -> Callable[..., tuple[Any, float]]:
    """Return a policy of one's own that says where it failed, whatever it raises.

    Else that would be told as a failure of this package, if not as one of an actor.
    """

    @functools.wraps(policy)
    def decide(*market: Any, **given: Any) -> tuple[Any, float]:
        """Ask the policy."""
        try:
            amounts, price = policy(*market, **given)
            return amounts, float(price)
        except (InfeasibleError, WorkloadError):
            raise
        except Exception as error:
            message = f"it raises {type(error).__name__}: {error}{_place(error)}"
            raise WorkloadError(message) from error

    return decide


def _place(error: Exception) -> str:
    """Return the last line of the policy's file that an exception passed, in words."""
    # The first frame is that of the caller.
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""


def negotiation_of(scenario: Scenario, wishes: Wishes, market: BundleMarket) -> Negotiation:
    """Return how the local scheduler and its peers deal.

    A policy that is no negotiation of several rounds gets what peers post, and if it takes a
    `seed` another one for each negotiation, which follow from ``simulation.seed``. It is asked
    once before anything is simulated, so that what it does wrong is told as what the scenario says
    wrong.

    Parameters
    ----------
    scenario : Scenario
        Names it.
    wishes : Wishes
        Its parameters.
    market : BundleMarket
        What it is tried on.

    Raises
    ------
    ScenarioError
        A policy of one's own cannot be had or fails, or a policy refuses the market or its
        parameters, does not place all tasks, or has no finite price.
    """
    name = scenario.scheduler.name.removeprefix("market.")
    if name in NEGOTIATIONS and not wishes.policy:
        return NEGOTIATIONS[name]
    policy = _policy(scenario)
    assert policy is not None
    if ":" in name:
        policy = _guarded(policy)
    given = wishes.policy
    trial = given
    # Only here: bound for good, every copy and bundle would be dealt by the same draws.
    if "seed" in inspect.signature(policy).parameters:
        trial = {"seed": scenario.simulation.seed} | given
    try:
        answer = policy(market.values, market.m, market.caps, market.q, **trial)
        amounts, price = answer
        market.check(amounts)
        if not math.isfinite(price):
            raise WorkloadError(f"its price is {price!r}; let it be a finite number")
    except (InfeasibleError, WorkloadError, TypeError, ValueError) as error:
        key = ("scheduler", "parameters" if wishes.policy else "name")
        message = f"{scenario.scheduler.name!r} cannot be used: {error}"
        raise scenario.error(message, *key) from error
    return posted(policy, name, **given)
