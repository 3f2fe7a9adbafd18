"""Running scenarios side by side, comparing each with its recorded result, and JUnit reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from simplugin.campaigns.jobs import RunJob, RunRecord
from simplugin.campaigns.keys import code_digest
from simplugin.campaigns.running.campaign_runs import chosen_runners
from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import printable
from simplugin.regression.activities import is_complete
from simplugin.regression.comparison import MetricChange, compare, explain
from simplugin.regression.recording import TARGET, sources_of
from simplugin.regression.snapshots import Snapshot, read_snapshot, trace_path, write_snapshot
from simplugin.regression.subjects import RECORDED, TOLERANCES, Found, Orphan, Subject, found_in
from simplugin.regression.tolerances import Tolerances, load_tolerances, warnings_about_options

State = Literal["ok", "moved", "new", "missing", "failed"]
WALL_LIMIT = 600.0
_POLL = 0.5
SUITE = "simplugin regress"


@dataclass(frozen=True)
class CheckResult:
    """A run beside its recorded result.

    Attributes
    ----------
    name : str
        Of the scenario.
    state : {"ok", "moved", "new", "missing", "failed"}
        "new" is not recorded, "missing" is recorded but there is no such scenario.
    changes : tuple of Change
        Each metric.
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
        """Return True if what is recorded now is what came out."""
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
    """Tolerances that a caller gives.

    Attributes
    ----------
    relative, absolute : float, optional
        Instead of the general ones of ``recorded/tolerances.toml``.
    metrics : mapping of str to float
        Relative tolerances of single metrics, instead of all others.
    """

    relative: float | None = None
    absolute: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckOptions:
    """The way in which scenarios are run, and callbacks.

    Attributes
    ----------
    jobs : int, optional
        How many to run at once; one for each core if left out.
    wall_limit : float
        Real time that a run may take [s].
    report : callable
        Called with each that is done and the number of all.
    warning : callable
        Called with what is odd but stops nothing, such as a tolerance of no metric.
    stop : callable
        Asked twice a second whether to end.
    trust : sequence of str
        Modules that scenarios may name wherever they are.
    """

    jobs: int | None = None
    wall_limit: float = WALL_LIMIT
    report: Callable[[CheckResult, int], None] = lambda *_: None
    warning: Callable[[str], None] = lambda *_: None
    stop: Callable[[], bool] = lambda: False
    trust: Sequence[str] = ()


def check_recorded(
    paths: Sequence[Path], means: CheckOptions, limits: Limits, *, update: bool = False
) -> list[CheckResult]:
    """Run scenarios and compare what comes out with what is recorded beside them.

    Each runs in a process of its own: one that crashes or never ends fails, the others go on.

    Parameters
    ----------
    paths : sequence of Path
        Scenario and campaign files, and directories of them.
    means : Means
        How they are run.
    limits : Limits
        How far metrics may move, besides what ``recorded/tolerances.toml`` says.
    update : bool
        True if to record what is new or moved, and to delete what has no scenario any more.

    Returns
    -------
    list of Checked
        In the order of their files; only those that are done, if it was stopped.

    Raises
    ------
    SimpluginError
        There is nothing to run, or a file of tolerances says something wrong.
    """
    check = _Check(found_in(paths, means.trust), means, limits, update=update)
    check.run()
    if len(check.done) == len(check.found.subjects):
        check.settle()
    return [check.done[number] for number in sorted(check.done)]


class _Check:
    """A comparison in progress."""

    def __init__(self, found: Found, means: CheckOptions, limits: Limits, *, update: bool) -> None:
        self.found = found
        self.done: dict[int, CheckResult] = {}
        self._means, self._limits, self._update = means, limits, update
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
                self._finish(number, _failed(self.found.subjects[number], str(error)))
        left = len(waiting)
        if not left:
            return
        waiting.reverse()
        jobs = self._means.jobs
        with chosen_runners(jobs if jobs is None else min(jobs, left)) as runners:
            while left and not self._means.stop():
                while waiting and runners.wanted > 0:
                    runners.submit(waiting.pop())
                for record in runners.finished(_POLL):
                    left -= 1
                    self._compare(record)

    def settle(self) -> None:
        """Report results without a scenario, or delete them, and warn of other oddities."""
        for number, orphan in enumerate(self.found.orphans, len(self.found.subjects)):
            self._finish(number, _settled(orphan, update=self._update))
        for text in self._warnings():
            self._means.warning(text)

    def _warnings(self) -> Iterator[str]:
        """Yield what is odd about the tolerances."""
        known: dict[Path, dict[str, set[str]]] = {each: {} for each in self._files}
        compared = [(each, self.done[number]) for number, each in enumerate(self.found.subjects)]
        failed = {subject.file for subject, checked in compared if checked.state == "failed"}
        for subject, checked in compared:
            if subject.file not in failed:
                names = known[subject.file.parent].setdefault(subject.scenario, set())
                names |= {change.name for change in checked.changes}
        # A metric may be one of the runs that failed.
        if not failed:
            every = {name for one in known.values() for names in one.values() for name in names}
            yield from warnings_about_options(self._limits.metrics.keys(), every)
        for directory, file in self._files.items():
            is_whole = directory.resolve() in self.found.directories
            is_whole &= directory not in {each.parent for each in failed}
            present = {path.stem for path in directory.glob("*.toml")}
            yield from file.warnings(present, known[directory], is_whole=is_whole)

    def _finish(self, number: int, checked: CheckResult) -> None:
        """Keep what came out, and report it."""
        self.done[number] = checked
        self._means.report(checked, len(self.found.subjects) + len(self.found.orphans))

    def _tolerances(self, subject: Subject) -> Tolerances:
        """Return the tolerances of a scenario: the file's, and over them the caller's."""
        given, file = self._limits, self._files[subject.file.parent]
        return file.of(subject.scenario, given.relative, given.absolute).with_metrics(given.metrics)

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
                "trust": list(self._means.trust),
            },
            wall_limit=self._means.wall_limit,
        )

    def _compare(self, record: RunRecord) -> None:
        """Compare what came out of a run with what is recorded."""
        number, failure = record.job.position, record.failure
        subject = self.found.subjects[number]
        if failure is None:
            checked = _compared(subject, self._tolerances(subject), record, update=self._update)
        else:
            # Runs of a campaign have their limit in its file, those that are compared have not.
            text = failure.text.replace("campaign.wall_limit", "--wall-limit")
            checked = _failed(subject, f"{failure.kind.replace('_', ' ')}: {text}")
        self._finish(number, replace(checked, duration=record.duration))


