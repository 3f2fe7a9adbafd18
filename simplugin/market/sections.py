"""Bundles as scenarios have them: the ``[workload]`` of kind "bundles"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator, model_validator

from simplugin.formats.swf import read_swf
from simplugin.inputs.kinds import Scenario
from simplugin.inputs.quantities import Size, Speed, Time, Work
from simplugin.inputs.sections import ExistingFile, Section
from simplugin.market.model import HOUR
from simplugin.workloads.bundles import CLASSES, MEGA, Bundle, lcg_bundles, trace_bundles

_KEY = ("workload", "bundles")
# Each is simulated: some 10 s and 0.5 GB for so many, on one core.
MOST_TASKS = 1_000_000
# What makes a bundle, and the keys that say something to it besides `name` and `release`.
_KEYS = {
    "file": ("file", "byte", "speed", "gap", "least", "first", "real_sizes"),
    "log": ("log", "byte", "speed", "first", "real_sizes"),
    "class": ("class", "count", "copies", "period"),
    "sizes": ("flop", "byte", "count", "copies", "period"),
}
_FINITE = Field(ge=0, allow_inf_nan=False)


def _rates(value: Any) -> float | dict[str, float]:
    """Read one discount rate, or a table of them."""
    given = value if isinstance(value, dict) else {"all peers": value}
    for name, rate in given.items():
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate < 1:
            raise ValueError(f"give {name} a rate between 0 and 1, or a table with one a peer")
        if 1 - rate == 1:
            raise ValueError(f"1 - {rate:g} is rounded to 1; give {name} a rate from 1.2e-16 on")
    rates: float | dict[str, float] = value
    return rates


class BundleTable(Section):
    """``[[workload.bundles]]``: a bundle, several alike, or those of a log.

    Attributes
    ----------
    name : str, optional
        By default that of the class or file.
    class_ : str, optional
        ``class``: one of the three classes of tasks of the paper, instead of sizes.
    flop, byte : float, optional
        Sizes of a task [flop], [byte]. Jobs of a log have no data but what `byte` says.
    count : int
        How many tasks.
    release : float
        When it is submitted [s]; of several bundles the first one.
    copies : int
        How many such bundles.
    period : float
        Time from one of them to the next [s].
    file : path, optional
        A log in the Standard Workload Format, gzipped or not.
    log : {"lcg"}, optional
        Bundles of a real log that come with this package, see
        `simplugin.workloads.bundles`.
    speed : float
        Of the processors on which the log was made [flop/s].
    gap : float
        Jobs of one user within that time of each other are in one bundle [s].
    least : int
        Fewer jobs make no bundle.
    first : int, optional
        How many bundles to take from the beginning of the log; all without.
    real_sizes : bool
        Whether tasks compute as long as their jobs did, or as draws that vary as much where only
        that is known; all compute the mean without.
    """

    name: Annotated[str, Field(min_length=1)] | None = None
    class_: Annotated[
        Literal["computation", "neutral", "communication"] | None, Field(alias="class")
    ] = None
    flop: Annotated[Work, _FINITE] | None = None
    byte: Annotated[Size, _FINITE] | None = None
    count: Annotated[int, Field(ge=1)] = 1000
    release: Annotated[Time, _FINITE] = 0.0
    copies: Annotated[int, Field(ge=1)] = 1
    period: Annotated[Time, _FINITE] = 0.0
    file: ExistingFile | None = None
    log: Literal["lcg"] | None = None
    speed: Annotated[Speed, Field(gt=0, allow_inf_nan=False)] = 1e9
    gap: Annotated[Time, _FINITE] = 120.0
    least: Annotated[int, Field(ge=1)] = 100
    first: Annotated[int, Field(ge=1)] | None = None
    real_sizes: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> BundleTable:
        """Refuse no source, two of them, and keys that say nothing to the one there is."""
        given = {_alias(key) for key in self.model_fields_set} - {"name", "release"}
        if not given & {"file", "log", "class", "flop", "byte"}:
            raise ValueError("give a class of tasks, or flop and byte, or a file or log")
        for key in sorted(given - set(_KEYS[self.source])):
            raise ValueError(f"{key} says nothing beside {self.source}; remove one of the two")
        if self.source == "sizes" and not self.flop and not self.byte:
            raise ValueError("tasks neither compute nor move data; give flop or byte")
        if self.copies > 1 and not self.period:
            raise ValueError("copies have a period, the time from one to the next; give it")
        return self

    @property
    def source(self) -> Literal["file", "log", "class", "sizes"]:
        """What it is made from."""
        if self.file is not None:
            return "file"
        if self.log is not None:
            return "log"
        return "sizes" if self.class_ is None else "class"


def _alias(field: str) -> str:
    """Return how a field is called in files, where Python's own words are no names of fields."""
    return field.rstrip("_")


