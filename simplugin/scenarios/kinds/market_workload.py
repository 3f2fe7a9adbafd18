"""Section ``[workload]`` of kind "bundles", and the bundles that it describes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from simplugin.core.formatting import listed, numbered
from simplugin.formats.swf import read_swf
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Size, Speed, Time, Work
from simplugin.inputs.sections import ExistingFile, Section
from simplugin.market.model import HOUR
from simplugin.results.tables import OpenPoint
from simplugin.scenarios.scenario import Scenario
from simplugin.workloads.bundles import (
    CLASSES,
    MEGA,
    Bundle,
    lcg_bundles,
    open_points,
    trace_bundles,
)

_KEY = ("workload", "bundles")
# Simulating this number of tasks takes some 10 s and 0.5 GB on one core.
MOST_TASKS = 1_000_000
# Sources of tasks, and the keys of each in addition to `name` and `release`.
_KEYS = {
    "file": ("file", "byte", "speed", "gap", "least", "first", "real_sizes", "lenient"),
    "log": ("log", "byte", "speed", "first", "real_sizes"),
    "class": ("class", "count", "copies", "period"),
    "sizes": ("flop", "byte", "count", "copies", "period"),
}


def _discounts(rate: float) -> float:
    """Raise ValueError if 1 - rate is rounded to 1."""
    if 1 - rate == 1:
        raise ValueError("give a rate from 1.2e-16 on: 1 minus it is rounded to 1")
    return rate


def _falling(factors: list[float]) -> list[float]:
    """Raise ValueError if a factor is above the one before."""
    for number, (before, after) in enumerate(pairwise(factors), start=2):
        if after > before:
            raise ValueError(f"give none above the one before: task {number} has {after:g}")
    return factors


_Part = Annotated[float, Field(ge=0, le=1)]
_Rate = Annotated[float, Field(gt=0, lt=1), AfterValidator(_discounts)]


class BundleTable(Section):
    """``[[workload.bundles]]``: a bundle, several alike, or those of a log.

    Attributes
    ----------
    name : str, optional
        Name of the bundle; by default its class or file.
    class_ : str, optional
        One of the three classes of tasks of the paper, instead of sizes: 1000 Mflop to 1 MB, 500
        to 500, and 1 to 1000.
    flop, byte : float, optional
        Sizes of a task [flop], [byte]. For jobs of a log, `byte` is the size of their data.
    count : int
        Number of tasks, up to 10^6 in all bundles of a scenario.
    release : float
        Date of submission [s]; of the first of several bundles.
    copies : int
        Number of such bundles.
    period : float
        Time from one of them to the next [s].
    file : path, optional
        A log in the Standard Workload Format, perhaps compressed.
    log : {"lcg"}, optional
        Bundles of a real log in this package, see `simplugin.workloads.bundles`.
    speed : float
        Speed of the processors of the log [flop/s].
    gap : float
        Maximum time between consecutive jobs of one user in a bundle [s].
    least : int
        Minimum number of jobs of a bundle.
    first : int, optional
        Number of bundles from the beginning of the log; None for all.
    real_sizes : bool
        True if tasks compute as long as their jobs, or for ``log = "lcg"`` as draws of the same
        variation; otherwise all compute the mean.
    lenient : bool
        True to leave out jobs of a file with invalid fields, instead of an error.
    """

    name: Annotated[str, Field(min_length=1)] | None = None
    class_: Annotated[
        Literal["computation", "neutral", "communication"] | None, Field(alias="class")
    ] = None
    flop: Annotated[Work, NOT_NEGATIVE] | None = None
    byte: Annotated[Size, NOT_NEGATIVE] | None = None
    count: Annotated[int, Field(ge=1)] = 1000
    release: Annotated[Time, NOT_NEGATIVE] = 0.0
    copies: Annotated[int, Field(ge=1)] = 1
    period: Annotated[Time, NOT_NEGATIVE] = 0.0
    file: ExistingFile | None = None
    log: Literal["lcg"] | None = None
    speed: Annotated[Speed, POSITIVE] = 1e9
    gap: Annotated[Time, NOT_NEGATIVE] = 120.0
    least: Annotated[int, Field(ge=1)] = 100
    first: Annotated[int, Field(ge=1)] | None = None
    real_sizes: bool = False
    lenient: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> BundleTable:
        """Raise ValueError unless there is one source, and all keys belong to it."""
        given = {key.rstrip("_") for key in self.model_fields_set} - {"name", "release"}
        if not given & {"file", "log", "class", "flop", "byte"}:
            raise ValueError("give a class of tasks, or flop and byte, or a file or log")
        for key in sorted(given - set(_KEYS[self.source])):
            message = f"{{key}} cannot be combined with {self.source}"
            raise InvalidValueError(message, "remove one of the two", (key,))
        if self.source == "sizes" and not self.flop and not self.byte:
            raise ValueError("tasks neither compute nor move data; give flop or byte")
        if self.copies > 1 and not self.period:
            remedy = "give a period, the time from one to the next"
            raise InvalidValueError(f"{{key}} is {self.copies}", remedy, ("copies",))
        return self

    @property
    def source(self) -> Literal["file", "log", "class", "sizes"]:
        """The source of its tasks."""
        if self.file is not None:
            return "file"
        if self.log is not None:
            return "log"
        return "sizes" if self.class_ is None else "class"


class SiteTable(Section):
    """``[[workload.sites]]``: a local scheduler and its peers, where there are several.

    Attributes
    ----------
    scheduler : str
        Its host.
    peers : list of str, optional
        Hosts of its peers; by default those of the scheduler's zone.
    name : str, optional
        Name of the site; by default that of the scheduler.
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
        Hosts of the computing peers; by default all other computing hosts that it has a route to.
    sites : list of SiteTable
        Instead of `scheduler` and `peers`: several sites below a global scheduler.
    global_scheduler : str, optional
        Its host.
    alpha : float or dict of str to float
        Discount rate, of all peers or by their names.
    discounts : list of float, optional
        Instead of alpha: values of a peer's first, second and further tasks, relative to the first,
        from 0 to 1 and not rising; the last one holds for all further tasks.
    n_max : int or dict of str to int, optional
        Maximum number of tasks of a bundle for a peer, or for peers by their names, 0 for one that
        is absent.
    lambda_ : float, optional
        The same as a multiple of the mean number of tasks, which is rounded up.
    price_unit : float
        Price of a task that takes one second [G$ s]; as a time, that of a task worth 1 G$.
    setup : float
        Time of each task before its data are sent [s].
    estimates : {"alone", "shared"}
        Bandwidths that determine prices: those of each peer alone, or those that shared links leave
        to each peer while all execute tasks of mean size.
    """

    bundles: Annotated[list[BundleTable], Field(min_length=1)]
    scheduler: str = "scheduler"
    peers: Annotated[list[str], Field(min_length=1)] | None = None
    sites: list[SiteTable] = Field(default_factory=list)
    global_scheduler: str | None = None
    alpha: _Rate | dict[str, _Rate] = 0.01
    discounts: Annotated[list[_Part], Field(min_length=1), AfterValidator(_falling)] | None = None
    n_max: Annotated[int, Field(ge=1)] | dict[str, Annotated[int, Field(ge=0)]] | None = None
    lambda_: Annotated[
        Annotated[float, Field(ge=1, allow_inf_nan=False)] | None, Field(alias="lambda")
    ] = None
    price_unit: Annotated[Time, POSITIVE] = HOUR
    setup: Annotated[Time, NOT_NEGATIVE] = 0.005
    estimates: Literal["alone", "shared"] = "alone"

    @model_validator(mode="after")
    def _sensible(self) -> BundlesWorkload:
        """Raise ValueError if keys contradict each other."""
        if self.n_max is not None and self.lambda_ is not None:
            remedy = "remove one of the two"
            raise InvalidValueError("{key} cannot be combined with n_max", remedy, ("lambda",))
        if self.discounts is not None and "alpha" in self.model_fields_set:
            remedy = "remove one of the two"
            raise InvalidValueError("{key} cannot be combined with discounts", remedy, ("alpha",))
        if bool(self.sites) != (self.global_scheduler is not None):
            raise ValueError("sites and global_scheduler go together; give both or neither")
        for key in ("scheduler", "peers"):
            if self.sites and key in self.model_fields_set:
                raise InvalidValueError("{key} cannot be combined with sites", "remove it", (key,))
        return self


LeftOpen = list[tuple[str, tuple[OpenPoint, ...]]]


def bundles_of(scenario: Scenario) -> tuple[list[Bundle], LeftOpen]:
    """Return the bundles of a scenario by date, and the facts that its logs leave open.

    Their names are those of their tables, by default their classes or files; equal names are
    numbered.

    Raises
    ------
    ScenarioError
        A log has no bundle, or there are more tasks than can be simulated.
    WorkloadFileError
        A log says something wrong.
    """
    tables: list[BundleTable] = scenario.workload.bundles
    bundles: list[Bundle] = []
    left_open: LeftOpen = []
    tasks = 0
    for place, table in enumerate(tables):
        alike = table.source in ("class", "sizes")
        if alike:
            # Before they are made: copies may be too many, too.
            _check_tasks(scenario, place, tasks + table.count * table.copies)
        made = _alike(scenario, place) if alike else _logged(scenario, place, left_open)
        tasks += sum(bundle.count for bundle in made)
        _check_tasks(scenario, place, tasks)
        bundles += made
    bundles.sort(key=lambda bundle: bundle.release)
    names = numbered(bundle.name for bundle in bundles)
    return [replace(each, name=name) for each, name in zip(bundles, names, strict=True)], left_open


def _check_tasks(scenario: Scenario, place: int, tasks: int) -> None:
    """Raise ScenarioError at the table that exceeds MOST_TASKS."""
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


def _logged(scenario: Scenario, place: int, left_open: LeftOpen) -> list[Bundle]:
    """Return the bundles of a trace or of the LCG grid, the first submitted at the release."""
    table: BundleTable = scenario.workload.bundles[place]
    byte = table.byte or 0.0
    if table.file is not None:
        name = table.file.name.partition(".")[0]
        trace = read_swf(table.file, lenient=table.lenient)
        found = trace_bundles(trace, gap=table.gap, least=table.least)[: table.first]
        points = open_points(trace, found)
        if not found:
            counts = listed(f"{each.number} {each.what.removeprefix('jobs ')}" for each in points)
            message = f"{table.file.name} has no bundle: of {len(trace)} jobs, {counts}"
            few = any("too small" in each.what for each in points)
            other = "give another log; no least and no gap can help"
            remedy = "give a smaller least or a longer gap" if few else other
            raise scenario.error(message, *_KEY, place, "file", remedy=remedy)
        left_open.append((table.file.name, points))
        made = [each.bundle(table.speed, byte, table.real_sizes) for each in found]
    else:
        assert table.log is not None
        name, made, seed = table.log, [], scenario.simulation.seed
        for number, each in enumerate(lcg_bundles()[: table.first]):
            draws = np.random.default_rng([seed, place, number]) if table.real_sizes else None
            made.append(each.bundle(table.speed, byte, draws))
    name, later = table.name or name, table.release - made[0].release
    return [replace(each, name=name, release=max(each.release + later, 0.0)) for each in made]