def _compared(
    subject: Subject, within: Tolerances, record: RunRecord, *, update: bool
) -> CheckResult:
    """Compare a run with what is recorded, or record it."""
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
        return _recorded(checked, now) if update else replace(checked, explanation=(text,))
    comparison = compare(before, now, within)
    lines = tuple(explain(comparison))
    state: State = "ok" if comparison.agrees else "moved"
    checked = CheckResult(subject.name, state, comparison.changes, lines, file=file)
    # What agrees stays as it is: a repository need not see other versions and last digits.
    if update and not lines and not is_complete(before.activities, now.activities):
        text = "there were not as many activities recorded as are to be"
        return _recorded(replace(checked, explanation=(text,)), now)
    return _recorded(checked, now) if update and lines else checked


def _recorded(checked: CheckResult, now: Snapshot) -> CheckResult:
    """Record a run; one that cannot be recorded has failed."""
    assert checked.file is not None
    try:
        write_snapshot(now, checked.file)
    except SimpluginError as error:
        lines = (*str(error).splitlines(), *checked.explanation)
        return replace(checked, state="failed", explanation=lines)
    return replace(checked, recorded=True)


def _failed(subject: Subject, text: str) -> CheckResult:
    """Return why there is nothing to compare."""
    return CheckResult(subject.name, "failed", (), tuple(text.splitlines()), file=subject.snapshot)


def _settled(orphan: Orphan, *, update: bool) -> CheckResult:
    """Report that a recorded result has no scenario, or delete it."""
    state: State = "missing"
    line = "recorded, but there is no such scenario; delete it with --update"
    if update:
        line = "deleted, as there is no such scenario"
        try:
            orphan.file.unlink()
            trace_path(orphan.file).unlink(missing_ok=True)
        except OSError as error:
            state, line = "failed", f"{orphan.file}: cannot be deleted: {error.strerror or error}"
    recorded = update and state == "missing"
    return CheckResult(orphan.name, state, (), (line,), recorded=recorded, file=orphan.file)


def write_junit(checked: Sequence[CheckResult], path: Path) -> None:
    """Write one test case a scenario; what moved is a failure, what did not run an error.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    wrong = [each for each in checked if not each.agrees]
    errors = sum(each.state == "failed" for each in wrong)
    counts = {
        "name": SUITE,
        "tests": str(len(checked)),
        "failures": str(len(wrong) - errors),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{sum(each.duration for each in checked):.3f}",
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", counts)
    for each in checked:
        about = {"name": printable(each.name), "time": f"{each.duration:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", {"classname": SUITE, **about})
        if not each.agrees:
            what = "error" if each.state == "failed" else "failure"
            message = printable(each.explanation[0] if each.explanation else each.state)
            about = {"type": each.state, "message": message}
            ElementTree.SubElement(case, what, about).text = printable("\n".join(each.explanation))
    tree = ElementTree.ElementTree(suites)
    ElementTree.indent(tree)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise _not_writable(path, error) from error


def check_writable(path: Path) -> None:
    """Make the directory of a file, and see that the file can be opened.

    Raises
    ------
    SimpluginError
        It cannot be written.
    """
    is_new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise _not_writable(path, error) from error


def _not_writable(path: Path, error: OSError) -> SimpluginError:
    """Return the error that the file cannot be written."""
    reason = error.strerror or str(error)
    return SimpluginError(f"{path}: cannot be written: {reason}; name another file with --junit")
