"""Running scenarios side by side and comparing each with what is recorded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from simplugin.campaigns.jobs import Job, Record
from simplugin.campaigns.regression.comparison import Change, compare
from simplugin.campaigns.regression.explanation import explain
from simplugin.campaigns.regression.recording import TARGET
from simplugin.campaigns.regression.snapshots import (
    Snapshot,
    read_snapshot,
    trace_path,
    write_snapshot,
)
from simplugin.campaigns.regression.subjects import (
    RECORDED,
    TOLERANCES,
    Subject,
    orphans,
    subjects_of,
)
from simplugin.campaigns.regression.tolerances import (
    ToleranceFile,
    Tolerances,
    load_tolerances,
)
from simplugin.campaigns.running.choice import chosen_runners
from simplugin.errors import SimpluginError
from simplugin.near_names import perhaps

State = Literal["ok", "moved", "new", "missing", "failed"]
WALL_LIMIT = 600.0
_POLL = 0.5


@dataclass(frozen=True)
class Checked:
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
        Lines for humans; empty if there is nothing to be told.
    duration : float
        How long the run took [s of real time].
    recorded : bool
        Whether the result was recorded now.
    file : Path, optional
        Of the recorded result.
    """

    name: str
    state: State
    changes: tuple[Change, ...] = ()
    explanation: tuple[str, ...] = ()
    duration: float = 0.0
    recorded: bool = False
    file: Path | None = None

    @property
    def agrees(self) -> bool:
        """Whether what is recorded now is what came out."""
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
    """How far metrics may move, as far as a caller says so.

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


def check_recorded(
    paths: Sequence[Path],
    *,
    update: bool = False,
    limits: Limits | None = None,
    jobs: int | None = None,
    wall_limit: float = WALL_LIMIT,
    report: Callable[[Checked, int], None] = lambda *_: None,
    remark: Callable[[str], None] = lambda *_: None,
) -> list[Checked]:
    """Run scenarios and compare what comes out with what is recorded beside them.

    Each runs in a process of its own: one that crashes or never ends fails, the others go on.

    Parameters
    ----------
    paths : sequence of Path
        Scenario and campaign files, and directories of them.
    update : bool
        Whether to record what is new or moved, and to delete what has no scenario any more.
    limits : Limits, optional
        How far metrics may move, besides what ``recorded/tolerances.toml`` says.
    jobs : int, optional
        How many to run at once; one for each core if left out.
    wall_limit : float
        Real time that a run may take [s].
    report : callable, optional
        Called with each that is done and the number of all.
    remark : callable, optional
        Called with what is odd but stops nothing, such as a tolerance of no metric.

    Returns
    -------
    list of Checked
        In the order of their files.

    Raises
    ------
    SimpluginError
        There is nothing to run, or a file of tolerances says something wrong.
    """
    within = limits or Limits()
    subjects = subjects_of(paths)
    directories = {each.file.parent for each in subjects}
    tolerances = {each: load_tolerances(each / RECORDED / TOLERANCES) for each in directories}
    lost = orphans([path for path in paths if path.is_dir()], subjects)
    total = len(subjects) + len(lost)
    done: dict[int, Checked] = {}
    with tempfile.TemporaryDirectory(prefix="simplugin-") as scratch:
        chosen = [
            _tolerances(tolerances[each.file.parent], each.scenario, within) for each in subjects
        ]
        pending = []
        for number, (subject, tolerance) in enumerate(zip(subjects, chosen, strict=True)):
            if subject.problem is None:
                pending.append(_job(number, subject, tolerance, Path(scratch), wall_limit))
            else:
                lines = tuple(subject.problem.splitlines())
                done[number] = Checked(subject.name, "failed", explanation=lines)
                report(done[number], total)
        for record in _finished(pending, jobs):
            number = record.job.position
            done[number] = _checked(subjects[number], chosen[number], record, update=update)
            report(done[number], total)
    checked = [done[number] for number in range(len(subjects))]
    for path in lost:
        checked.append(_orphan(path, update=update))
        report(checked[-1], total)
    _remark_unknown(tolerances, within, checked, remark)
    return checked


def _tolerances(file: ToleranceFile, scenario: str, limits: Limits) -> Tolerances:
    """Return the tolerances of a scenario: the file's, and over them the caller's."""
    return file.of(scenario, limits.relative, limits.absolute).with_metrics(limits.metrics)


def _job(
    number: int, subject: Subject, tolerances: Tolerances, scratch: Path, wall_limit: float
) -> Job:
    """Return the job of running a scenario for its snapshot."""
    file = os.path.abspath(subject.file)
    return Job(
        key=sha256(f"{file}\0{number}".encode()).hexdigest(),
        position=number,
        target=TARGET,
        arguments={
            "file": file,
            "document": subject.document,
            "subject": subject.name,
            "to": str(scratch / f"{number}.json"),
            "activities": tolerances.activities,
        },
        wall_limit=wall_limit,
    )


def _finished(pending: Iterable[Job], jobs: int | None) -> Iterator[Record]:
    """Do jobs in parallel; yield the records as they come."""
    waiting = list(pending)[::-1]
    if not waiting:
        return
    with chosen_runners(jobs if jobs is None else min(jobs, len(waiting))) as runners:
        left = len(waiting)
        while left:
            while waiting and runners.wanted > 0:
                runners.submit(waiting.pop())
            for record in runners.finished(_POLL):
                left -= 1
                yield record


def _checked(subject: Subject, within: Tolerances, record: Record, *, update: bool) -> Checked:
    """Compare what came out of a run with what is recorded."""
    if record.failure is not None:
        text = record.failure.text
        kind = record.failure.kind.replace("_", " ")
        lines = tuple(f"{kind}: {text}".splitlines())
        return Checked(subject.name, "failed", (), lines, record.duration, file=subject.snapshot)
    now = read_snapshot(record.job.arguments["to"])
    assert now is not None
    try:
        before = read_snapshot(subject.snapshot)
    except SimpluginError as error:
        if not update:
            lines = tuple(str(error).splitlines())
            return Checked(subject.name, "failed", (), lines, record.duration)
        before = None
    if before is None:
        return _new(subject, now, record.duration, update=update)
    comparison = compare(before, now, within)
    explanation = tuple(explain(comparison))
    # What agrees stays as it is: a repository need not see other versions and last digits.
    if update and explanation:
        write_snapshot(now, subject.snapshot)
    return Checked(
        subject.name,
        "ok" if comparison.agrees else "moved",
        comparison.changes,
        explanation,
        record.duration,
        recorded=update and bool(explanation),
        file=subject.snapshot,
    )


def _new(subject: Subject, now: Snapshot, duration: float, *, update: bool) -> Checked:
    """Tell that a run has no recorded result, or record it."""
    if update:
        write_snapshot(now, subject.snapshot)
    changes = compare(Snapshot(now.subject, ()), now).changes
    lines = () if update else ("not recorded yet; record it with --update",)
    return Checked(
        subject.name, "new", changes, lines, duration, recorded=update, file=subject.snapshot
    )


def _orphan(path: Path, *, update: bool) -> Checked:
    """Tell that a recorded result has no scenario, or delete it."""
    if update:
        path.unlink()
        trace_path(path).unlink(missing_ok=True)
        lines = ["deleted, as there is no such scenario"]
    else:
        lines = ["recorded, but there is no such scenario; delete it with --update"]
    name = path.relative_to(next(each for each in path.parents if each.name == RECORDED))
    return Checked(str(name), "missing", (), tuple(lines), recorded=update, file=path)


def _remark_unknown(
    files: Mapping[Path, ToleranceFile],
    limits: Limits,
    checked: Sequence[Checked],
    remark: Callable[[str], None],
) -> None:
    """Tell which tolerances are of no scenario and no metric: they would be wrong in silence."""
    metrics = {change.name for each in checked for change in each.changes}
    failed = any(each.state == "failed" for each in checked)
    # A metric may be one of the runs that failed.
    for name in () if failed else set(limits.metrics) - metrics:
        remark(f"--tolerance: no run has a metric {name!r}; {perhaps(name, metrics)}".rstrip("; "))
    for directory, file in files.items():
        present = {path.stem for path in directory.glob("*.toml")}
        for name in sorted(set(file.scenarios) - present):
            near = perhaps(name, present)
            path = directory / RECORDED / TOLERANCES
            remark(f"{path}: there is no scenario {name!r}; {near}".rstrip("; "))
