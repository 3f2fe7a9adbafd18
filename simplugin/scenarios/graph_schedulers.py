"""How task graphs are scheduled: the ``[scheduler]`` of scenarios of kind "taskgraphs"."""

from __future__ import annotations

import importlib
import inspect
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from simplugin.inputs.messages import suggestion
from simplugin.scenarios.taskgraphs import BASELINES
from simplugin.taskgraphs.policies import POLICIES
from simplugin.taskgraphs.readings import PAPER, Readings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simplugin.scenarios.scenario import Scenario
    from simplugin.taskgraphs.schedules import Schedule

_KEY = ("scheduler", "parameters")
# What parameters besides those of `Readings` may be; the first is the default.
_CHOICES: dict[str, tuple[Any, ...]] = {
    "mode": ("online", "planned"),
    "procedure": ("scrap_max", "scrap", "hcpa"),
    "ordering": ("ready", "global"),
    "transfers": (True, False),
    "pattern": ("block", "uniform"),
    "local": ("sent", "kept"),
    "revision": ("none", "arrival", "event", "rebalanced"),
}


@dataclass(frozen=True)
class Wishes:
    """The parameters of the scheduler, sorted by whom they are for.

    Attributes
    ----------
    readings : Readings
        What the paper leaves open.
    mode : {"online", "planned"}
        As in `simplugin.taskgraphs.execution.execute`.
    procedure : {"scrap_max", "scrap", "hcpa"}
        How many processors tasks get.
    ordering : {"ready", "global"}
        Whether tasks are mapped when they are ready, or all in the order of one list.
    revision : {"none", "arrival", "event", "rebalanced"}
        Whether and how shares are revised while tasks run.
    how : dict
        Further arguments of `execute`.
    policy : dict
        What the policy or the baseline is given by keyword.
    """

    readings: Readings
    mode: str
    procedure: str
    ordering: str
    revision: str
    how: dict[str, Any]
    policy: dict[str, Any]


def short_name(scenario: Scenario) -> str:
    """Return the name of the policy or baseline, one's own in full."""
    return scenario.scheduler.name.removeprefix("taskgraphs.")


def wishes_of(scenario: Scenario) -> Wishes:
    """Return the parameters of the scheduler, checked.

    Raises
    ------
    ScenarioError
        A parameter is unknown, out of its range, or says nothing beside the others.
    """
    given = dict(scenario.scheduler.parameters)
    found: dict[str, Any] = {}
    for name, known in _choices().items():
        value = given.pop(name, known[0])
        # Not by equality alone: 1 is no truth value.
        if value not in known or type(value) is not type(known[0]):
            words = " or ".join(json.dumps(each) for each in known)
            message = f"scheduler.parameters.{name} is {value!r}"
            raise scenario.error(message, *_KEY, name, remedy=f"give {words}")
        found[name] = value
    _check_known(scenario, given)
    readings = Readings(**{each.name: found.pop(each.name) for each in fields(Readings)})
    wishes = Wishes(
        readings,
        found.pop("mode"),
        found.pop("procedure"),
        found.pop("ordering"),
        found.pop("revision"),
        found,
        given,
    )
    _check_combination(scenario, wishes)
    return wishes


def _choices() -> dict[str, tuple[Any, ...]]:
    """Return what parameters may be, their defaults first."""
    hints = get_type_hints(Readings)
    readings = {}
    for each in fields(Readings):
        usual = getattr(PAPER, each.name)
        others = (value for value in get_args(hints[each.name]) if value != usual)
        readings[each.name] = (usual, *others)
    return _CHOICES | readings


def _check_known(scenario: Scenario, given: Collection[str]) -> None:
    """Refuse parameters that the policy does not have either."""
    make = baseline_of(scenario) if is_baseline(scenario) else policy_of(scenario)
    taken = list(inspect.signature(make).parameters.values())
    if any(each.kind is each.VAR_KEYWORD for each in taken):
        return
    own = [each.name for each in taken[2:] if each.name not in _CHOICES]
    for key in given:
        if key not in own:
            known = [*own, *_choices()]
            remedy = suggestion(key, known, f"{scenario.scheduler.name!r} takes")
            message = f"unknown key 'scheduler.parameters.{key}'"
            raise scenario.error(message, *_KEY, key, remedy=remedy)


def _check_combination(scenario: Scenario, wishes: Wishes) -> None:
    """Refuse parameters that say nothing, or contradict each other."""
    name, given = scenario.scheduler.name, scenario.scheduler.parameters
    if is_baseline(scenario):
        idle = ("procedure", "ordering", "revision", *(each.name for each in fields(Readings)))
        for key in given:
            if key in idle:
                message = f"scheduler.parameters.{key} says nothing to {name!r}"
                raise scenario.error(message, *_KEY, key, remedy="remove it")
    if wishes.procedure == "hcpa" and short_name(scenario) != "s":
        message = "procedure 'hcpa' knows no shares of the site"
        remedy = "give the scheduler's name as 'taskgraphs.s', or another procedure"
        raise scenario.error(message, *_KEY, "procedure", remedy=remedy)
    if given.get("mode") == "online" and (is_baseline(scenario) or wishes.ordering == "global"):
        message = "mode is 'online', but all is planned"
        remedy = "remove it, or choose another scheduler or ordering"
        raise scenario.error(message, *_KEY, "mode", remedy=remedy)
    _check_revision(scenario, wishes)


def _check_revision(scenario: Scenario, wishes: Wishes) -> None:
    """Refuse revisions where nothing is revised, or by somebody else."""
    if wishes.revision == "none":
        return
    idle = {
        "mode is 'planned', so that nothing is revised": wishes.mode == "planned",
        "ordering is 'global', so that nothing is revised": wishes.ordering == "global",
        "revisions allocate with procedure 'scrap_max'": wishes.procedure != "scrap_max",
        "own makespans are under shares that are revised": wishes.readings.own == "share",
        "only 'taskgraphs.balanced' is rebalanced": wishes.revision == "rebalanced"
        and short_name(scenario) != "balanced",
    }
    for reason, applies in idle.items():
        if applies:
            message = f"scheduler.parameters.revision is {wishes.revision!r}, but {reason}"
            raise scenario.error(message, *_KEY, "revision", remedy="remove one of the two")
    if wishes.revision == "rebalanced" and wishes.policy:
        key = next(iter(wishes.policy))
        message = f"scheduler.parameters.{key} says nothing to shares that are rebalanced"
        raise scenario.error(message, *_KEY, key, remedy="remove it")


def is_baseline(scenario: Scenario) -> bool:
    """Whether the scheduler decides everything itself."""
    return short_name(scenario) in BASELINES


def baseline_of(scenario: Scenario) -> Callable[..., Schedule]:
    """Return the baseline that the scenario names."""
    module, _, name = BASELINES[short_name(scenario)].partition(":")
    found: Callable[..., Schedule] = getattr(importlib.import_module(module), name)
    return found


def policy_of(scenario: Scenario) -> Callable[..., Any]:
    """Return the policy, shipped or one's own."""
    name = short_name(scenario)
    if ":" in name:
        return scenario.function(name, "scheduler", "name")
    return POLICIES[name]
