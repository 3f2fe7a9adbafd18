"""Tolerances of metrics."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from simplugin.core.errors import ScenarioError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.inputs.documents import Document
from simplugin.inputs.sections import Section
from simplugin.inputs.validation import validated
from simplugin.scenarios.loading import read_toml

RELATIVE = 1e-9
ABSOLUTE = 0.0
ACTIVITIES = 100_000


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Maximum difference of two values that agree; the larger of two limits.

    Attributes
    ----------
    relative : float
        Limit relative to the larger of the two values.
    absolute : float
        Limit in the metric's unit.
    named : bool
        True if it is the tolerance of a single metric: only then it applies to counts.
    """

    relative: float = RELATIVE
    absolute: float = ABSOLUTE
    named: bool = False

    def accepts(self, recorded: object, now: object) -> bool:
        """Return True if a value agrees; NaN equals NaN, texts and counts are exact."""
        if not _is_number(recorded) or not _is_number(now) or recorded == now:
            return recorded == now
        assert isinstance(recorded, float | int)
        assert isinstance(now, float | int)
        if isinstance(recorded, int) and isinstance(now, int) and not self.named:
            return False
        try:
            if not (math.isfinite(recorded) and math.isfinite(now)):
                return math.isnan(recorded) and math.isnan(now)
        except OverflowError:  # a count beyond the range of floats
            return False
        allowed = max(self.absolute, self.relative * max(abs(recorded), abs(now)))
        return abs(recorded - now) <= allowed


@dataclass(frozen=True)
class Tolerances:
    """The tolerance of each metric of a run.

    Attributes
    ----------
    general : Tolerance
        For metrics without a tolerance in `metrics`, and for dates and amounts of activities.
    metrics : mapping of str to Tolerance
        By the names of metrics.
    activities : int
        Maximum number of recorded activities of a run.
    """

    general: Tolerance = field(default_factory=Tolerance)
    metrics: Mapping[str, Tolerance] = field(default_factory=dict)
    activities: int = ACTIVITIES

    def of(self, metric: str) -> Tolerance:
        """Return the tolerance of a metric."""
        return self.metrics.get(metric, self.general)

    def with_metrics(self, relative: Mapping[str, float]) -> Tolerances:
        """Return tolerances with other relative tolerances of some metrics."""
        named = {name: Tolerance(value, named=True) for name, value in relative.items()}
        return replace(self, metrics={**self.metrics, **named})


def is_tolerance(value: object) -> bool:
    """Return True if a value is a finite number, 0 or more."""
    return _is_number(value) and 0 <= value < math.inf  # type: ignore[operator]


_Limit = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Limits(Section):
    """The tolerance of a metric."""

    relative: _Limit | None = None
    absolute: _Limit | None = None

    def given(self) -> dict[str, Any]:
        """Return the limits of the table."""
        return self.model_dump(include={"relative", "absolute"}, exclude_unset=True)


# A number is the relative limit.
_OfMetric = Annotated[
    _Limits, BeforeValidator(lambda each: each if isinstance(each, dict) else {"relative": each})
]


class _Table(_Limits):
    """The tolerances of a scenario."""

    activities: Annotated[int, Field(ge=0)] = ACTIVITIES
    metrics: dict[str, _OfMetric] = Field(default_factory=dict)


class _Document(_Table):
    """The tolerances of all scenarios, and of single ones."""

    scenarios: dict[str, _Table] = Field(default_factory=dict)


class ToleranceFile:
    """``tolerances.toml``: tolerances of all scenarios of a directory, and of single ones.

    Parameters
    ----------
    document : mapping
        The file as `tomllib` reads it.
    file, text : Path and str
        Its path and text, for messages.

    Raises
    ------
    ScenarioError
        A key is unknown or a value is not a tolerance.
    """

    def __init__(self, document: Mapping[str, Any], file: Path, text: str = "") -> None:
        self._file, self._read = file, Document(document, ScenarioError, file, text)
        self._general: _Document = validated(_Document, self._read)

    def of(
        self, scenario: str, relative: float | None = None, absolute: float | None = None
    ) -> Tolerances:
        """Return the tolerances of a scenario.

        Parameters
        ----------
        scenario : str
            Name of its file, without the suffix.
        relative, absolute : float, optional
            Override the general ones of the file, not those of metrics.
        """
        general, own = self._general, self._of(scenario)
        given = {"relative": relative, "absolute": absolute}
        limits = {name: value for name, value in given.items() if value is not None}
        metrics = general.metrics | own.metrics
        return Tolerances(
            Tolerance(**{**general.given(), **own.given(), **limits}),
            {name: Tolerance(**each.given(), named=True) for name, each in metrics.items()},
            (own if "activities" in own.model_fields_set else general).activities,
        )

    def warnings(
        self, present: Collection[str], metrics: Mapping[str, Collection[str]], *, is_whole: bool
    ) -> Iterator[str]:
        """Yield warnings about unknown scenarios and metrics.

        Parameters
        ----------
        present : collection of str
            Names of all scenarios of the directory, without suffixes.
        metrics : mapping of str to collection of str
            Names of the metrics of each scenario that ran.
        is_whole : bool
            True if all scenarios of the directory ran: only then all metrics are known.
        """
        for name in sorted(set(self._general.scenarios) - set(present)):
            yield self._warning(("scenarios", name), f"there is no scenario {name!r}", present)
        for scenario, known in metrics.items():
            for name in self._of(scenario).metrics:
                if name not in known:
                    path = ("scenarios", scenario, "metrics", name)
                    yield self._warning(path, f"{scenario} has no metric {name!r}", known)
        every = {name for known in metrics.values() for name in known}
        for name in self._general.metrics if is_whole else ():
            if name not in every:
                text = f"no scenario has a metric {name!r}"
                yield self._warning(("metrics", name), text, every)

    def _of(self, scenario: str) -> _Table:
        """Return the table of a scenario."""
        return self._general.scenarios.get(scenario, _Table())

    def _warning(self, path: tuple[str, ...], text: str, known: Collection[str]) -> str:
        """Return a warning about a key, with its line and a suggestion."""
        line = self._read.line(path)
        place = f"{self._file}:{line}" if line else str(self._file)
        return _ending(f"{place}: {text}", path[-1], known)


def load_tolerances(path: str | os.PathLike[str]) -> ToleranceFile:
    """Read ``tolerances.toml``; defaults apply if there is no file.

    Raises
    ------
    ScenarioError
        The file cannot be read, or is invalid.
    """
    file = Path(path)
    if not file.exists():
        return ToleranceFile({}, file)
    document, text = read_toml(file)
    return ToleranceFile(document, file, text)


def _is_number(value: object) -> bool:
    """Return True if a value can be compared with a tolerance."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def warnings_about_options(names: Collection[str], metrics: Collection[str]) -> Iterator[str]:
    """Yield warnings about metrics of the command's tolerances that no run has."""
    for name in sorted(set(names) - set(metrics)):
        yield _ending(f"--tolerance: no run has a metric {name!r}", name, metrics)


def _ending(text: str, name: str, known: Collection[str]) -> str:
    """Add a suggestion."""
    near = did_you_mean(name, known)
    return f"{text}; {near}" if near else text
