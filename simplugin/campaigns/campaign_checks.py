"""Checks of campaign files: each value that is swept must suit the scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from simplugin.campaigns.complaints import Complaint, from_pydantic, scenario_error
from simplugin.campaigns.scenario import complaints_about
from simplugin.campaigns.substitutions import dotted
from simplugin.campaigns.sweeps import Setting, SweepError, Variation, Variations

_Model = TypeVar("_Model", bound=BaseModel)
# More of the same would not help.
_MOST_COMPLAINTS = 20


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
        complaint = Complaint((name,), f"{name} is {table!r}", f"write a table, [{name}]")
        raise scenario_error([complaint], file, text)
    try:
        return model.model_validate(dict(table), context={"directory": file.parent})
    except ValidationError as error:
        raise scenario_error(from_pydantic(error, model, (name,)), file, text) from None


def refuse_wrong_values(variations: Variations, file: Path, text: str) -> None:
    """Check each variation, and each value that is swept, though not all combinations.

    Parameters
    ----------
    variations : Variations
        What to check; of ranges only the ends are.
    file, text
        For messages.

    Raises
    ------
    ScenarioError
        A value does not suit; with the place where it is swept.
    """
    found: dict[Complaint, None] = {}
    for settings in _samples(variations):
        try:
            document = variations.scenario(settings)
            complaints = [_blamed(each, settings) for each in complaints_about(document, file)]
        except SweepError as error:
            complaints = [error.complaint]
        found |= dict.fromkeys(complaints)
        if len(found) >= _MOST_COMPLAINTS:
            break
    if found:
        raise scenario_error(found, file, text)


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


def _blamed(complaint: Complaint, settings: Sequence[Setting]) -> Complaint:
    """Return a complaint as one about what was set, if that is the cause."""
    within = [each for each in settings if complaint.path[: len(each.path)] == each.path]
    if within:
        each = max(within, key=lambda setting: len(setting.path))
        source, key = dotted(each.source), complaint.key
        message = f"{source}: {complaint.message}"
        if each.path == complaint.path and complaint.message.startswith(f"{key} is "):
            message = complaint.message.replace(f"{key} is ", f"{source}: ", 1) + " will not do"
        return Complaint(each.source, message, complaint.remedy)
    around = [each for each in settings if each.path[: len(complaint.path)] == complaint.path]
    if around:
        told = ", ".join(f"{dotted(each.path)} = {each.value!r}" for each in around)
        return replace(complaint, message=f"{complaint.message}, with {told}")
    return complaint
