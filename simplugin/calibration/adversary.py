"""Claims that one scheduler beats another, or is near a bound: how far they hold, and where not."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from scipy.stats import binomtest

from simplugin.calibration.annealing import Instance, InstanceSpace, Variable, anneal
from simplugin.calibration.evaluation import StudyJobs, StudyRuns
from simplugin.calibration.scenario_text import scenario_text
from simplugin.calibration.search import design
from simplugin.calibration.study import (
    leaves,
    misplaced,
    parameter_tables,
    read_study,
    written,
)
from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.campaign_checks import refuse_wrong_values
from simplugin.campaigns.jobs import RunJob, Runners
from simplugin.core.errors import ScenarioError
from simplugin.core.formatting import percent, readable
from simplugin.inputs.messages import InputProblem, InvalidValueError, dotted
from simplugin.inputs.messages import Path as Keys
from simplugin.inputs.quantities import POSITIVE, Time
from simplugin.inputs.sections import SchedulerSection, Section
from simplugin.scenarios.ranges import ParameterTable
from simplugin.scenarios.scenario import scenario_error
from simplugin.scenarios.substitutions import path_of
from simplugin.scenarios.sweeps import KeyAssignment, Variation, Variations

TABLE = "adversary"
BOUND = "bound"
SEARCHES = "searches"
Settings = tuple[KeyAssignment, ...]
# Equal values may differ in their last digits.
_ROUNDING = 1 + 1e-9
_SIMULATION = {"seeds": ("simulation", "seed"), "orders": ("simulation", "order")}


class AdversarySection(Section):
    """``[adversary]`` of a study.

    Attributes
    ----------
    against : str or SchedulerSection
        The scheduler with which that of the scenario is compared, by its name or as a table with
        parameters; or ``bound``, the optimum or proven bound of the metric.
    metric : str
        The metric.
    sense : {"min", "max"}
        Its better direction.
    claim : float
        The largest ratio that is claimed: of the scheduler's metric to the other, or the reverse
        if more is better. 0.95 claims that it beats the other by 5 %.
    parameters : dict
        Dotted keys of the scenario, each with a `ParameterTable`, which at an array is the range of
        each of its numbers. At the ``edges`` of a graph that is written out it is that of their
        data, and edges are added and removed.
    evaluations : int
        Instances that all searches try together.
    restarts : int
        Number of searches, which start at the worst of the draws; at most `draws` and
        `evaluations`.
    draws : int
        Low-discrepancy draws of the parameters.
    seeds, orders : int
        Seeds of the simulation, and orders of actors that are ready at one date, that are tried.
    seconds : float, optional
        Maximum sum of the real time of all runs [s]; when it is spent, searches end.
    seed : int
        Seed of draws and searches.
    """

    against: str | SchedulerSection
    metric: str = "makespan"
    sense: Literal["min", "max"] = "min"
    claim: Annotated[float, POSITIVE] = 1.0
    parameters: Annotated[dict[str, Any], Field(min_length=1)]
    evaluations: Annotated[int, Field(ge=1)] = 1000
    restarts: Annotated[int, Field(ge=1)] = 4
    draws: Annotated[int, Field(ge=1)] = 64
    seeds: Annotated[int, Field(ge=0)] = 20
    orders: Annotated[int, Field(ge=0)] = 20
    seconds: Annotated[Time, POSITIVE] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _enough(self) -> AdversarySection:
        """Raise if some search has no draw to start at, or no evaluation."""
        if self.restarts > (most := min(self.draws, self.evaluations)):
            message = f"{{key}} is {self.restarts}, of {self.draws} draws and"
            message += f" {self.evaluations} evaluations"
            raise InvalidValueError(message, f"give at most {most}", ("restarts",))
        return self

    @property
    def other(self) -> dict[str, Any]:
        """``[scheduler]`` of the other scheduler."""
        if isinstance(self.against, str):
            return {"name": self.against}
        return self.against.model_dump(exclude_unset=True)

    @property
    def opponent(self) -> str:
        """The other scheduler, or "bound"."""
        return _named(self.other)


@dataclass(frozen=True)
class AdversaryStudy:
    """A scenario, a claim on its scheduler, and the ranges in which it is tried.

    Attributes
    ----------
    section : AdversarySection
        Its table.
    campaign : Campaign
        The scenario, with the store and the limits of runs.
    space : InstanceSpace
        The instances.
    """

    section: AdversarySection
    campaign: Campaign
    space: InstanceSpace

    @property
    def scheduler(self) -> str:
        """The scheduler that the claim is about."""
        return _named(self.campaign.variations.document["scheduler"])

    @property
    def claim(self) -> str:
        """The claim in words."""
        ratio, rest = self.section.claim, f"{self.section.opponent} on {self.section.metric}"
        if ratio < 1:
            return f"{self.scheduler} beats {rest} by {percent(1 - ratio)}"
        how = "no worse than" if ratio == 1 else f"at most {ratio:g} times as bad as"
        return f"{self.scheduler} is {how} {rest}"

    def settings(self, instance: Instance) -> Settings:
        """Return the assignments of an instance."""
        document, given = self.campaign.variations.document, self.section.parameters
        return tuple(
            KeyAssignment(
                path_of(document, [key]), value, (TABLE, "parameters", *written(given, key))
            )
            for key, value in self.space.values(instance).items()
        )

    def opposed(self, settings: Settings) -> Settings:
        """Return assignments with those of the other scheduler; the same against the bound."""
        if self.section.against == BOUND:
            return settings
        return (*settings, KeyAssignment(("scheduler",), self.section.other, (TABLE, "against")))


def _named(scheduler: Mapping[str, Any]) -> str:
    """Return the name of a scheduler, with its parameters."""
    given = scheduler.get("parameters", {})
    words = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    return f"{scheduler['name']} ({words})" if words else str(scheduler["name"])


def load_adversary(file: str | os.PathLike[str], *, trust: Iterable[str] = ()) -> AdversaryStudy:
    """Read a study: a campaign file with ``[adversary]``, without sweeps and variations.

    Raises
    ------
    ScenarioError
        The file or a key is invalid.
    """
    place, trust = Path(file), tuple(trust)
    section, campaign = read_study(place, TABLE, AdversarySection, trust)
    document, text = campaign.variations.document, campaign.text
    tables = parameter_tables(section.parameters, ParameterTable, TABLE, place, text)
    keys = {"parameters": [dotted(words) for words, _ in leaves(section.parameters)]}
    problems = misplaced(section, TABLE, keys, document)
    if problems:
        raise scenario_error(problems, place, text)
    if "scheduler" not in document:
        raise ScenarioError("there is no [scheduler]", file=place, remedy="add the one to try")
    if section.other == document["scheduler"]:
        message = "{key} is the scheduler of the scenario"
        problems.append(InputProblem((TABLE, "against"), message, "name another one"))
    variables = {}
    for key, table in tables.items():
        source = (TABLE, "parameters", *written(section.parameters, key))
        path = path_of(document, [key])
        if path[0] == "scheduler":
            message = "{key} is of the scheduler, which is not the same in both runs"
            problems.append(InputProblem(source, message, "remove it"))
        elif (found := _variable(document, path, table)) is None:
            message = "{key} is at an array that has other than numbers"
            problems.append(InputProblem(source, message, "name one of its numbers"))
        else:
            variables[key] = found
    if problems:
        raise scenario_error(problems, place, text)
    study = AdversaryStudy(section, campaign, InstanceSpace(variables))
    # Both ends of all ranges, and the other scheduler.
    ends = (study.space.at([share] * study.space.dimensions) for share in (0.0, 1.0))
    tried = tuple(Variation(study.opposed(study.settings(each))) for each in ends)
    refuse_wrong_values(Variations(document, tried), place, text, trust, imports=True)
    return study


def _variable(document: Mapping[str, Any], path: Keys, table: ParameterTable) -> Variable | None:
    """Return the variable at a place of a scenario; None if its value cannot be one."""
    value: Any = document
    above: Any = document
    step: Any
    for step in path:
        above, value = value, value[step] if isinstance(value, list) else value.get(step, {})
    if not isinstance(value, list) or table.choices is not None:
        return Variable(table)
    if path[:2] == ("workload", "graphs") and path[-1] == "edges":
        ends = tuple((int(each[0]), int(each[1])) for each in value)
        return Variable(table, ends, True, len(above["flop"]))
    if not all(isinstance(each, int | float | str) for each in value):
        return None
    return Variable(table, ((),) * len(value), True)


@dataclass(frozen=True)
class Outcome:
    """Both values of a case.

    Attributes
    ----------
    settings : tuple of KeyAssignment
        Keys and their values.
    ratio : float
        Of both metrics, above 1 if the scheduler is worse; 1 of two zeros, infinite if only the
        better one is 0. Minus infinity if a run failed, or a metric is negative.
    value, other : float, optional
        Metric of the scheduler, and of the other or its bound.
    """

    settings: Settings
    ratio: float
    value: float | None = None
    other: float | None = None

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        keys = {dotted(each.path): each.value for each in self.settings}
        return {**vars(self), "settings": keys, "ratio": ratio_cell(self.ratio)}


@dataclass(frozen=True)
class RobustnessCheck:
    """The claim in several cases of one kind.

    Attributes
    ----------
    name : {"seeds", "orders", "draws", "searches"}
        The kind; the cases of the last are the best instance of each search.
    outcomes : tuple of Outcome
        The cases.
    claim : float
        The largest ratio that is claimed.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    claim: float

    @property
    def held(self) -> int:
        """Number of cases in which the claim holds."""
        return sum(0 <= each.ratio <= self.claim * _ROUNDING for each in self.outcomes)

    @property
    def failed(self) -> int:
        """Number of cases without a ratio, which tell nothing about the claim."""
        return sum(each.ratio < 0 for each in self.outcomes)

    @property
    def cases(self) -> int:
        """Number of cases with a ratio."""
        return len(self.outcomes) - self.failed

    @property
    def no_effect(self) -> bool:
        """True if seeds or orders change no ratio, other than by rounding."""
        known = [each.ratio for each in self.outcomes if each.ratio >= 0]
        return self.name in _SIMULATION and (not known or max(known) <= min(known) * _ROUNDING)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of 95 % of the share of cases in which the claim holds, by Wilson.

        None for instances that were searched, and without effect.
        """
        if self.name == SEARCHES or self.no_effect or not self.cases:
            return None
        found = binomtest(self.held, self.cases).proportion_ci(method="wilson")
        return float(found.low), float(found.high)

    @property
    def worst(self) -> Outcome:
        """The case of the largest ratio."""
        return max(self.outcomes, key=lambda each: each.ratio)

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.name,
            "held": self.held,
            "cases": self.cases,
            "failed": self.failed,
            "interval": self.interval,
            "outcomes": [each.document() for each in self.outcomes],
        }


@dataclass(frozen=True)
class Robustness:
    """Result of trying a claim.

    Attributes
    ----------
    study : AdversaryStudy
        The claim.
    unit : str
        Of the metric.
    nominal : Outcome
        In the scenario as it is.
    checks : tuple of RobustnessCheck
        Over seeds, orders, drawn parameters, and the best instance of each search.
    histories : tuple of tuple of float
        Ratios that each search tried, in order; minus infinity where a run failed.
    runs, failed : int
        Numbers of runs.
    failure : str
        The first failure; empty if there is none.
    seconds : float
        Sum of their real time [s].
    """

    study: AdversaryStudy
    unit: str
    nominal: Outcome
    checks: tuple[RobustnessCheck, ...]
    histories: tuple[tuple[float, ...], ...]
    runs: int
    failed: int
    failure: str
    seconds: float

    @property
    def counterexample(self) -> Outcome:
        """The case of the largest ratio of all."""
        return max(self.nominal, *(each.worst for each in self.checks), key=lambda each: each.ratio)

    def in_words(self, outcome: Outcome) -> str:
        """Return the values of an outcome in words."""
        value, other = (readable(each, self.unit) for each in (outcome.value, outcome.other))
        section = self.study.section
        return f"{section.metric} {value} of {self.study.scheduler}, {other} of {section.opponent}"

    def document(self) -> dict[str, Any]:
        """Return the result as plain data for JSON."""
        return {
            **{
                name: getattr(self, name)
                for name in ("unit", "runs", "failed", "failure", "seconds")
            },
            "claim": self.study.claim,
            "nominal": self.nominal.document(),
            "checks": [each.document() for each in self.checks],
            "counterexample": self.counterexample.document(),
            "histories": [list(map(ratio_cell, each)) for each in self.histories],
        }


def ratio_of(value: float, other: float) -> float:
    """Return the ratio of two metrics, as `Outcome` has it."""
    if not (value >= 0 and other >= 0 and math.isfinite(value + other)):
        return -math.inf
    if other == 0:
        return math.inf if value else 1.0
    return value / other


def ratio_text(ratio: float) -> str:
    """Return a ratio with few digits."""
    cell = ratio_cell(ratio)
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def ratio_cell(ratio: float) -> float | str | None:
    """Return a ratio as JSON and tables have it; None if there is none."""
    if ratio < 0:
        return None
    return ratio if math.isfinite(ratio) else "infinite"


class _Contest(StudyRuns):
    """Runs of both schedulers in cases of a study."""

    def __init__(
        self,
        study: AdversaryStudy,
        store: Path,
        runners: Runners,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.study, self.unit = study, ""
        section = study.section
        cases = section.evaluations + section.draws + section.seeds + section.orders + 1
        total = cases * (1 if section.against == BOUND else 2)
        source = StudyJobs.of(study.campaign, [TABLE, section.model_dump(exclude={"claim"})], total)
        super().__init__(source, store, runners, stop)

    def outcomes(self, cases: Sequence[Settings]) -> list[Outcome]:
        """Return the outcomes of cases."""
        jobs = [[self._job(case), self._job(self.study.opposed(case))] for case in cases]
        self.do([job for both in jobs for job in both])
        return [self._outcome(case, *both) for case, both in zip(cases, jobs, strict=True)]

    def _job(self, settings: Settings) -> RunJob:
        """Return the run with some assignments."""
        varied = {dotted(each.path): each.value for each in settings}
        return self.study.campaign.job_with(settings, 0, varied)

    def _outcome(self, case: Settings, job: RunJob, opposed: RunJob) -> Outcome:
        """Return the outcome of both runs of a case."""
        section = self.study.section
        row = self.row(job)
        other_row = row if opposed.key == job.key else self.row(opposed)
        if row is None or other_row is None:
            return Outcome(case, -math.inf)
        value = self.number(row, section.metric, (TABLE, "metric"))
        self.unit = row.metric(section.metric).unit
        if section.against != BOUND:
            other = self.number(other_row, section.metric, (TABLE, "metric"))
        elif row.best is not None and row.best.metric == section.metric:
            other = row.best.value
        else:
            campaign, remedy = self.study.campaign, "name a scheduler, or another metric"
            message = f"{{key}} is 'bound', and {section.metric} has none"
            problem = InputProblem((TABLE, "against"), message, remedy)
            raise scenario_error([problem], campaign.place, campaign.text)
        above, below = (value, other) if section.sense == "min" else (other, value)
        return Outcome(case, ratio_of(above, below), value, other)


def try_claim(
    study: AdversaryStudy,
    runners: Runners,
    *,
    store: Path | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Robustness:
    """Try a claim over seeds, orders and parameters, and search for where it fails most.

    The same call continues a study that was killed.

    Parameters
    ----------
    study : AdversaryStudy
        The study.
    runners : Runners
        Runners of its runs, local or of a cluster.
    store : Path, optional
        The store, if it is not that of the study.
    stop : callable, optional
        True to stop.
    tell : callable
        Called with a line on the progress.

    Raises
    ------
    InterruptedStudyError
        `stop` returned True.
    ScenarioError
        The scenario as it is fails, or a metric does not exist.
    """
    section, space = study.section, study.space
    contest = _Contest(study, study.campaign.results(store), runners, stop)
    [nominal] = contest.outcomes([()])
    if nominal.ratio < 0:
        why = contest.failure or f"{section.metric} is negative or infinite"
        message = f"the scenario as it is has no ratio; {why}"
        raise ScenarioError(message, file=study.campaign.place, remedy="correct it first")
    cases: dict[str, list[Settings]] = {
        name: [(KeyAssignment(path, at, (TABLE, name)),) for at in range(getattr(section, name))]
        for name, path in _SIMULATION.items()
    }
    points = design("sobol", space.dimensions, section.draws, section.seed)
    drawn = [space.at(point) for point in points]
    cases["draws"] = [study.settings(each) for each in drawn]
    tell("seeds, orders and draws")
    found = {name: contest.outcomes(each) for name, each in cases.items() if each}
    pairs = zip(drawn, (each.ratio for each in found["draws"]), strict=True)

    def ratios(instances: Sequence[Instance]) -> list[float]:
        """Return the ratios of instances."""
        losses = [each.ratio for each in contest.outcomes(list(map(study.settings, instances)))]
        tell(f"searches; {contest.runs} runs, largest ratio of these {max(losses):.4g}")
        return losses

    searches = anneal(
        space,
        sorted(pairs, key=lambda pair: -pair[1])[: section.restarts],
        ratios,
        evaluations=section.evaluations,
        seed=section.seed,
        spent=lambda: contest.seconds >= (section.seconds or math.inf),
    )
    found[SEARCHES] = contest.outcomes([study.settings(each.instance) for each in searches])
    contest.conclude()
    return Robustness(
        study=study,
        unit=contest.unit,
        nominal=nominal,
        checks=tuple(
            RobustnessCheck(name, tuple(each), section.claim) for name, each in found.items()
        ),
        histories=tuple(each.history for each in searches),
        runs=contest.runs,
        failed=contest.failed,
        failure=contest.failure,
        seconds=contest.seconds,
    )


def worst_scenarios(found: Robustness) -> dict[Path, str]:
    """Return the files of the counterexample and their texts: of either scheduler one."""
    study, worst = found.study, found.counterexample
    place = study.campaign.place
    settings = {"worst": worst.settings}
    if study.section.against != BOUND:
        settings["worst.against"] = study.opposed(worst.settings)
    comment = f"Found by {place.name}: {found.in_words(worst)}, ratio {worst.ratio!r}"
    texts = {}
    for name, each in settings.items():
        document = study.campaign.variations.scenario(each)
        document.pop("output", None)
        texts[place.with_name(f"{place.stem}.{name}.toml")] = scenario_text(document, comment)
    return texts
