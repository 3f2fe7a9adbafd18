"""Tolerances of metrics."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simplugin.errors import ScenarioError
from simplugin.inputs.positions import toml_line
from simplugin.near_names import perhaps
from simplugin.scenarios.scenario import read_toml

RELATIVE = 1e-9
ABSOLUTE = 0.0
ACTIVITIES = 100_000
_LIMITS = ("relative", "absolute")
_GENERAL = (*_LIMITS, "activities", "metrics")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two values may be apart.

    Attributes
    ----------
    relative : float
        Times the larger one of the two.
    absolute : float
        In the metric's unit; the larger one of both limits holds.
    named : bool
        Whether it was given for this metric: only then it holds for counts too.
    """

    relative: float = RELATIVE
    absolute: float = ABSOLUTE
    named: bool = False

    def accepts(self, recorded: object, now: object) -> bool:
        """Whether a value is what is recorded; NaN equals NaN, texts and counts are exact."""
        if not _is_number(recorded) or not _is_number(now):
            return recorded == now
        assert isinstance(recorded, float | int)
        assert isinstance(now, float | int)
        if isinstance(recorded, int) and isinstance(now, int) and not self.named:
            return recorded == now
        if recorded == now:
            return True
        try:
            if math.isnan(recorded) or math.isnan(now):
                return math.isnan(recorded) and math.isnan(now)
            if math.isinf(recorded) or math.isinf(now):
                return False
        except OverflowError:  # a count that no float is as large as
            return False
        allowed = max(self.absolute, self.relative * max(abs(recorded), abs(now)))
        return abs(recorded - now) <= allowed


@dataclass(frozen=True)
class Tolerances:
    """The tolerance of each metric of a run.

    Attributes
    ----------
    general : Tolerance
        Of metrics that have none of their own, and of the dates and amounts of activities.
    metrics : mapping of str to Tolerance
        By the names of metrics.
    activities : int
        How many of a run are recorded at most.
    """

    general: Tolerance = field(default_factory=Tolerance)
    metrics: Mapping[str, Tolerance] = field(default_factory=dict)
    activities: int = ACTIVITIES

    def of(self, metric: str) -> Tolerance:
        """Return the tolerance of a metric."""
        return self.metrics.get(metric, self.general)

    def with_metrics(self, relative: Mapping[str, float]) -> Tolerances:
        """Return others, in which metrics have relative tolerances of their own."""
        own = {name: Tolerance(value, named=True) for name, value in relative.items()}
        return replace(self, metrics={**self.metrics, **own})


def is_tolerance(value: object) -> bool:
    """Whether a value can be a limit: a finite number, 0 or more."""
    return _is_number(value) and 0 <= value < math.inf  # type: ignore[operator]


