"""Contents of a report as plain data."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from simplugin.core.errors import SimpluginError, UnitError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.core.units import has_unit, parse_bandwidth, parse_size, parse_speed, parse_time
from simplugin.results.charts import ScheduleChart
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable

Value = float | int | str | bool | None
Role = Literal["varied", "metric", "other"]

# Maximum number of values of a column that groups runs by default.
_MOST_GROUPS = 24
# Parameters of one scheduler are undefined for the runs of another.
SCHEDULER, ITS_PARAMETERS = "scheduler.name", "scheduler.parameters."
# How names of columns about the scheduler begin.
OF_SCHEDULERS = "scheduler"
_SEED = "seed"
# Capacities are the usual amounts of computation with a unit.
_PARSERS: Mapping[str, Callable[[str], float]] = {
    "flop/s": parse_speed, "byte/s": parse_bandwidth, "byte": parse_size, "s": parse_time
}  # fmt: skip
# The group of runs without a value in the column of the groups.
NO_VALUE = "(none)"
# Sizes between which JavaScript writes numbers without exponents.
_LEAST_PLAIN, _MOST_PLAIN = 1e-6, 1e21


@dataclass(frozen=True, eq=False)
class Column:
    """One thing that is known of each run.

    Attributes
    ----------
    name : str
        Unique in its report.
    values : sequence
        One a run; None where it is missing.
    unit : str
        SimGrid's symbol, empty for counts, ratios and texts.
    role : {"varied", "metric", "other"}
        A varied parameter, a result, or additional information.
    sense : {"min", "max"}, optional
        Direction of improvement, if known.
    label : str
        Name in figures and on the page; by default `name`.
    """

    name: str
    values: Sequence[Value]
    unit: str = ""
    role: Role = "metric"
    sense: Literal["min", "max"] | None = None
    label: str = ""

    @property
    def shown(self) -> str:
        """The name in figures and on the page."""
        return self.label or self.name

    @property
    def numeric(self) -> bool:
        """True if there is a value and all present values are numbers."""
        present = [value for value in self.values if value is not None]
        return bool(present) and all(
            isinstance(value, float | int) and not isinstance(value, bool) for value in present
        )

    def amounts(self) -> tuple[Sequence[float | None], str] | None:
        """Return the values as numbers, and their unit; None if they are no numbers.

        Texts with a unit, such as ``125MBps``, are numbers here, in SimGrid's unit.
        """
        present = [value for value in self.values if value is not None]
        if self.numeric:
            return [None if value is None else float(value) for value in self.values], self.unit
        if not present or not all(isinstance(each, str) and has_unit(each) for each in present):
            return None
        for unit, parse in _PARSERS.items():
            with suppress(UnitError):
                return [None if each is None else parse(str(each)) for each in self.values], unit
        return None

    def distinct(self) -> list[Value]:
        """Return the distinct present values: sorted numbers, or other values in their order."""
        found: dict[Hashable, Value] = {}
        for value in self.values:
            if value is not None:
                found.setdefault(identity(value), value)
        return sorted(found.values(), key=_by_size) if self.numeric else list(found.values())

    def names(self) -> dict[Hashable, str]:
        """Return the texts of the distinct values, by `identity`.

        Texts that could be another value, or none, are in quotes.
        """
        values = self.distinct()
        others = {_written(value) for value in values if not isinstance(value, str)}
        if None in self.values:
            others.add(NO_VALUE)
        return {
            identity(value): f'"{value}"' if isinstance(value, str) and value in others
            else _written(value)
            for value in values
        }  # fmt: skip

    def place_of(self, value: Value) -> int | None:
        """Return the position of a value among the distinct ones; missing values come last."""
        found = self.distinct()
        places = {identity(each): place for place, each in enumerate(found)}
        if value == NO_VALUE and identity(value) not in places and None in self.values:
            return len(found)
        return places.get(identity(value))


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A run with details beyond its row.

    Attributes
    ----------
    title : str
        Name that distinguishes it from other runs.
    position : int, optional
        Its number in the campaign; None for a part of a report that is not a run.
    figures : tuple of CurvePlot
        Its curves.
    schedule : ScheduleChart, optional
        Gantt chart of the processors.
    activities : ResultTable, optional
        Activities of a run without a schedule: columns actor, resource, kind,
        label, start, end, state.
    listings : tuple of ResultTable
        Its tables.
    """

    title: str
    position: int | None = None
    figures: tuple[CurvePlot, ...] = ()
    schedule: ScheduleChart | None = None
    activities: ResultTable | None = None
    listings: tuple[ResultTable, ...] = ()


