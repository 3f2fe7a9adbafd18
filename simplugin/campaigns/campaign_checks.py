"""Checks of campaign files: each value that is swept must suit the scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from simplugin.inputs.messages import Problem, from_pydantic
from simplugin.scenarios.importing import importable
from simplugin.scenarios.named_functions import NamedFunctions
from simplugin.scenarios.ranges import is_too_large
from simplugin.scenarios.scenario import problems_of, scenario_error
from simplugin.scenarios.substitutions import dotted
from simplugin.scenarios.sweep_refusals import SweepError
from simplugin.scenarios.sweeps import Setting, Variation, Variations

_Model = TypeVar("_Model", bound=BaseModel)
# More of the same would not help.
_MOST_COMPLAINTS = 20
# What SQLite can number.
_MOST_RUNS = 2**63 - 1


def checked_section(
    model: type[_Model], document: Mapping[str, Any], name: str, file: Path, text: str
) -> _Model:
    """Check a table of a campaign file that scenarios do not have.

    Raises
    ------
    ScenarioError
        Something is wrong with it.
    """
    table = document.get(name, {})
    if not isinstance(table, Mapping):
        complaint = Problem((name,), f"{name} is {table!r}", f"write a table, [{name}]")
        raise scenario_error([complaint], file, text)
    try:
        return model.model_validate(dict(table), context={"directory": file.parent})
    except ValidationError as error:
        raise scenario_error(from_pydantic(error, model, (name,)), file, text) from None


def refuse_wrong_values(variations: Variations, file: Path, text: str) -> None:
    """Check each variation, and what is swept, though not all combinations.

    Parameters
    ----------
    variations : Variations
        What to check; of ranges only the ends are, of long lists of numbers some.
    file, text
        For messages.

    Raises
    ------
    ScenarioError
        A value does not suit; with the place where it is swept.
    """
    found: dict[Problem, None] = {}
    functions = NamedFunctions(file)
    with importable(file.parent):
        for settings in _samples(variations):
            try:
                document = variations.scenario(settings)
                complaints = problems_of(document, file) or functions.problems(document)
                found |= dict.fromkeys(_blamed(each, settings) for each in complaints)
            except SweepError as error:
                found[error.complaint] = None
            if len(found) >= _MOST_COMPLAINTS:
                break
    if found:
        raise scenario_error(found, file, text)


def refuse_large_numbers(document: Mapping[str, Any], file: Path, text: str) -> None:
    """Refuse integers that no float is near, wherever they stand.

    Raises
    ------
    ScenarioError
        There is one.
    """
    remedy = "give a number up to 1.79e308"
    found = [
        Problem(path, f"{dotted(path)} is beyond all floats", remedy)
        for path in _large_numbers(document, ())
    ]
    if found:
        raise scenario_error(found[:_MOST_COMPLAINTS], file, text)


def _large_numbers(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield where integers stand that no float is near."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _large_numbers(each, (*path, key))
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _large_numbers(each, (*path, at))
    elif is_too_large(value):
        yield path


def refuse_uncountable(variations: Variations, file: Path, text: str) -> None:
    """Refuse more runs than a store can number.

    Raises
    ------
    ScenarioError
        There are.
    """
    if variations.total <= _MOST_RUNS:
        return
    axes = [*variations.grid, *(axis for each in variations.listed for axis in each.axes)]
    longest = max(axes, key=lambda axis: len(axis.values))
    power = len(str(variations.total)) - 1
    message = f"the campaign has more than 10^{power} runs, and {dotted(longest.source)} the most"
    complaint = Problem(longest.source, message, "a store can number 2^63 - 1: sweep less")
    raise scenario_error([complaint], file, text)


def _samples(variations: Variations) -> Iterator[list[Setting]]:
    """Yield what is set in the runs to be checked."""
    for number, variation in enumerate(variations.listed):
        axes = (*variation.axes, *variations.grid)
        usual = [Setting(axis.path, axis.values[0], axis.source) for axis in axes]
        yield [*variation.settings, *usual]
        # The grid is the same for all; the first one stands for them.
        count = len(axes) if number == 0 else len(variation.axes)
        yield from _each_value(variation, usual, axes[:count])


def _each_value(
    variation: Variation, usual: Sequence[Setting], axes: Sequence[Any]
) -> Iterator[list[Setting]]:
    """Yield what is set when one axis has another than its first value."""
    for at, axis in enumerate(axes):
        for place, value in axis.checked_values():
            if place:
                other = replace(usual[at], value=value)
                yield [*variation.settings, *usual[:at], other, *usual[at + 1 :]]


def _blamed(complaint: Problem, settings: Sequence[Setting]) -> Problem:
    """Return a complaint as one about what was set, if that is the cause."""
    within = [each for each in settings if complaint.path[: len(each.path)] == each.path]
    if within:
        each = max(within, key=lambda setting: len(setting.path))
        return Problem(each.source, _told(complaint, each), complaint.remedy)
    around = [each for each in settings if each.path[: len(complaint.path)] == complaint.path]
    # What is told of a table may begin with the key that it is about.
    about = [each for each in around if f"{complaint.remedy} ".startswith(f"{each.path[-1]} ")]
    if len(about) == 1:
        message = f"{dotted(about[0].source)}: {about[0].value!r} will not do"
        return Problem(about[0].source, message, complaint.remedy)
    if around:
        told = ", ".join(f"{dotted(each.path)} = {each.value!r}" for each in around)
        return replace(complaint, message=f"{complaint.message}, with {told}")
    return complaint


def _told(complaint: Problem, setting: Setting) -> str:
    """Return what is wrong as a message about what was set."""
    source, key, message = dotted(setting.source), complaint.key, complaint.message
    if setting.path == complaint.path and message.startswith(f"{key} is "):
        rest = message.removeprefix(f"{key} is ")
        # It may say by itself why.
        explained = ", " in rest.removeprefix(repr(setting.value))
        return f"{source}: {rest}" if explained else f"{source}: {rest} will not do"
    return f"{source}: {message.removeprefix(f'{key}: ')}"