class ToleranceFile:
    """``tolerances.toml``: what holds for all scenarios of a directory, and for single ones.

    Parameters
    ----------
    document : mapping
        As `tomllib` reads it.
    file, text : Path and str
        For messages.

    Raises
    ------
    ScenarioError
        A key is unknown or a value cannot be a tolerance.
    """

    def __init__(self, document: Mapping[str, Any], file: Path, text: str = "") -> None:
        self._document, self._file, self._text = document, file, text
        self._check(document, (), (*_GENERAL, "scenarios"))
        scenarios = document.get("scenarios", {})
        if not isinstance(scenarios, dict):
            raise self._error(("scenarios",), "write a table, [scenarios.NAME]")
        for name, table in scenarios.items():
            if not isinstance(table, dict):
                raise self._error(("scenarios", name), f"write a table, [scenarios.{name}]")
            self._check(table, ("scenarios", name), _GENERAL)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Names of the scenarios that have tolerances of their own."""
        return tuple(self._document.get("scenarios", {}))

    def metrics_named(self, scenario: str | None = None) -> list[tuple[str, str]]:
        """Return metrics that have tolerances of their own, with the places where these stand.

        Parameters
        ----------
        scenario : str, optional
            Those of a scenario; without, those that hold for all.
        """
        path = () if scenario is None else ("scenarios", scenario)
        table = self._document
        for step in path:
            table = table.get(step, {})
        return [(name, self._place((*path, "metrics", name))) for name in table.get("metrics", {})]

    def place_of(self, scenario: str) -> str:
        """Return where the table of a scenario stands: the file and its line."""
        return self._place(("scenarios", scenario))

    def of(
        self, scenario: str, relative: float | None = None, absolute: float | None = None
    ) -> Tolerances:
        """Return the tolerances of a scenario.

        Parameters
        ----------
        scenario : str
            Name of its file, without the suffix.
        relative, absolute : float, optional
            Instead of the file's general ones; metrics keep their own.
        """
        own = self._document.get("scenarios", {}).get(scenario, {})
        found: dict[str, Any] = {}
        metrics: dict[str, Tolerance] = {}
        for table in (self._document, own):
            found |= {key: table[key] for key in (*_LIMITS, "activities") if key in table}
            for name, value in table.get("metrics", {}).items():
                limits = value if isinstance(value, dict) else {"relative": value}
                metrics[name] = Tolerance(**limits, named=True)
        given = {"relative": relative, "absolute": absolute}
        found |= {name: value for name, value in given.items() if value is not None}
        most = found.pop("activities", ACTIVITIES)
        return Tolerances(Tolerance(**found), metrics, most)

    def _check(self, table: Mapping[str, Any], path: tuple[str, ...], known: Any) -> None:
        """Refuse what a table must not have."""
        for key, value in table.items():
            place = (*path, key)
            if key not in known:
                hint = perhaps(key, known) or f"the keys here are {', '.join(known)}"
                raise self._error(place, hint, "unknown key ")
            if key in _LIMITS and not is_tolerance(value):
                raise self._error(place, "give a number, 0 or more")
            if key == "activities" and (type(value) is not int or value < 0):
                raise self._error(place, "give the number of activities to record at most")
            if key == "metrics":
                self._check_metrics(value, place)

    def _check_metrics(self, table: Any, path: tuple[str, ...]) -> None:
        """Refuse what is no tolerance of a metric."""
        if not isinstance(table, dict):
            raise self._error(path, "write a table of metrics")
        for name, value in table.items():
            if isinstance(value, dict):
                self._check(value, (*path, name), _LIMITS)
            elif not is_tolerance(value):
                raise self._error(
                    (*path, name), "give a number, or { relative = ..., absolute = ... }"
                )

    def _place(self, path: tuple[str, ...]) -> str:
        """Return where a key stands."""
        line = toml_line(self._text, path) if self._text else None
        return f"{self._file}:{line}" if line else str(self._file)

    def _error(self, path: tuple[str, ...], remedy: str, what: str = "") -> ScenarioError:
        """Return an exception about a key."""
        key, value = ".".join(path), self._document
        for step in path:
            value = value[step]
        message = f"{what}{key!r}" if what else f"{key} is {value!r}"
        line = toml_line(self._text, path) if self._text else None
        return ScenarioError(message, file=self._file, line=line, remedy=remedy)


def load_tolerances(path: str | os.PathLike[str]) -> ToleranceFile:
    """Read ``tolerances.toml``; a file that is not there says nothing.

    Raises
    ------
    ScenarioError
        It cannot be read, or says something wrong.
    """
    file = Path(path)
    if not file.exists():
        return ToleranceFile({}, file)
    document, text = read_toml(file)
    return ToleranceFile(document, file, text)


def _is_number(value: object) -> bool:
    """Whether a value can be compared with a tolerance."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def remarks(
    file: ToleranceFile,
    present: Collection[str],
    metrics: Mapping[str, Collection[str]],
    *,
    is_whole: bool,
) -> Iterator[str]:
    """Yield what is odd about a file of tolerances.

    Parameters
    ----------
    file : ToleranceFile
        Of one directory.
    present : collection of str
        Names of all scenarios of the directory, without suffixes.
    metrics : mapping of str to collection of str
        Of each scenario that ran, the metrics that it has. What did not run may have any.
    is_whole : bool
        Whether these are all of the directory; else a metric may be one of the others.
    """
    for name in sorted(set(file.scenarios) - set(present)):
        yield _ending(f"{file.place_of(name)}: there is no scenario {name!r}", name, present)
    for scenario, known in metrics.items():
        for name, place in file.metrics_named(scenario):
            if name not in known:
                yield _ending(f"{place}: {scenario} has no metric {name!r}", name, known)
    if is_whole:
        every = {name for known in metrics.values() for name in known}
        for name, place in file.metrics_named():
            if name not in every:
                yield _ending(f"{place}: no scenario has a metric {name!r}", name, every)


def remarks_on_options(names: Collection[str], metrics: Collection[str]) -> Iterator[str]:
    """Yield which metrics of the command's tolerances no run has."""
    for name in sorted(set(names) - set(metrics)):
        yield _ending(f"--tolerance: no run has a metric {name!r}", name, metrics)


def scenarios_in(directory: Path) -> set[str]:
    """Return the names of the TOML files of a directory."""
    return {path.stem for path in directory.glob("*.toml")}


def _ending(text: str, name: str, known: Collection[str]) -> str:
    """Add what may be meant."""
    near = perhaps(name, known)
    return f"{text}; {near}" if near else text
