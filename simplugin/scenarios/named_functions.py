"""Generators, functions and parameters that a scenario names, looked up before it runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError, ScenarioError
from simplugin.scenarios.complaints import Complaint, suggestion
from simplugin.scenarios.generators.calls import generator_called
from simplugin.scenarios.kinds import kind_called
from simplugin.scenarios.references import UnresolvedError, resolve
from simplugin.scenarios.scenario import scenario_from
from simplugin.scenarios.substitutions import canonical_json

_NAME = ("scheduler", "name")
_PARAMETERS = ("scheduler", "parameters")
# Of both families of schedulers for workloads of kind "bags": how much policies are given by place,
# and parameters that are not the policy's own.
_BY_PLACE = {"bags": 2, "pricing": 0}
_FURTHER = {
    "bags": ("buffer", "measure", "errors", "shuffle"),
    "pricing": ("rounds", "period", "until", "patience"),
}


class NamedFunctions:
    """Looks up what scenarios name, each once; within `importable`.

    Parameters
    ----------
    file : Path
        Of the scenarios.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: set[str] = set()

    def complaints(self, document: Mapping[str, Any]) -> Iterator[Complaint]:
        """Yield what is not there.

        Parameters
        ----------
        document : mapping
            A scenario whose values are in order by themselves.
        """
        platform, workload = document["platform"], document["workload"]
        scheduler = document.get("scheduler")
        if self._is_new("platform", platform.get("generator"), _shape(platform)):
            yield from _of_generator(platform)
        for number, graph in enumerate(workload.get("graphs", ())):
            if self._is_new("graph", graph.get("generator")):
                yield from _of_graph(graph, ("workload", "graphs", number, "generator"))
        for name, reference in workload.get("functions", {}).items():
            if self._is_new("function", reference):
                yield from _of_reference(reference, ("workload", "functions", name))
        endless = all(each.get("count") is None for each in workload.get("applications", ()))
        about = [workload["kind"], scheduler, endless, bool(workload.get("sites"))]
        if self._is_new("scheduler", *about):
            yield from self._of_scheduler(document)

    def _is_new(self, *what: Any) -> bool:
        """Whether something was not looked up before."""
        text = canonical_json(what)
        new = text not in self._seen
        self._seen.add(text)
        return new

    def _of_scheduler(self, document: Mapping[str, Any]) -> Iterator[Complaint]:
        """Look up the policy and its parameters."""
        kind = document["workload"]["kind"]
        known = kind_called(kind).schedulers
        if known is None:
            return
        if "scheduler" not in document:
            remedy = f"add it, with a name: {', '.join(map(repr, known))}"
            yield Complaint(("workload",), "table [scheduler] is missing", remedy)
            return
        name = document["scheduler"]["name"]
        wrong = list(_of_reference(name, _NAME)) if ":" in name else []
        yield from wrong
        if wrong:
            return
        if kind == "bags":
            yield from _of_bags(document)
        else:
            yield from self._of_wishes(kind, document)

    def _of_wishes(self, kind: str, document: Mapping[str, Any]) -> Iterator[Complaint]:
        """Have the parameters checked by those that use them."""
        from simplugin.scenarios import bundle_schedulers, graph_schedulers

        check: Mapping[str, Callable[[Any], object]] = {
            "bundles": bundle_schedulers.wishes_of,
            "taskgraphs": graph_schedulers.wishes_of,
        }
        try:
            check[kind](scenario_from(document, self._file))
        except ScenarioError as error:
            path = (error.key or "scheduler").split(".", len(_PARAMETERS))
            yield Complaint(tuple(path), error.message, error.remedy)


def _shape(platform: Mapping[str, Any]) -> list[Any]:
    """Return which parameters a generator is given, though not their values."""
    return [sorted(platform.get("parameters", ())), platform.get("seed") is None]


def _of_generator(platform: Mapping[str, Any]) -> Iterator[Complaint]:
    """Look up the generator of a platform and the names of its parameters."""
    name = platform.get("generator")
    if name is None:
        return
    parameters = dict(platform.get("parameters", {}))
    if platform.get("seed") is not None:
        parameters["seed"] = platform["seed"]
    try:
        wrong = generator_called(name, "beside the scenario").wrong_name(parameters)
    except PlatformError as error:
        yield Complaint(("platform", "generator"), error.message, error.remedy)
        return
    if wrong is not None:
        given, refusal = wrong
        key = "seed" if given == "seed" and given in platform else "parameters"
        path = ("platform", key if key in platform else "generator")
        inside = (given,) if key == "parameters" and given is not None else ()
        yield Complaint((*path, *inside), refusal.message, refusal.remedy)


def _of_graph(graph: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Complaint]:
    """Look up the generator of a task graph."""
    from simplugin.workloads.graph_generators import GENERATORS

    name = graph.get("generator")
    if name is not None and name not in GENERATORS:
        remedy = suggestion(name, GENERATORS, "there are")
        yield Complaint(path, f"there is no generator {name!r} of task graphs", remedy)


def _of_reference(reference: str, path: tuple[str | int, ...]) -> Iterator[Complaint]:
    """Look up a function."""
    try:
        resolve(reference)
    except (UnresolvedError, SystemExit) as error:
        reason = error if isinstance(error, UnresolvedError) else f"{reference!r} exits: {error}"
        remedy = "write 'module:function', of a module beside the campaign file or installed"
        yield Complaint(path, f"{'.'.join(map(str, path))}: {reason}", remedy)


def _of_bags(document: Mapping[str, Any]) -> Iterator[Complaint]:
    """Look up the names of the parameters of a scheduler of bags."""
    from simplugin.bags.policies import policy_called
    from simplugin.pricing.policies import POLICIES

    scheduler = document["scheduler"]
    name = scheduler["name"]
    family, _, policy = name.partition(".")
    make: Callable[..., Any]
    if ":" in name:
        applications = document["workload"]["applications"]
        counted = any(each.get("count") is not None for each in applications)
        family, make = "bags" if counted else "pricing", resolve(name)
    else:
        make = policy_called(policy) if family == "bags" else POLICIES[policy]
    taken = inspect.signature(make).parameters
    if any(each.kind is each.VAR_KEYWORD for each in taken.values()):
        return
    known = [*list(taken)[_BY_PLACE[family] :], *_FURTHER[family]]
    for key in scheduler.get("parameters", {}):
        if key not in known:
            message = f"unknown key 'scheduler.parameters.{key}'"
            remedy = suggestion(key, dict.fromkeys(known), f"{name!r} takes")
            yield Complaint((*_PARAMETERS, key), message, remedy)
