"""Checks of campaign files, and the lines in campaign files of errors of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simplugin.campaigns.keys import text_digest
from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import InputProblem, dotted
from simplugin.inputs.messages import Path as Keys
from simplugin.inputs.named_files import named_modules
from simplugin.inputs.positions import toml_line
from simplugin.scenarios.importing import importable
from simplugin.scenarios.loading import scenario_problems
from simplugin.scenarios.reference_checks import ReferenceChecker
from simplugin.scenarios.scenario import scenario_error
from simplugin.scenarios.sweeps import KeyAssignment, SweepError, Variations

# Maximum number of errors that are reported.
_MOST_PROBLEMS = 20
# The largest integer of SQLite.
_MOST_RUNS = 2**63 - 1


def refuse_wrong_values(
    variations: Variations, file: Path, text: str, trust: Iterable[str], *, imports: bool
) -> None:
    """Raise if a value of a variation or a sweep is invalid; combinations are not checked.

    Parameters
    ----------
    variations : Variations
        The variations; only the ends of ranges and some values of long lists are checked.
    file, text
        Path and content of the file, for messages.
    trust, imports
        As in `ReferenceChecker`.

    Raises
    ------
    ScenarioError
        A value is invalid; the error has the line of the sweep.
    """
    found: dict[InputProblem, None] = {}
    functions = ReferenceChecker(file, trust, imports=imports)
    values = [each.value for settings in _samples(variations) for each in settings]
    modules = named_modules([variations.document, values]) if imports else ()
    with importable(file.parent, modules):
        for settings in _samples(variations):
            try:
                document = variations.scenario(settings)
                problems = scenario_problems(document, file) or functions.problems(document)
                found |= dict.fromkeys(_about_setting(each, settings) for each in problems)
            except SweepError as error:
                found[error.problem] = None
            if len(found) >= _MOST_PROBLEMS:
                break
    if found:
        raise scenario_error(found, file, text)


def refuse_uncountable(variations: Variations, file: Path, text: str) -> None:
    """Raise ScenarioError if there are more runs than a store can number."""
    if variations.total <= _MOST_RUNS:
        return
    axes = [*variations.grid, *(axis for each in variations.listed for axis in each.axes)]
    longest = max(axes, key=lambda axis: len(axis.values))
    power = len(str(variations.total)) - 1
    message = f"the campaign has more than 10^{power} runs, and {dotted(longest.source)} the most"
    problem = InputProblem(longest.source, message, "a store can number 2^63 - 1: sweep less")
    raise scenario_error([problem], file, text)


def _samples(variations: Variations) -> Iterator[list[KeyAssignment]]:
    """Yield the assignments of the runs to check."""
    for number, variation in enumerate(variations.listed):
        axes = (*variation.axes, *variations.grid)
        usual = [KeyAssignment(axis.path, axis.values[0], axis.source) for axis in axes]
        yield [*variation.settings, *usual]
        # The grid is the same for all variations: it is checked with the first one.
        count = len(axes) if number == 0 else len(variation.axes)
        for at, axis in enumerate(axes[:count]):
            for place, value in axis.checked_values():
                if place:
                    other = replace(usual[at], value=value)
                    yield [*variation.settings, *usual[:at], other, *usual[at + 1 :]]


def _about_setting(problem: InputProblem, settings: Sequence[KeyAssignment]) -> InputProblem:
    """Return an error of a run with the path of the assignment that caused it, if any."""
    within = [each for each in settings if problem.path[: len(each.path)] == each.path]
    if within:
        each = max(within, key=lambda setting: len(setting.path))
        return problem.moved((*each.source, *problem.path[len(each.path) :]))
    around = [each for each in settings if each.path[: len(problem.path)] == problem.path]
    if around:
        values = ", ".join(f"{dotted(each.path)} = {each.value!r}" for each in around)
        return replace(problem, message=f"{problem.message}, with {values}")
    return problem


def with_line(error: ScenarioError, arguments: Mapping[str, Any]) -> ScenarioError:
    """Return an error of a run with its line in the campaign file, if that is known.

    Parameters
    ----------
    error : ScenarioError
        The error, about a key of the scenario.
    arguments : mapping
        Those of `simplugin.scenarios.scenario_runs.run`, and ``source``, the `text_digest` of the
        file, and ``settings``, the paths of the values of this run in the scenario and in the file.
        If the file has changed since, the line is unknown.
    """
    file = Path(arguments.get("directory", ""), arguments.get("name", ""))
    if error.line is not None or not error.path or error.file != file:
        return error
    try:
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return error
    if text_digest(text) != arguments.get("source"):
        return error
    # A sweep that was made by a program is not in the file.
    source = _source(error.path, arguments.get("settings", ()))
    line = toml_line(text, source) or toml_line(text, error.path)
    located = ScenarioError(error.message, file=file, line=line, remedy=error.remedy)
    located.path = error.path
    return located


def _source(path: Keys, settings: Iterable[tuple[Iterable[Any], Iterable[Any]]]) -> Keys:
    """Return the path in the campaign file of the value at a path in a run's scenario."""
    placed = [(tuple(place), tuple(source)) for place, source in settings]
    around = [each for each in placed if path[: len(each[0])] == each[0]]
    if around:
        return max(around, key=lambda each: len(each[0]))[1]
    within = [source for place, source in placed if place[: len(path)] == path]
    return within[0] if len(within) == 1 else path
