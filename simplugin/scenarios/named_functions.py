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
from simplugin.scenarios.scenario import generator_problems, scenario_from
from simplugin.scenarios.substitutions import canonical_json

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

    def problems(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is missing or invalid.

        Parameters
        ----------
        document : mapping
            A scenario whose values are valid by themselves.
        """
        platform, workload = document["platform"], document["workload"]
        if self._is_new("platform", platform):
            yield from _of_generator(platform)
        for name, reference in workload.get("functions", {}).items():
            if self._is_new("function", reference):
                yield from _of_reference(reference, ("workload", "functions", name))
        if "scheduler" in document:
            scheduler, kind = document["scheduler"], workload["kind"]
            if self._is_new("scheduler", kind, scheduler, _names_in(workload)):
                yield from self._of_scheduler(document)

    def _is_new(self, *what: Any) -> bool:
        """Return True if something was not checked before."""
        text = canonical_json(what)
        new = text not in self._seen
        self._seen.add(text)
        return new

    def _of_scheduler(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Check the policy and its parameters."""
        name = document["scheduler"]["name"]
        wrong = list(_of_reference(name, _NAME)) if ":" in name else []
        yield from wrong
        if not wrong:
            try:
                kind_called(document["workload"]["kind"]).check(scenario_from(document, self._file))
            except ScenarioError as error:
                yield Problem(error.path, error.message, error.remedy)


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
        generator = generator_called(name, "beside the scenario")
    except PlatformError as error:
        yield Problem(("platform", "generator"), error.message, error.remedy)
        return
    yield from generator_problems(generator, parameters, seeded="seed" in platform)


def _of_reference(reference: str, path: tuple[str | int, ...]) -> Iterator[Problem]:
    """Check a function."""
    try:
        resolve(reference)
    except (UnresolvedError, SystemExit) as error:
        reason = error if isinstance(error, UnresolvedError) else f"{reference!r} exits: {error}"
        remedy = "write 'module:function', of a module beside the campaign file or installed"
        yield Problem(path, f"{'.'.join(map(str, path))}: {reason}", remedy)
