"""Parallel runs of scenarios, each compared with its recorded result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from simplugin.campaigns.jobs import RunJob, RunRecord
from simplugin.campaigns.keys import code_digest
from simplugin.campaigns.running.campaign_runs import chosen_runners
from simplugin.core.errors import SimpluginError
from simplugin.regression.activities import is_complete
from simplugin.regression.comparison import MetricChange, compare, explain
from simplugin.regression.recording import TARGET, sources_of
from simplugin.regression.snapshots import Snapshot, delete_snapshot, read_snapshot, write_snapshot
from simplugin.regression.subjects import RECORDED, TOLERANCES, Found, Orphan, Subject, found_in
from simplugin.regression.tolerances import Tolerances, load_tolerances, warnings_about_options

State = Literal["ok", "moved", "new", "missing", "failed"]
WALL_LIMIT = 600.0
_POLL = 0.5


@dataclass(frozen=True)
class CheckResult:
    """The comparison of a run with its recorded result.

    Attributes
    ----------
    name : str
        Of the scenario.
    state : {"ok", "moved", "new", "missing", "failed"}
        "new" is not recorded, "missing" is recorded but there is no such scenario.
    changes : tuple of MetricChange
        One for each metric.
    explanation : tuple of str
        Lines for humans; may be empty.
    duration : float
        How long the run took [s of real time].
    recorded : bool
        True if the result was recorded now.
    file : Path, optional
        Of the recorded result.
    """

    name: str
    state: State
    changes: tuple[MetricChange, ...] = ()
    explanation: tuple[str, ...] = ()
    duration: float = 0.0
    recorded: bool = False
    file: Path | None = None

    @property
    def agrees(self) -> bool:
        """True if the record now equals the result of the run."""
        return self.state == "ok" or self.recorded

    def document(self) -> dict[str, Any]:
        """Return it as plain containers, for JSON."""
        return {
            "scenario": self.name,
            "state": self.state,
            "recorded": self.recorded,
            "file": None if self.file is None else str(self.file),
            "metrics": [change.document() for change in self.changes],
            "explanation": list(self.explanation),
            "duration": self.duration,
        }


@dataclass(frozen=True)
class Limits:
    """Tolerances of the caller, which override those of files.

    Attributes
    ----------
    relative, absolute : float, optional
        Override the general ones of ``recorded/tolerances.toml``.
    metrics : mapping of str to float
        Relative tolerances of single metrics; they override all others.
    """

    relative: float | None = None
    absolute: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckOptions:
    """Options of a check, and its callbacks.

    Attributes
    ----------
    jobs : int, optional
        Maximum number of simultaneous runs; by default the number of cores.
    wall_limit : float
        Maximum real time of a run [s].
    report : callable
        Called with each finished comparison and the total number of comparisons.
    warning : callable
        Called with each warning, such as a tolerance for an unknown metric.
    stop : callable
        Polled twice a second; True ends the comparison.
    trust : sequence of str
        Modules that scenarios may name although they are outside their directories.
    """

    jobs: int | None = None
    wall_limit: float = WALL_LIMIT
    report: Callable[[CheckResult, int], None] = lambda *_: None
    warning: Callable[[str], None] = lambda *_: None
    stop: Callable[[], bool] = lambda: False
    trust: Sequence[str] = ()


def check_recorded(
    paths: Sequence[Path], options: CheckOptions, limits: Limits, *, update: bool = False
) -> list[CheckResult]:
    """Run scenarios and compare their results with the recorded ones.

    Each scenario runs in its own process: a crash or timeout fails that scenario only.

    Parameters
    ----------
    paths : sequence of Path
        Scenario and campaign files, and directories of them.
    options : CheckOptions
        How they are run.
    limits : Limits
        Tolerances that override those of ``recorded/tolerances.toml``.
    update : bool
        True to record results that are new or moved, and to delete those without a scenario.

    Returns
    -------
    list of CheckResult
        In the order of the files; only the finished ones after a stop.

    Raises
    ------
    SimpluginError
        There is nothing to run, or a file of tolerances is invalid.
    """
    check = _Check(found_in(paths, options.trust), options, limits, update=update)
    check.run()
    if len(check.done) == len(check.found.subjects):
        check.finish()
    return [check.done[number] for number in sorted(check.done)]


class _Check:
    """A comparison in progress."""

    def __init__(
        self, found: Found, options: CheckOptions, limits: Limits, *, update: bool
    ) -> None:
        self.found = found
        self.done: dict[int, CheckResult] = {}
        self._options, self._limits, self._update = options, limits, update
        self._files = {
            each: load_tolerances(each / RECORDED / TOLERANCES)
            for each in dict.fromkeys(subject.file.parent for subject in found.subjects)
        }

    def run(self) -> None:
        """Run all and compare each, until a stop is requested."""
        waiting = []
        for number in range(len(self.found.subjects)):
            try:
                waiting.append(self._job(number))
            except SimpluginError as error:
                self._report(number, _failed(self.found.subjects[number], str(error)))
        left = len(waiting)
        if not left:
            return
        waiting.reverse()
        jobs = self._options.jobs
        with chosen_runners(jobs if jobs is None else min(jobs, left)) as runners:
            while left and not self._options.stop():
                while waiting and runners.wanted > 0:
                    runners.submit(waiting.pop())
                for record in runners.finished(_POLL):
                    left -= 1
                    self._compare(record)

    def finish(self) -> None:
        """Report or delete results without a scenario, and warn of useless tolerances."""
        for number, orphan in enumerate(self.found.orphans, len(self.found.subjects)):
            self._report(number, _check_orphan(orphan, update=self._update))
        for text in self._warnings():
            self._options.warning(text)

    def _warnings(self) -> Iterator[str]:
        """Yield warnings about tolerances."""
        known: dict[Path, dict[str, set[str]]] = {each: {} for each in self._files}
        compared = [(each, self.done[number]) for number, each in enumerate(self.found.subjects)]
        failed = {subject.file for subject, checked in compared if checked.state == "failed"}
        for subject, checked in compared:
            if subject.file not in failed:
                names = known[subject.file.parent].setdefault(subject.scenario, set())
                names |= {change.name for change in checked.changes}
        # A failed run may have had the metric.
        if not failed:
            every = {name for one in known.values() for names in one.values() for name in names}
            yield from warnings_about_options(self._limits.metrics.keys(), every)
        for directory, file in self._files.items():
            is_whole = directory.resolve() in self.found.directories
            is_whole &= directory not in {each.parent for each in failed}
            present = {path.stem for path in directory.glob("*.toml")}
            yield from file.warnings(present, known[directory], is_whole=is_whole)

    def _report(self, number: int, checked: CheckResult) -> None:
        """Store and report a finished comparison."""
        self.done[number] = checked
        self._options.report(checked, len(self.found.subjects) + len(self.found.orphans))

    def _tolerances(self, subject: Subject) -> Tolerances:
        """Return the tolerances of a scenario: the file's, overridden by the caller's."""
        limits, file = self._limits, self._files[subject.file.parent]
        tolerances = file.of(subject.scenario, limits.relative, limits.absolute)
        return tolerances.with_metrics(limits.metrics)

    def _job(self, number: int) -> RunJob:
        """Return the job of running a scenario for its snapshot."""
        subject = self.found.subjects[number]
        if subject.problem is not None:
            raise SimpluginError(subject.problem)
        file = os.path.abspath(subject.file)
        return RunJob(
            key=sha256(os.fsencode(file) + b"\0%d" % number).hexdigest(),
            position=number,
            target=TARGET,
            arguments={
                "file": file,
                "document": subject.document if subject.of_campaign else None,
                "subject": subject.title,
                "activities": self._tolerances(subject).activities,
                "sources": sources_of(subject.document, subject.file.parent),
                "trust": list(self._options.trust),
            },
            wall_limit=self._options.wall_limit,
        )

    def _compare(self, record: RunRecord) -> None:
        """Compare the result of a run with the recorded one."""
        number, failure = record.job.position, record.failure
        subject = self.found.subjects[number]
        if failure is None:
            checked = _compared(subject, self._tolerances(subject), record, update=self._update)
        else:
            # The limit is an option of the command here, not a key of the campaign's file.
            text = failure.text.replace("campaign.wall_limit", "--wall-limit")
            checked = _failed(subject, f"{failure.kind.replace('_', ' ')}: {text}")
        self._report(number, replace(checked, duration=record.duration))


def _compared(
    subject: Subject, within: Tolerances, record: RunRecord, *, update: bool
) -> CheckResult:
    """Compare a run with its record, and update that on request."""
    assert record.measured is not None
    assert record.measured.contents is not None
    run, file = record.measured.contents["snapshot"], subject.snapshot
    settings = {**run.settings, "code_sha256": code_digest()}
    now: Snapshot = replace(run, settings=settings, sources=record.job.arguments["sources"])
    try:
        before = read_snapshot(file)
    except SimpluginError as error:
        if not update:
            return _failed(subject, str(error))
        before = None
    if before is None:
        changes = compare(Snapshot(now.subject, ()), now).changes
        checked = CheckResult(subject.name, "new", changes, file=file)
        text = "not recorded yet; record it with --update"
        return _record_snapshot(checked, now) if update else replace(checked, explanation=(text,))
    comparison = compare(before, now, within)
    lines = tuple(explain(comparison))
    state: State = "ok" if comparison.agrees else "moved"
    checked = CheckResult(subject.name, state, comparison.changes, lines, file=file)
    # A record that agrees is kept: a repository need not see other versions and last digits.
    if update and not lines and not is_complete(before.activities, now.activities):
        text = "there were not as many activities recorded as are to be"
        return _record_snapshot(replace(checked, explanation=(text,)), now)
    return _record_snapshot(checked, now) if update and lines else checked


def _record_snapshot(checked: CheckResult, now: Snapshot) -> CheckResult:
    """Write the record of a run; return the failure if that is impossible."""
    assert checked.file is not None
    try:
        write_snapshot(now, checked.file)
    except SimpluginError as error:
        lines = (*str(error).splitlines(), *checked.explanation)
        return replace(checked, state="failed", explanation=lines)
    return replace(checked, recorded=True)


def _failed(subject: Subject, text: str) -> CheckResult:
    """Return the failure of a scenario, with its reason."""
    return CheckResult(subject.name, "failed", (), tuple(text.splitlines()), file=subject.snapshot)


def _check_orphan(orphan: Orphan, *, update: bool) -> CheckResult:
    """Report a recorded result without a scenario, deleted on request."""
    line = "recorded, but there is no such scenario; delete it with --update"
    if update:
        line = "deleted, as there is no such scenario"
        try:
            delete_snapshot(orphan.file)
        except OSError as error:
            line = f"{orphan.file}: cannot be deleted: {error.strerror or error}"
            return CheckResult(orphan.name, "failed", (), (line,), file=orphan.file)
    return CheckResult(orphan.name, "missing", (), (line,), recorded=update, file=orphan.file)
