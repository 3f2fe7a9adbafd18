"""The flat row of numbers of a scenario's run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import html_table, percent, readable
from simplugin.core.name_suggestions import did_you_mean

# Metrics that are not shown if they are 0.
_ZERO_IS_SILENT = {"actors_killed", "activities_failed", "activities_cancelled"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a run.

    Attributes
    ----------
    name : str
        In snake_case, unique in its row.
    value : float, int, str or None
        None if the run lacks it.
    unit : str
        SimGrid's symbol (``s``, ``flop``, ``byte``, ``J``), ``%`` for a ratio in percent, empty for
        counts and plain ratios.
    sense : {"min", "max"}, optional
        The better direction, if known.
    """

    name: str
    value: float | int | str | None
    unit: str = ""
    sense: Literal["min", "max"] | None = None


@dataclass(frozen=True, slots=True)
class Best:
    """Best possible value of a metric.

    Attributes
    ----------
    metric : str
        Name of the metric concerned.
    value : float
        The best value, in the metric's unit.
    proof : {"optimum", "bound"}
        A schedule reaches an optimum; none can pass a bound.
    sense : {"min", "max"}
        The better direction.
    """

    metric: str
    value: float
    proof: Literal["optimum", "bound"] = "optimum"
    sense: Literal["min", "max"] = "min"

    def gap(self, value: float) -> float:
        """Return the relative distance of `value` from the best; negative if it is better."""
        distance = value - self.value if self.sense == "min" else self.value - value
        if distance == 0:
            return 0.0
        return distance / abs(self.value) if self.value else float("inf") * distance


@dataclass(frozen=True)
class Row:
    """The record of a run: metrics, the best possible value, and provenance.

    Plain data: it pickles and becomes JSON.

    Attributes
    ----------
    metrics : tuple of Metric
        In display order.
    provenance : dict
        Seed, versions, SimGrid options in force, hashes of the platform and of the contents.
    best : Best, optional
        The optimum, or a bound, of one of the metrics.

    Raises
    ------
    SimpluginError
        Two metrics share a name, or `best` names none of them.
    """

    metrics: tuple[Metric, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    best: Best | None = None

    def __post_init__(self) -> None:
        """Raise if names of metrics are not distinct."""
        object.__setattr__(self, "metrics", tuple(self.metrics))
        names = [metric.name for metric in self.metrics]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise SimpluginError(f"metric {min(twice)!r} is twice in a row; name them apart")
        if self.best is not None:
            self.metric(self.best.metric)

    def __iter__(self) -> Iterator[Metric]:
        """Iterate over the metrics."""
        return iter(self.metrics)

    def metric(self, name: str) -> Metric:
        """Return a metric by its name."""
        known = {metric.name: metric for metric in self.metrics}
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
            raise SimpluginError(f"there is no metric {name!r}; {hint}")
        return known[name]

    def __getitem__(self, name: str) -> float | int | str | None:
        """Return the value of a metric."""
        return self.metric(name).value

    @property
    def gap(self) -> float | None:
        """Relative distance of the metric from the best; None if unknown."""
        if self.best is None:
            return None
        value = self[self.best.metric]
        return self.best.gap(value) if isinstance(value, float | int) else None

    def flat(self) -> dict[str, float | int | str | None]:
        """Return names and values on one level: the columns of a table of runs."""
        columns = {metric.name: metric.value for metric in self.metrics}
        best = self.best
        columns["optimum"] = best.value if best and best.proof == "optimum" else None
        columns["bound"] = best.value if best and best.proof == "bound" else None
        columns["gap"] = self.gap
        return columns

    def lines(self) -> list[tuple[str, str]]:
        """Return names and formatted values, with the best value and the gap to it."""
        lines = []
        for metric in self:
            value = metric.value
            if value is None or (metric.name in _ZERO_IS_SILENT and not value):
                continue
            of_hosts = metric.name == "utilisation" and not metric.unit
            ratio = isinstance(value, float) and (of_hosts or metric.unit == "%")
            shown = percent(float(value)) if ratio else readable(value, metric.unit)
            name = "utilisation of used hosts" if of_hosts else metric.name.replace("_", " ")
            lines.append((name, shown))
        if self.best is not None:
            what = f"{self.best.proof} of {self.best.metric.replace('_', ' ')}"
            lines.append((what, readable(self.best.value, self.metric(self.best.metric).unit)))
            lines.append(("gap", percent(self.gap)))
        return lines

    def _repr_html_(self) -> str:
        """Show the row in a notebook."""
        lines = self.lines()
        return html_table((("metric", ""), ("value", "")), lines, len(lines), most=len(lines))

    def document(self) -> dict[str, Any]:
        """Return the row as plain containers, for JSON."""
        return {
            "metrics": {
                metric.name: {"value": metric.value, "unit": metric.unit} for metric in self
            },
            "best": self.best and asdict(self.best),
            "gap": self.gap,
            "provenance": dict(self.provenance),
        }


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run.

    Attributes
    ----------
    row : Row
        Metrics, optimum or bound, provenance.
    digest : str, optional
        SHA-256 of the whole result, the same wherever it was computed.
    contents : mapping, optional
        What is kept besides, for reports; as JSON has it.
    """

    row: Row
    digest: str | None = None
    contents: Mapping[str, Any] | None = None
