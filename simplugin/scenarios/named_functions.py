"""Checks of the functions and parameters that scenarios name, before anything is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError, ScenarioError
from simplugin.inputs.messages import Problem
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.scenarios.generators.calls import generator_called
from simplugin.scenarios.kinds import kind_called
from simplugin.scenarios.scenario import scenario_from
from simplugin.scenarios.substitutions import canonical_json, dotted

_NAME = ("scheduler", "name")


class NamedFunctions:
    """Checks functions and parameters, each once; used within `importable`.

    Parameters
    ----------
    file : Path
        Of the scenarios.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: set[str] = set()
        self._reasons: dict[str, str] = {}

    def problems(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is missing or invalid.

        Parameters
        ----------
        document : mapping
            A scenario whose values are valid by themselves.
        """
        platform, workload = document["platform"], document["workload"]
        if self._is_new("platform", platform.get("generator"), _names_in(platform)):
            yield from _of_generator(platform)
        named = _references(document)
        wrong = [each for path, name in named for each in self._of_reference(name, path)]
        yield from wrong
        if "scheduler" in document:
            scheduler, kind = document["scheduler"], workload["kind"]
            if self._is_new("scheduler", kind, scheduler, _names_in(workload)):
                yield from self._of_scheduler(document)
        elif not wrong and self._is_new("workload", workload):
            yield from self._of_kind(document)

    def _is_new(self, *what: Any) -> bool:
        """Return True if something was not checked before."""
        text = canonical_json(what)
        new = text not in self._seen
        self._seen.add(text)
        return new

    def _of_scheduler(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Check the policy and its parameters."""
        name = document["scheduler"]["name"]
        wrong = list(self._of_reference(name, _NAME)) if ":" in name else []
        yield from wrong
        if not wrong:
            yield from self._of_kind(document)

    def _of_reference(self, reference: str, path: tuple[str | int, ...]) -> Iterator[Problem]:
        """Check a function."""
        if reference not in self._reasons:
            self._reasons[reference] = _unresolved(reference)
        if reason := self._reasons[reference]:
            remedy = "write 'module:function', of a module beside the campaign file or installed"
            yield Problem(path, f"{dotted(path)}: {reason}", remedy)

    def _of_kind(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Check what the kind of workload does."""
        try:
            kind_called(document["workload"]["kind"]).check(scenario_from(document, self._file))
        except ScenarioError as error:
            yield Problem(error.path, error.message, error.remedy)


def _references(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the functions that actors run and that measure results, with their keys."""
    workload, metrics = document["workload"], document.get("metrics", {})
    for name, reference in workload.get("functions", {}).items():
        yield ("workload", "functions", name), reference
    for number, actor in enumerate(workload.get("actors", [])):
        yield ("workload", "actors", number, "function"), actor["function"]
    if "function" in metrics:
        yield ("metrics", "function"), metrics["function"]


def _names_in(value: Any) -> Any:
    """Return the keys in a table, without values; equal tables of an array once."""
    if isinstance(value, Mapping):
        return {key: _names_in(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return sorted({canonical_json(_names_in(each)) for each in value})
    return None


def _of_generator(platform: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the generator of a platform and the names of its parameters."""
    name = platform.get("generator")
    if name is None:
        return
    parameters = dict(platform.get("parameters", {}))
    if platform.get("seed") is not None:
        parameters["seed"] = platform["seed"]
    try:
        wrong = generator_called(name, "beside the scenario").wrong_name(parameters)
    except PlatformError as error:
        yield Problem(("platform", "generator"), error.message, error.remedy)
        return
    if wrong is not None:
        given, refusal = wrong
        key = "seed" if given == "seed" and given in platform else "parameters"
        path = ("platform", key if key in platform else "generator")
        inside = (given,) if key == "parameters" and given is not None else ()
        yield Problem((*path, *inside), refusal.message, refusal.remedy)


def _unresolved(reference: str) -> str:
    """Return why a function cannot be had; empty if it can."""
    try:
        resolve(reference)
    except UnresolvedError as error:
        return str(error)
    except SystemExit as error:
        return f"{reference!r} exits: {error}"
    return ""