class SiteTable(Section):
    """``[[workload.sites]]``: a local scheduler and its peers, where there are several.

    Attributes
    ----------
    scheduler : str
        Its host.
    peers : list of str, optional
        Hosts of its peers; without, those of the scheduler's zone.
    name : str, optional
        That of the scheduler without.
    """

    scheduler: str
    peers: Annotated[list[str], Field(min_length=1)] | None = None
    name: Annotated[str, Field(min_length=1)] | None = None


class BundlesWorkload(Section):
    """``[workload]`` of kind "bundles".

    Attributes
    ----------
    bundles : list of BundleTable
        At least one.
    scheduler : str
        The host of the local scheduler.
    peers : list of str, optional
        Hosts of the computing peers; all others that compute without.
    sites : list of SiteTable
        Instead of `scheduler` and `peers`: several sites below a global scheduler.
    global_scheduler : str, optional
        Its host.
    alpha : float or dict of str to float
        Discount rate, of all peers or by their names.
    n_max : int, optional
        How many tasks of a bundle a peer gets at most.
    lambda_ : float, optional
        ``lambda``: the same as a multiple of the mean number of tasks, which is rounded up.
    price_unit : float
        What a task is worth that takes one second [G$ s]; as a time, that of a task worth 1 G$.
    setup : float
        What any task takes before its data are sent [s].
    """

    bundles: Annotated[list[BundleTable], Field(min_length=1)]
    scheduler: str = "scheduler"
    peers: Annotated[list[str], Field(min_length=1)] | None = None
    sites: list[SiteTable] = Field(default_factory=list)
    global_scheduler: str | None = None
    alpha: Annotated[float | dict[str, float], PlainValidator(_rates)] = 0.01
    n_max: Annotated[int, Field(ge=1)] | None = None
    lambda_: Annotated[
        Annotated[float, Field(ge=1, allow_inf_nan=False)] | None, Field(alias="lambda")
    ] = None
    price_unit: Annotated[Time, Field(gt=0, allow_inf_nan=False)] = HOUR
    setup: Annotated[Time, _FINITE] = 0.005

    @model_validator(mode="after")
    def _sensible(self) -> BundlesWorkload:
        """Refuse keys that contradict each other."""
        if self.n_max is not None and self.lambda_ is not None:
            raise ValueError("n_max and lambda say the same; remove one of the two")
        if bool(self.sites) != (self.global_scheduler is not None):
            raise ValueError("sites and global_scheduler go together; give both or neither")
        for key in ("scheduler", "peers"):
            if self.sites and key in self.model_fields_set:
                raise ValueError(f"{key} says nothing beside sites; remove it")
        return self