@dataclass(frozen=True, eq=False)
class CampaignReport:
    """A campaign to report: one row a run, column by column, and the kept runs.

    Attributes
    ----------
    title : str
        Above everything.
    columns : tuple of Column
        In the order in which they are shown; all as long as `position`.
    position : sequence of int
        Number of each run in the campaign.
    status : sequence of str
        ``done`` or ``failed``, one a run.
    failure, error : sequence of str
        Kind of failure and message, one a run; empty for those that are done.
    total : int
        Runs of the campaign, also those that were not tried yet.
    facts : mapping of str to str
        General facts by name: dates, versions, command.
    kept : tuple of KeptRun
        Runs with details.
    claims : mapping of str to tuple of Claim
        Claims of reproductions, by capability.
    figures : mapping of str to tuple of CurvePlot
        Figures of reproductions, by capability.
    sensitivities : tuple of ResultTable
        Sensitivity of metrics to the keys of a design, as `draw_sensitivity` has it.
    headline, heading : str
        Line below the title, by default the progress of the campaign; and heading of `kept`.
    group : str, optional
        Name of the column by which values are compared at first; chosen if None.
    baseline : str, float, int or bool, optional
        The value of that column that others are compared with; the first if None.

    Raises
    ------
    SimpluginError
        Columns are not equally long, two have one name, there is no column `group`, or it has no
        value `baseline`.
    """

    title: str
    columns: tuple[Column, ...] = ()
    position: Sequence[int] = ()
    status: Sequence[str] = ()
    failure: Sequence[str] = ()
    error: Sequence[str] = ()
    total: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[KeptRun, ...] = ()
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    figures: Mapping[str, tuple[CurvePlot, ...]] = field(default_factory=dict)
    headline: str = ""
    heading: str = "Single runs"
    sensitivities: tuple[ResultTable, ...] = ()
    group: str | None = None
    baseline: Value = None

    def __post_init__(self) -> None:
        """Raise if columns or names are inconsistent; choose the group."""
        lengths = {"status": len(self.status), "failure": len(self.failure)}
        lengths |= {"error": len(self.error)}
        lengths |= {column.name: len(column.values) for column in self.columns}
        for name, length in lengths.items():
            if length != len(self.position):
                raise SimpluginError(
                    f"column {name!r} of report {self.title!r} has {length} values,"
                    f" but there are {len(self.position)} runs"
                )
        names = [column.name for column in self.columns]
        if twice := {name for name in names if names.count(name) > 1}:
            raise SimpluginError(f"column {min(twice)!r} is twice in report {self.title!r}")
        if self.group is None:
            if variants := self._scheduler_variants():
                object.__setattr__(self, "columns", (variants, *self.columns))
            object.__setattr__(self, "group", variants.name if variants else self._usual_group())
        elif self.column(self.group).role != "varied":
            varied = ", ".join(column.name for column in self.columns_of("varied"))
            hint = f"; varied are {varied}" if varied else ""
            raise SimpluginError(
                f"runs cannot be compared by {self.group!r}, which is not varied{hint}"
            )
        self._check_baseline()

    def column(self, name: str) -> Column:
        """Return a column by its name.

        Raises
        ------
        SimpluginError
            There is no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        hint = did_you_mean(name, names) or f"there are {', '.join(names)}"
        raise SimpluginError(f"there is no column {name!r}; {hint}")

    def columns_of(self, role: Role) -> tuple[Column, ...]:
        """Return the columns of one role."""
        return tuple(column for column in self.columns if column.role == role)

    def groupings(self) -> list[str]:
        """Return the names of the columns by which runs can be grouped."""
        names = [
            column.name
            for column in self.columns_of("varied")
            if 1 < len(column.distinct()) + (None in column.values) <= _MOST_GROUPS
        ]
        return names if self.group is None or self.group in names else [self.group, *names]

    def metrics(self) -> tuple[Column, ...]:
        """Return the metrics that are numbers."""
        return tuple(column for column in self.columns_of("metric") if column.numeric)

    def _scheduler_variants(self) -> Column | None:
        """Return the schedulers with their parameters, None if their names are enough.

        They are not where runs of one scheduler differ in parameters that others do not have.
        """
        column = next((each for each in self.columns_of("varied") if each.name == SCHEDULER), None)
        if column is None:
            return None
        runs: dict[Value, list[int]] = {}
        for row, name in enumerate(column.values):
            runs.setdefault(name, []).append(row)
        own = []
        for each in self.columns_of("varied"):
            if each.name.startswith(ITS_PARAMETERS):
                values = [{identity(each.values[row]) for row in rows} for rows in runs.values()]
                if max(map(len, values)) > 1 and not set.intersection(*values) - {identity(None)}:
                    own.append(each)
        names: list[Value] = []
        for row, name in enumerate(column.values):
            given = [(each.name.removeprefix(ITS_PARAMETERS), each.values[row]) for each in own]
            texts = [f"{key} = {_written(value)}" for key, value in given if value is not None]
            names.append(f"{name} ({', '.join(texts)})" if texts else name)
        variants = Column("scheduler", names, role="varied")
        return variants if own and len(variants.distinct()) <= _MOST_GROUPS else None

    def _usual_group(self) -> str | None:
        """Choose the scheduler if it is varied, else the column with the fewest values.

        Seeds are never chosen automatically.
        """
        counts = {
            column.name: len(column.distinct())
            for column in self.columns_of("varied")
            if column.name.rpartition(".")[2] != _SEED
        }
        if counts.get(SCHEDULER, 0) > 1:
            return SCHEDULER
        most = min(_MOST_GROUPS, len(self.position) - 1)
        few = [name for name, count in counts.items() if 1 < count <= most]
        return min(few, key=lambda name: counts[name], default=None)

    def _check_baseline(self) -> None:
        """Raise unless the baseline is a value of the group's column."""
        if self.baseline is None:
            return
        if self.group is None:
            raise SimpluginError(
                f"there is nothing to compare with {self.baseline!r}: no key but seeds is varied"
                f" that has from 2 to {_MOST_GROUPS} values, each of some runs; name one as group"
            )
        column = self.column(self.group)
        if column.place_of(self.baseline) is None:
            texts = [str(value) for value in column.distinct()]
            hint = did_you_mean(str(self.baseline), texts) or f"it is {', '.join(texts)}"
            raise SimpluginError(f"{self.group} is never {self.baseline!r}; {hint}")


def identity(value: Value) -> Hashable:
    """Return a key that equal values share: 1 and 1.0 are one number, "1" and true are not."""
    if isinstance(value, bool | str) or value is None:
        return (type(value).__name__, value)
    return ("number", "nan" if math.isnan(value) else value)


def _written(value: Value) -> str:
    """Write a value as JavaScript does, which names the groups of a column of numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits = repr(float(value)).removesuffix(".0")
    if value == 0 or _LEAST_PLAIN <= abs(value) < _MOST_PLAIN:
        return format(Decimal(digits), "f").removeprefix("-" if value == 0 else "")
    return re.sub(r"e([+-])0*", r"e\1", digits)


def _by_size(value: Value) -> tuple[bool, float]:
    """Return the sort key of numbers: whole ones of any length exactly, undefined ones last."""
    assert isinstance(value, float | int)
    return (True, 0.0) if math.isnan(value) else (False, value)
