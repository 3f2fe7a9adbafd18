"""Evaluations of a study: runs of its store, each done once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.calibration.study import TABLE, Study
from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.jobs import RunJob, Runners, RunRecord
from simplugin.campaigns.keys import text_digest
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.store import Store, StoreReader, UnwritableError
from simplugin.core.errors import ScenarioError, SimpluginError
from simplugin.inputs.messages import InputProblem, suggestion
from simplugin.inputs.messages import Path as Keys
from simplugin.results.row import Row
from simplugin.scenarios.scenario import scenario_error
from simplugin.scenarios.substitutions import canonical_json
from simplugin.scenarios.sweeps import flatten

Point = tuple[float, ...]


class InterruptedStudyError(SimpluginError):
    """The study was stopped; the same call continues it."""


@dataclass(frozen=True)
class StudyJobs:
    """A batch of runs of a study; a source of jobs.

    Attributes
    ----------
    campaign : Campaign
        The scenario of the study.
    batch : tuple of RunJob
        The runs to do now; their positions go on from those of earlier batches.
    title, identity, file, text, target : str
        As in `JobSource`; the identity is that of the whole study.
    total : int
        Runs of the whole budget of evaluations; a study may need fewer or a few more.
    recipe : None
        Each job is stored with its arguments.
    """

    campaign: Campaign
    batch: tuple[RunJob, ...]
    title: str
    identity: str
    file: str
    text: str
    target: str
    total: int
    recipe: None = None

    @classmethod
    def of(cls, campaign: Campaign, contents: Any, total: int) -> StudyJobs:
        """Return the source of a study, without runs; `contents` is what distinguishes it."""
        return cls(
            campaign,
            (),
            title=campaign.title,
            identity=text_digest(campaign.identity + canonical_json(contents)),
            file=campaign.file,
            text=campaign.text,
            target=campaign.target,
            total=total,
        )

    def jobs(self) -> Iterator[RunJob]:
        """Return the runs of the batch."""
        return iter(self.batch)

    def again(self, job: RunJob) -> RunJob:
        """Return the job with its key recomputed from the current files."""
        return self.campaign.again(job)


class StudyRuns:
    """Runs of a study; those that its store has are not repeated.

    Parameters
    ----------
    source : StudyJobs
        The study, without runs.
    store : Path
        Its store.
    runners : Runners
        Runners of the runs that it does not have.
    stop : callable, optional
        True to stop.

    Attributes
    ----------
    runs, failed : int
        Numbers of runs that were looked at, and of those without values.
    seconds : float
        Sum of their real time [s], as it was recorded.
    failure : str
        The first failure; empty if there is none.
    """

    def __init__(
        self,
        source: StudyJobs,
        store: Path,
        runners: Runners,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.store, self.runners, self.stop = store, runners, stop
        self.runs = self.failed = 0
        self.seconds = 0.0
        self.failure = ""
        self._source = source
        self._records: dict[str, RunRecord] = {}
        self._counted: set[str] = set()
        self._next = 0
        if store.exists():
            self._read()

    def do(self, jobs: Sequence[RunJob]) -> None:
        """Do the runs that are not recorded, and read their results.

        Raises
        ------
        InterruptedStudyError
            `stop` returned True.
        """
        unknown = {job.key: job for job in jobs if job.key not in self._records}
        if not unknown:
            return
        campaign = self._source.campaign
        numbered = enumerate(unknown.values(), self._next)
        batch = tuple(replace(job, position=position) for position, job in numbered)
        source = replace(self._source, batch=batch)
        terms = RetryPolicy(campaign.settings.retries, keep_going=True)
        summary = run_jobs(source, self.store, self.runners, terms=terms, stop=self.stop)
        if summary.interrupted:
            raise InterruptedStudyError("stopped; the same command continues")
        self._read()
        if missing := [job for key, job in unknown.items() if key not in self._records]:
            message = f"a file on which run {missing[0].position} depends has changed"
            raise ScenarioError(message, file=campaign.place, remedy="start again")

    def row(self, job: RunJob) -> Row | None:
        """Return the row of a run that was done; None if it failed."""
        record = self._records[job.key]
        is_new = job.key not in self._counted
        self._counted.add(job.key)
        self.runs += is_new
        self.seconds += record.duration * is_new
        if record.measured is None:
            self.failed += is_new
            self.failure = self.failure or (record.failure.text if record.failure else "")
            return None
        return record.measured.row

    def number(self, row: Row, name: str, key: Keys) -> float:
        """Return a metric of a run.

        Raises
        ------
        ScenarioError
            There is no such number; the message names the key of the study that asks for it.
        """
        found = {metric.name: metric.value for metric in row}
        value = found.get(name)
        if isinstance(value, int | float):
            return float(value)
        campaign = self._source.campaign
        remedy = suggestion(name, [each for each in found if each != name], "there are")
        problem = InputProblem(key, f"{{key}}: {name!r} is no number of a run", remedy)
        raise scenario_error([problem], campaign.place, campaign.text)

    def conclude(self) -> None:
        """Tell the store that no more runs follow, though the budget has some left."""
        # One that cannot be written has it already.
        with suppress(UnwritableError), Store.open(self.store) as store:
            store.conclude(store.begin(self._source))

    def _read(self) -> None:
        """Read the records that the store has in addition."""
        with StoreReader(self.store) as reader:
            entry = reader.described(self._source.identity)
            if entry is None:
                return
            for run in reader.runs(entry.number, first=self._next):
                self._records[run.record.job.key] = run.record
                self._next = run.record.job.position + 1


class Evaluator(StudyRuns):
    """Predictions of the measured values at points of the unit cube of parameters.

    Parameters
    ----------
    study : Study
        The study.
    store, runners, stop
        As in `StudyRuns`.
    """

    def __init__(
        self, study: Study, store: Path, runners: Runners, stop: Callable[[], bool] | None = None
    ) -> None:
        self.study = study
        self._values: dict[tuple[str, int], NDArray[np.float64]] = {}
        section = study.section
        rows = [[row.name, dict(row.cells)] for row in study.rows]
        total = section.evaluations * len(rows)
        total *= math.prod(len(each) for each in section.repeats.values())
        contents = [section.model_dump(exclude={"table"}), rows]
        super().__init__(StudyJobs.of(study.campaign, contents, total), store, runners, stop)

    @cached_property
    def _repeats(self) -> list[tuple[str, Any] | None]:
        """The key that is repeated with each of its values; or None, once."""
        pairs = [(key, value) for key, each in self.study.section.repeats.items() for value in each]
        return list(pairs) or [None]

    def predict(self, points: Sequence[Point | None], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return predicted values; do the runs that are not recorded.

        Parameters
        ----------
        points : sequence of tuple of float, or None
            Points of the unit cube; None for the scenario as it is.
        rows : sequence of int
            Positions of measured rows.

        Returns
        -------
        float64, shape (n_points, n_rows, n_metrics)
            NaN for runs that failed.

        Raises
        ------
        InterruptedStudyError
            `stop` returned True.
        ScenarioError
            A run has no such metric.
        """
        settings = [{} if each is None else self.study.values(each) for each in points]
        names = [canonical_json(each) for each in settings]
        wanted = {
            (name, row): values
            for name, values in zip(names, settings, strict=True)
            for row in rows
            if (name, row) not in self._values
        }
        jobs = {case: self._jobs(values, case[1]) for case, values in wanted.items()}
        self.do([job for each in jobs.values() for job in each])
        for case, each in jobs.items():
            self._values[case] = np.mean([self._metrics(job) for job in each], axis=0)
        return np.array([[self._values[name, row] for row in rows] for name in names])

    def _jobs(self, values: Mapping[str, Any], row: int) -> list[RunJob]:
        """Return the runs of values of the parameters and of a measured row."""
        study = self.study
        cells = study.rows[row].cells
        columns = flatten("", study.section.inputs)
        fixed = [study.assignment("parameters", key, value) for key, value in values.items()]
        fixed += [study.assignment("inputs", key, cells[name]) for key, name in columns.items()]
        found = []
        for repeat in self._repeats:
            settings = [*fixed, *([] if repeat is None else [study.assignment("repeat", *repeat)])]
            varied = {"row": study.rows[row].name, **values}
            varied |= {} if repeat is None else dict([repeat])
            found.append(study.campaign.job_with(settings, 0, varied))
        return found

    def _metrics(self, job: RunJob) -> NDArray[np.float64]:
        """Return the values of the metrics of a run; NaN if it failed."""
        row = self.row(job)
        if row is None:
            return np.full(len(self.study.metrics), np.nan)
        names = self.study.metrics
        return np.array([self.number(row, name, (TABLE, "metrics", name)) for name in names])