def bundles_of(scenario: Scenario) -> list[Bundle]:
    """Return the bundles of a scenario of kind "bundles", by their release dates.

    They are called as their table says, else after their class or file; those of the same name are
    numbered through.

    Raises
    ------
    ScenarioError
        A log has no bundle, or there are more tasks than can be simulated.
    WorkloadFileError
        A log says something wrong.
    """
    tables: list[BundleTable] = scenario.workload.bundles
    bundles: list[Bundle] = []
    tasks = 0
    for place, table in enumerate(tables):
        if table.source in ("class", "sizes"):
            # Before they are made: copies may be too many, too.
            _check_tasks(scenario, place, tasks + table.count * table.copies)
        made = _MAKERS[table.source](scenario, place)
        tasks += sum(bundle.count for bundle in made)
        _check_tasks(scenario, place, tasks)
        bundles += made
    bundles.sort(key=lambda bundle: bundle.release)
    counts = Counter(bundle.name for bundle in bundles)
    used: Counter[str] = Counter()
    for number, bundle in enumerate(bundles):
        used[bundle.name] += 1
        if counts[bundle.name] > 1:
            bundles[number] = replace(bundle, name=f"{bundle.name}-{used[bundle.name]}")
    return bundles


def _check_tasks(scenario: Scenario, place: int, tasks: int) -> None:
    """Refuse more tasks than can be simulated, at the table with which they become too many."""
    if tasks <= MOST_TASKS:
        return
    table: BundleTable = scenario.workload.bundles[place]
    key = {"file": "file", "log": "log"}.get(table.source, "count")
    if key not in table.model_fields_set:
        key = "copies" if table.copies > 1 else table.source
    message = f"{tasks:,} tasks are too many to simulate each; at most {MOST_TASKS:,} are"
    fewer = "the first bundles of the log only" if key in ("file", "log") else "fewer"
    remedy = (
        f"give {fewer}, or allocate them without simulation, from Python:"
        " simplugin.optimum.bundle_benefit.largest_benefit, or a policy of"
        " simplugin.market.policies.shipped.POLICIES"
    )
    raise scenario.error(message, *_KEY, place, key, remedy=remedy)


def _alike(scenario: Scenario, place: int) -> list[Bundle]:
    """Return one bundle, or copies of it one period after the other."""
    table: BundleTable = scenario.workload.bundles[place]
    flop, byte = table.flop or 0.0, table.byte or 0.0
    if table.class_ is not None:
        flop, byte = (size * MEGA for size in CLASSES[table.class_])
    name = table.name or table.class_ or "bundle"
    dates = [table.release + number * table.period for number in range(table.copies)]
    return [Bundle(name, table.count, flop, byte, date) for date in dates]


def _from_file(scenario: Scenario, place: int) -> list[Bundle]:
    """Return the bundles of a trace."""
    table: BundleTable = scenario.workload.bundles[place]
    assert table.file is not None
    found = trace_bundles(read_swf(table.file), gap=table.gap, least=table.least)
    if not found:
        message = f"{table.file.name} has no {table.least} jobs of a user close to each other"
        remedy = "give a smaller least or a longer gap"
        raise scenario.error(message, *_KEY, place, "file", remedy=remedy)
    made = [
        each.bundle(table.speed, table.byte or 0.0, table.real_sizes)
        for each in found[: table.first]
    ]
    return _logged(table, table.file.name.partition(".")[0], made)


def _shipped(scenario: Scenario, place: int) -> list[Bundle]:
    """Return the bundles of the LCG grid."""
    table: BundleTable = scenario.workload.bundles[place]
    assert table.log is not None
    made = []
    for number, each in enumerate(lcg_bundles()[: table.first]):
        draws = None
        if table.real_sizes:
            draws = np.random.default_rng([scenario.simulation.seed, place, number])
        made.append(each.bundle(table.speed, table.byte or 0.0, draws))
    return _logged(table, table.log, made)


def _logged(table: BundleTable, name: str, bundles: list[Bundle]) -> list[Bundle]:
    """Name bundles of a log, and let the first of them be submitted when the table says."""
    later = table.release - bundles[0].release
    name = table.name or name
    return [replace(each, name=name, release=max(each.release + later, 0.0)) for each in bundles]


_MAKERS: dict[str, Callable[[Scenario, int], list[Bundle]]] = {
    "class": _alike,
    "sizes": _alike,
    "file": _from_file,
    "log": _shipped,
}
