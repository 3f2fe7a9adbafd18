"""Lines of a campaign file that errors of its runs are about."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from simplugin.errors import ScenarioError
from simplugin.inputs.positions import toml_line
from simplugin.scenarios.scenario import SCENARIO_KEYS
from simplugin.scenarios.substitutions import Path as Keys
from simplugin.scenarios.sweep_refusals import SweepError
from simplugin.scenarios.sweeps import Axis, Setting, Variation, Variations, variations_of

_NOWHERE = object()


def text_digest(text: str) -> str:
    """Return the SHA-256 by which a run knows the file that it comes from."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def with_line(error: ScenarioError, arguments: Mapping[str, Any]) -> ScenarioError:
    """Return an error of a run as one with a line of the campaign file, if it can be told.

    Parameters
    ----------
    error : ScenarioError
        About a key of the run's scenario.
    arguments : mapping
        Of `simplugin.campaigns.scenario_runs.run`. The file is read again; if it says something
        else by now, there is no line.
    """
    file = Path(arguments["directory"]) / arguments["name"]
    if error.line is not None or not error.path or error.file != file:
        return error
    text = _text(file)
    if text is None or text_digest(text) != arguments.get("source"):
        return error
    path = _source(error.path, arguments["document"], _variations(text))
    line = _line(text, path)
    told = ScenarioError(error.message, file=file, line=line, remedy=error.remedy)
    told.path = error.path
    return told


def _text(file: Path) -> str | None:
    """Return what stands in a campaign file; None if it cannot be read any more."""
    try:
        return file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None


# Runs may fail for one reason a hundred thousand times.
@lru_cache(4)
def _variations(text: str) -> Variations:
    """Return the variations in a campaign file; none if it sweeps what only its program has."""
    document = tomllib.loads(text)
    scenario = {key: value for key, value in document.items() if key in SCENARIO_KEYS}
    try:
        return variations_of(scenario, document.get("sweep", {}), document.get("variations", []))
    except SweepError:
        return Variations(scenario)


@lru_cache(1000)
def _line(text: str, path: Keys) -> int | None:
    """Return the line of a key."""
    return toml_line(text, path)


def _source(path: Keys, document: Mapping[str, Any], variations: Variations) -> Keys:
    """Return the path in a campaign file of the value that a run has at a path."""
    chosen = next((each for each in variations.listed if _is_of(each, document)), Variation())
    every: list[Setting | Axis] = [*chosen.settings, *chosen.axes, *variations.grid]
    around = [each for each in every if path[: len(each.path)] == each.path]
    if around:
        return max(around, key=lambda each: len(each.path)).source
    within = [each for each in every if each.path[: len(path)] == path]
    return within[0].source if len(within) == 1 else path


def _is_of(variation: Variation, document: Mapping[str, Any]) -> bool:
    """Whether a document has what a variation sets."""
    return all(_at(document, each.path) == each.value for each in variation.settings) and all(
        _at(document, axis.path) in axis.values
        for axis in variation.axes
        if isinstance(axis.values, list | tuple)
    )


def _at(document: Any, path: Keys) -> Any:
    """Return what a document has at a path."""
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return _NOWHERE
    return document
