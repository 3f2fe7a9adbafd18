"""``simplugin report``: the page of a campaign from its store."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from simplugin.campaigns.jobs import RunRecord
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.tables import plain_cell
from simplugin.cli.campaign_reading import chosen_entry, store_of
from simplugin.cli.terminal import relative_path
from simplugin.core.errors import SimpluginError, StoreError
from simplugin.core.formatting import listed
from simplugin.papers import reproduction_runs
from simplugin.papers.reproductions import ALL, CAPABILITIES, ReproductionJobs
from simplugin.reports.page import CampaignReport, Column, KeptRun, write_page
from simplugin.reports.page.contents import Role, Value
from simplugin.results.charts import ScheduleChart
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable
from simplugin.scenarios.outputs import from_document

Which = Literal["main", "all", "none"]
Sense = Literal["min", "max"] | None

FIGURES = "figures"
_GAP = "gap"
_PROVENANCE = "provenance"
# What `reproduce` calls its store.
_STORE = "store.sqlite"
# Characters of all different provenances together.
_MOST_PROVENANCE = 2_000_000
# Of keys and digests as many digits as distinguish runs.
_DIGITS = 16
# Of several values of one fact.
_FEW = 4


def write_report(
    place: Path,
    directory: Path,
    figures: Which,
    campaign: int | None,
    group: str | None,
    baseline: str | None,
    names: Mapping[str, str],
) -> tuple[Path, list[Path], list[str]]:
    """Write the page and the figures of a campaign.

    Parameters
    ----------
    place : Path
        A store or a campaign file.
    directory : Path
        Where ``index.html`` is written.
    figures : {"main", "all", "none"}
        Figures of what matters most, of everything, none.
    campaign : int, optional
        Number of the campaign; by default that of the file, or the latest.
    group, baseline : str, optional
        Key by which runs are compared, and a value of it.
    names : mapping of str to str
        What keys and metrics are called in figures and on the page.

    Returns
    -------
    tuple of Path, list of Path, and list of str
        The page, the figures, and warnings about figures that are missing.

    Raises
    ------
    SimpluginError
        There is no such campaign, key or value, or a file cannot be written.
    """
    store = store_of(place)
    with StoreReader(store) as reader:
        entry = chosen_entry(reader, place, campaign)
        report = campaign_report(reader, entry)
    report = _grouped(_named(report, names), group, baseline)
    if not len(report.position):
        raise StoreError(
            f"nothing of campaign {entry.number} is recorded yet", file=store,
            remedy="`simplugin campaign run` does the runs",
        )  # fmt: skip
    drawn: list[Path] = []
    warnings: list[str] = []
    if figures != "none":
        from simplugin.reports.campaign_figures import write_figures

        written = write_figures(report, directory / FIGURES, which=figures)
        drawn, warnings = list(written), written.warnings
    return write_page(report, directory, drawn), drawn, warnings


def _named(report: CampaignReport, names: Mapping[str, str]) -> CampaignReport:
    """Give columns the names that the user chose."""
    for name in names:
        report.column(name)
    columns = (replace(each, label=names.get(each.name, "")) for each in report.columns)
    return replace(report, columns=tuple(columns))


def _grouped(report: CampaignReport, group: str | None, baseline: str | None) -> CampaignReport:
    """Group runs by a key; the baseline is a value as written in tables."""
    if group is not None:
        report = replace(report, group=group)
        column = report.column(group)
        if len(column.distinct()) + (None in column.values) < 2:
            names = ", ".join(each for each in report.groupings() if each != group)
            hint = f"; runs differ in {names}" if names else ""
            raise SimpluginError(f"{group} is the same in all runs{hint}")
    if baseline is None:
        return report
    if report.group is None:
        raise SimpluginError(
            f"there is nothing to compare with {baseline!r}: no key was varied that has a few"
            " values; name one with --group"
        )
    return replace(report, baseline=_meant(baseline, report.column(report.group).distinct()))


def _meant(text: str, values: list[Value]) -> Value:
    """Return the value that is written like a text, or is the same number; else the text."""
    for value in values:
        if text == (str(value).lower() if isinstance(value, bool) else str(value)):
            return value
    with suppress(ValueError, OverflowError):
        number = float(text)
        for value in values:
            if isinstance(value, float | int) and not isinstance(value, bool) and value == number:
                return value
    return text


def campaign_report(reader: StoreReader, entry: CampaignEntry) -> CampaignReport:
    """Return the report of a campaign.

    Parameters
    ----------
    reader : StoreReader
        Its store.
    entry : CampaignEntry
        Which campaign.

    Returns
    -------
    CampaignReport
        A row for each run that was tried; runs are grouped as the report chooses.
    """
    table = _Table()
    for run in reader.runs(entry.number):
        table.add(run.record, run.attempt)
    kept: list[KeptRun] = []
    # Of reproductions, by capability.
    claims: dict[str, list[Claim]] = defaultdict(list)
    figures: dict[str, list[CurvePlot]] = defaultdict(list)
    for record, contents in reader.contents(entry.number):
        if "listings" in contents:
            kept.append(_kept(record, contents))
            continue
        name = str(record.job.varied["capability"])
        claims[name] += (from_document(Claim, each) for each in contents.get("claims", ()))
        figures[name] += (from_document(CurvePlot, each) for each in contents.get("figures", ()))
    return CampaignReport(
        title=entry.title or entry.file or f"Campaign {entry.number}",
        columns=table.columns(),
        position=table.position,
        status=table.status,
        failure=table.failure,
        error=table.error,
        total=entry.total,
        facts=_facts(reader, entry, table),
        kept=tuple(kept),
        claims={name: tuple(each) for name, each in claims.items() if each},
        figures={name: tuple(each) for name, each in figures.items() if each},
    )


@dataclass
class _Named:
    """A column in the making."""

    role: Role
    unit: str = ""
    sense: Sense = None
    values: dict[int, Value] = field(default_factory=dict)


class _Table:
    """Rows that become columns."""

    def __init__(self) -> None:
        self.position: list[int] = []
        self.status: list[str] = []
        self.failure: list[str] = []
        self.error: list[str] = []
        self.versions: dict[str, dict[str, None]] = {}
        self.reproduction = False
        # How long all runs took together.
        self.seconds = 0.0
        self._columns: dict[tuple[Role, str], _Named] = {}

    def add(self, record: RunRecord, attempt: int) -> None:
        """Add a run."""
        row, failure = len(self.position), record.failure
        self.seconds += round(record.duration, 6)
        self.reproduction |= record.job.target == reproduction_runs.TARGET
        self.position.append(record.job.position)
        self.status.append("done" if failure is None else "failed")
        self.failure.append("" if failure is None else failure.kind)
        self.error.append("" if failure is None else failure.text)
        for name, version in record.versions.items():
            self.versions.setdefault(name, {})[version] = None
        for name, value in record.job.varied.items():
            self._put(row, "varied", name, plain_cell(value))
        if (measured := record.measured) is not None:
            found, best = measured.row, measured.row.best
            # Counts of a reproduction are not metrics of a scheduler.
            role: Role = "other" if record.job.target == reproduction_runs.TARGET else "metric"
            for metric in found:
                self._put(row, role, metric.name, metric.value, metric.unit, metric.sense)
            if best is not None:
                column = self._columns["metric", best.metric]
                column.sense = best.sense
                self._put(row, "other", best.proof, best.value, column.unit)
                self._put(row, "metric", _GAP, found.gap, sense="min")
            self._put(row, "other", "seed", plain_cell(found.provenance.get("seed")))
            self._put(row, "other", _PROVENANCE, _named_cells(found.provenance))
            self._put(row, "other", "digest", (measured.digest or "")[:_DIGITS] or None)
        for name, beside in (
            ("attempts", attempt),
            ("duration", round(record.duration, 6)),
            ("started", record.started[:19].replace("T", " ")),
            ("place", record.place),
            ("key", record.job.key[:_DIGITS]),
            ("versions", _named_cells(record.versions)),
        ):
            self._put(row, "other", name, beside, "s" if name == "duration" else "")

    def _put(
        self, row: int, role: Role, name: str, value: Value, unit: str = "", sense: Sense = None
    ) -> None:
        """Put a value where it belongs."""
        self._columns.setdefault((role, name), _Named(role, unit, sense)).values[row] = value

    def columns(self) -> tuple[Column, ...]:
        """Return the columns; the gap follows all metrics."""
        provenances = self._columns.get(("other", _PROVENANCE), _Named("other")).values
        if sum(map(len, map(str, set(provenances.values())))) > _MOST_PROVENANCE:
            # They would be most of a page: the store has them.
            del self._columns["other", _PROVENANCE]
        order = sorted(self._columns, key=lambda each: each == ("metric", _GAP))
        names = [name for _, name in order]
        return tuple(
            Column(
                name=name if names.count(name) == 1 else f"{role}.{name}",
                values=[column.values.get(row) for row in range(len(self.position))],
                unit=column.unit,
                role=column.role,
                sense=column.sense,
            )
            for (role, name), column in ((each, self._columns[each]) for each in order)
        )

    def texts(self, name: str) -> list[str]:
        """Return the distinct values of a column that is no metric."""
        column = self._columns.get(("other", name))
        return list(dict.fromkeys(map(str, column.values.values()))) if column else []

    def seeds(self) -> str:
        """Return the seeds that were swept with their values; else those of the simulations."""
        values = {
            name: list(dict.fromkeys(column.values.values()))
            for (role, name), column in self._columns.items()
            if role == "varied" and name.rpartition(".")[2] == "seed"
        }
        if not values:
            return listed([each for each in self.texts("seed") if each != "None"], _FEW)
        return "; ".join(
            f"{name} {_span_of(each) or listed(map(str, each), _FEW)}"
            for name, each in values.items()
        )


def _named_cells(document: Mapping[str, Any]) -> str:
    """Write names and values one after the other."""
    return ", ".join(f"{name}: {plain_cell(value)}" for name, value in document.items())


def _facts(reader: StoreReader, entry: CampaignEntry, table: _Table) -> dict[str, str]:
    """Return when and where runs were done, with which versions."""
    places = list(dict.fromkeys(each.partition(":")[0] for each in table.texts("place")))
    file = relative_path(Path(entry.file)) if entry.file else ""
    facts = {
        "campaign file": file,
        "store": f"{relative_path(reader.path)}, campaign {entry.number}",
        "runs started": _span(sorted(table.texts("started"))),
        "time of all runs": _duration(table.seconds),
        "hosts": listed(places, _FEW),
        "seeds": table.seeds(),
    }
    versions = [f"{name} {listed(found, _FEW)}" for name, found in table.versions.items()]
    facts["versions"] = ", ".join(versions)
    if file:
        from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on

        again = command_that_goes_on(Path(file), Path(relative_path(reader.path)))
        facts["resumed or run again by"] = again
    if command := _reproduced_by(reader.path, entry.title, table):
        facts["resumed or measured again by"] = command
    return {name: text for name, text in facts.items() if text}


def _reproduced_by(store: Path, title: str, table: _Table) -> str:
    """Return the command of a reproduction; empty for other campaigns."""
    if not table.reproduction:
        return ""
    for name in (*CAPABILITIES, ALL):
        for quick in (False, True):
            if ReproductionJobs.of(name, quick=quick, figures=False).title == title:
                words = ["simplugin", "reproduce", name, *(["--quick"] if quick else [])]
                output = ["-o", relative_path(store.parent)] if store.name == _STORE else []
                return shlex.join([*words, *output])
    return ""


def _span(started: list[str]) -> str:
    """Return the first and the last date; the day once if it is the same."""
    if not started:
        return ""
    first, last = started[0], started[-1]
    until = "" if first == last else f" to {last[11:] if first[:10] == last[:10] else last}"
    return f"{first}{until} UTC"


def _span_of(values: list[Value]) -> str:
    """Return the first and the last of integers without a gap; empty for others."""
    first, last = values[0], values[-1]
    if (
        len(values) > 2
        and isinstance(first, int)
        and values == list(range(first, first + len(values)))
    ):
        return f"{first} to {last}"
    return ""


def _duration(seconds: float) -> str:
    """Write a duration in the unit that suits it."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _kept(record: RunRecord, contents: Mapping[str, Any]) -> KeptRun:
    """Return a run with its figures and tables."""
    varied = ", ".join(f"{name} = {plain_cell(value)}" for name, value in record.job.varied.items())
    schedule = contents.get("schedule")
    activities = contents.get("activities")
    return KeptRun(
        title=f"Run {record.job.position}" + (f": {varied}" if varied else ""),
        position=record.job.position,
        figures=tuple(from_document(CurvePlot, each) for each in contents.get("figures", ())),
        schedule=None if schedule is None else from_document(ScheduleChart, schedule),
        activities=None if activities is None else _activities(activities),
        listings=tuple(from_document(ResultTable, each) for each in contents["listings"]),
    )


def _activities(document: Mapping[str, Any]) -> ResultTable:
    """Return the activities of a run, with a note about omitted ones."""
    columns, total = document["columns"], document["total"]
    lines = tuple(zip(*columns.values(), strict=True))
    note = f"the first {len(lines)} of {total} activities" if total > len(lines) else ""
    return ResultTable("Activities", tuple((name, "") for name in columns), lines, note)
