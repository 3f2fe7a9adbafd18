"""Checks of the functions and parameters that scenarios name, before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import InputProblem, dotted
from simplugin.inputs.references import References, UnresolvedError
from simplugin.scenarios.kinds import kind_called
from simplugin.scenarios.loading import scenario_from
from simplugin.scenarios.substitutions import canonical_json

_NAME = ("scheduler", "name")


class ReferenceChecker:
    """Checks functions and parameters, each once.

    Parameters
    ----------
    file : Path
        Of the scenarios.
    trust : iterable of str
        Modules that they may name although they are elsewhere.
    imports : bool
        True to import the modules of functions and check parameters, within `importable`; False to
        check only that the modules exist.
    """

    def __init__(self, file: Path, trust: Iterable[str], *, imports: bool) -> None:
        self._file, self._trust, self._imports = file, tuple(trust), imports
        references = References(file.parent, self._trust)
        self._look: Callable[[str], object] = references.resolve if imports else references.find
        self._seen: set[str] = set()
        self._reasons: dict[str, UnresolvedError | None] = {}

    def problems(self, document: Mapping[str, Any]) -> Iterator[InputProblem]:
        """Yield missing and invalid functions and parameters.

        Parameters
        ----------
        document : mapping
            A scenario with valid values.
        """
        platform, workload = document.get("platform"), document["workload"]
        if platform is not None and self._is_new("platform", platform):
            yield from self._of_generator(document)
        named = _references(document)
        wrong = [each for path, name in named for each in self._of_reference(name, path)]
        yield from wrong
        if "scheduler" in document:
            scheduler, kind = document["scheduler"], workload["kind"]
            if self._is_new("scheduler", kind, scheduler, _names_in(workload)):
                own = ":" in scheduler["name"]
                wrong = list(self._of_reference(scheduler["name"], _NAME)) if own else []
                yield from wrong
                if not wrong and (self._imports or not own):
                    yield from self._of_kind(document)
        elif not wrong and self._imports and self._is_new("workload", workload):
            yield from self._of_kind(document)

    def _is_new(self, *what: Any) -> bool:
        """Return True if something was not checked before."""
        text = canonical_json(what)
        new = text not in self._seen
        self._seen.add(text)
        return new

    def _of_kind(self, document: Mapping[str, Any]) -> Iterator[InputProblem]:
        """Run the check of the kind of workload."""
        scenario = scenario_from(document, self._file, trust=self._trust)
        try:
            kind_called(document["workload"]["kind"]).check(scenario)
        except ScenarioError as error:
            yield InputProblem(error.path, error.message, error.remedy)

    def _of_generator(self, document: Mapping[str, Any]) -> Iterator[InputProblem]:
        """Check the generator of a platform and the names of its parameters."""
        if (name := document["platform"].get("generator")) is None:
            return
        path: tuple[str, ...] = ("platform", "generator")
        if ":" in name:
            wrong = list(self._of_reference(name, path))
            yield from wrong
            if wrong or not self._imports:
                return
        scenario = scenario_from(document, self._file, trust=self._trust)
        try:
            generator, parameters, problems = scenario.generator(name)
            yield from problems
            if not problems and generator.may_be_too_large(parameters):
                # It counts its hosts before it makes them.
                scenario.make_platform()
        except ScenarioError as error:
            yield InputProblem(error.path, error.message, error.remedy)

    def _of_reference(self, reference: str, path: tuple[str | int, ...]) -> Iterator[InputProblem]:
        """Check that a function, or only its module, exists."""
        if reference not in self._reasons:
            self._reasons[reference] = None
            try:
                self._look(reference)
            except UnresolvedError as error:
                self._reasons[reference] = error
        if (reason := self._reasons[reference]) is not None:
            yield InputProblem(path, f"{dotted(path)}: {reason}", reason.remedy)


def _names_in(value: Any) -> Any:
    """Return the keys in a table, without values; equal tables of an array once."""
    if isinstance(value, Mapping):
        return {key: _names_in(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return sorted({canonical_json(_names_in(each)) for each in value})
    return None


def _references(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the functions that actors run, that measure results and that look ahead, by keys."""
    workload, metrics = document["workload"], document.get("metrics", {})
    for name, reference in workload.get("functions", {}).items():
        yield ("workload", "functions", name), reference
    for number, actor in enumerate(workload.get("actors", [])):
        yield ("workload", "actors", number, "function"), actor["function"]
    for section in ("scheduler", "workload"):
        for name, value in document.get(section, {}).get("lookahead", {}).items():
            if isinstance(value, str) and ":" in value:
                yield (section, "lookahead", name), value
    if "function" in metrics:
        yield ("metrics", "function"), metrics["function"]
