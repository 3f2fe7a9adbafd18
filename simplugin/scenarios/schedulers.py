"""The scheduler that a scenario names, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from pydantic import ValidationError

from simplugin.inputs.messages import InputProblem, problems_of, unknown_key
from simplugin.inputs.parameters import Signature
from simplugin.scenarios.scenario import Scenario, Schedulers, Settings

PARAMETERS = ("scheduler", "parameters")


@dataclass(frozen=True)
class ChosenScheduler(Generic[Settings]):
    """A policy and the parameters that a scenario has for it and for its execution.

    Attributes
    ----------
    policy : callable
        A shipped policy, or a function of the user's.
    settings : Section
        The parameters of the execution.
    parameters : dict
        The keyword arguments of the policy.
    """

    policy: Callable[..., Any]
    settings: Settings
    parameters: dict[str, Any]


def policy_of(scenario: Scenario, schedulers: Schedulers[Any]) -> Callable[..., Any]:
    """Return the policy that ``scheduler.name`` names.

    Parameters
    ----------
    scenario : Scenario
        Its scheduler is ``capability.name`` of a shipped policy, or ``module:function``.
    schedulers : Schedulers
        Those of the scenario's kind.

    Raises
    ------
    ScenarioError
        The reference names no function.
    """
    name = scenario.scheduler.name
    if ":" in name:
        return scenario.function(name, "scheduler", "name")
    return schedulers.policies[name.partition(".")[2]]


def read_scheduler(
    scenario: Scenario,
    schedulers: Schedulers[Settings],
    policy: Callable[..., Any] | None = None,
    *,
    by_position: int | None = None,
    reserved: Mapping[str, str] | None = None,
) -> ChosenScheduler[Settings]:
    """Return the scheduler of a scenario with its parameters, validated.

    Parameters
    ----------
    scenario : Scenario
        Has ``[scheduler]``.
    schedulers : Schedulers
        Those of the scenario's kind. A parameter of both their settings and the policy's signature
        goes to both.
    policy : callable, optional
        The policy with the signature; by default the one that the scenario names.
    by_position : int, optional
        The number of arguments that the policy gets by position; by default as `schedulers` says.
    reserved : mapping of str to str, optional
        Parameters of the policy that a scenario must not give, each with the remedy.

    Raises
    ------
    ScenarioError
        The policy does not exist, or parameters are unknown, missing or invalid; the message has
        each of them.
    """
    given, settings = scenario.scheduler.parameters, schedulers.settings
    policy = policy or policy_of(scenario, schedulers)
    signature = Signature.of(policy, schedulers.by_position if by_position is None else by_position)
    further = [field.alias or name for name, field in settings.model_fields.items()]
    hidden = reserved or {}
    known = [name for name in signature.types if name not in hidden]
    problems = []
    for name in given:
        path = (*PARAMETERS, name)
        if name in hidden and name not in further:
            problems.append(InputProblem(path, "unknown key '{key}'", hidden[name]))
        elif name not in known and name not in further and not signature.takes_any:
            takes = f"{scenario.scheduler.name!r} takes"
            problems.append(unknown_key(path, [*dict.fromkeys([*known, *further])], takes))
    own = {key: given[key] for key in given if key in signature.types or key not in further}
    values, wrong = signature.read(own, PARAMETERS)
    problems += wrong
    found = None
    chosen = {key: given[key] for key in given if key in further}
    try:
        found = settings.model_validate(chosen, context={"directory": scenario.directory})
    except ValidationError as error:
        problems += problems_of(error, settings, chosen, PARAMETERS)
    if problems or found is None:
        # A parameter that goes to both is wrong once.
        raise scenario.errors(list(dict.fromkeys(problems)))
    return ChosenScheduler(policy, found, values)
