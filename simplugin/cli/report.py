"""``simplugin report``: the page of a campaign from its store."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from simplugin.calibration.sensitivity import sensitivities
from simplugin.campaigns.jobs import RunRecord
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.reading import StoredRun
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
    runs = list(reader.runs(entry.number))
    failures = [run.record.failure for run in runs]
    columns = _columns(runs)
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
        columns=tuple(columns),
        position=[run.record.job.position for run in runs],
        status=["failed" if each else "done" for each in failures],
        failure=[each.kind if each else "" for each in failures],
        error=[each.text if each else "" for each in failures],
        total=entry.total,
        facts=_facts(reader, entry, [run.record for run in runs], columns),
        kept=tuple(kept),
        claims={name: tuple(each) for name, each in claims.items() if each},
        figures={name: tuple(each) for name, each in figures.items() if each},
        sensitivities=tuple(sensitivities(reader, entry)),
    )


@dataclass
class _Cells:
    """A column in the making: its values by the numbers of runs."""

    role: Role
    name: str
    unit: str = ""
    sense: Sense = None
    values: dict[int, Value] = field(default_factory=dict)


def _columns(runs: Sequence[StoredRun]) -> list[Column]:
    """Return what is known of runs, column by column; the gap follows all metrics."""
    found: dict[tuple[Role, str], _Cells] = {}

    def put(
        row: int, role: Role, name: str, value: Value, unit: str = "", sense: Sense = None
    ) -> None:
        """Put a value where it belongs."""
        column = found.setdefault((role, name), _Cells(role, name, unit, sense))
        column.values[row] = value

    for row, run in enumerate(runs):
        record, measured = run.record, run.record.measured
        for name, value in record.job.varied.items():
            put(row, "varied", name, plain_cell(value))
        if measured is not None:
            numbers, best = measured.row, measured.row.best
            # Counts of a reproduction are not metrics of a scheduler.
            role: Role = "other" if _is_reproduction(record) else "metric"
            for metric in numbers:
                put(row, role, metric.name, metric.value, metric.unit, metric.sense)
            if best is not None:
                column = found["metric", best.metric]
                column.sense = best.sense
                put(row, "other", best.proof, best.value, column.unit)
                put(row, "metric", _GAP, numbers.gap, sense="min")
            put(row, "other", "seed", plain_cell(numbers.provenance.get("seed")))
            put(row, "other", _PROVENANCE, _named_cells(numbers.provenance))
            put(row, "other", "digest", (measured.digest or "")[:_DIGITS] or None)
        put(row, "other", "attempts", run.attempt)
        put(row, "other", "duration", round(record.duration, 6), "s")
        put(row, "other", "started", _date(record))
        put(row, "other", "place", record.place)
        put(row, "other", "key", record.job.key[:_DIGITS])
        put(row, "other", "versions", _named_cells(record.versions))
    provenances = found.get(("other", _PROVENANCE), _Cells("other", _PROVENANCE)).values
    if sum(map(len, map(str, set(provenances.values())))) > _MOST_PROVENANCE:
        # They would be most of a page: the store has them.
        del found["other", _PROVENANCE]
    order = sorted(found.values(), key=lambda each: (each.role, each.name) == ("metric", _GAP))
    count = Counter(each.name for each in order)
    return [
        Column(
            name=each.name if count[each.name] == 1 else f"{each.role}.{each.name}",
            values=[each.values.get(row) for row in range(len(runs))],
            unit=each.unit,
            role=each.role,
            sense=each.sense,
        )
        for each in order
    ]


def _is_reproduction(record: RunRecord) -> bool:
    """Return True for a part of a reproduction."""
    return record.job.target == reproduction_runs.TARGET


def _date(record: RunRecord) -> str:
    """Return the date of the start, to the second."""
    return record.started[:19].replace("T", " ")


def _seeds(records: Sequence[RunRecord], columns: Iterable[Column]) -> str:
    """Return the seeds that were swept with their values; else those of the simulations."""
    texts = [
        f"{each.name.removeprefix('varied.')} {_span_of(values) or listed(map(str, values), _FEW)}"
        for each in columns
        if each.role == "varied" and each.name.rpartition(".")[2] == "seed"
        for values in [list(dict.fromkeys(value for value in each.values if value is not None))]
    ]
    rows = [record.measured.row for record in records if record.measured is not None]
    seeds = dict.fromkeys(plain_cell(row.provenance.get("seed")) for row in rows)
    return "; ".join(texts) or listed([str(each) for each in seeds if each is not None], _FEW)


def _named_cells(document: Mapping[str, Any]) -> str:
    """Write names and values one after the other."""
    return ", ".join(f"{name}: {plain_cell(value)}" for name, value in document.items())


def _facts(
    reader: StoreReader,
    entry: CampaignEntry,
    records: Sequence[RunRecord],
    columns: Iterable[Column],
) -> dict[str, str]:
    """Return when and where runs were done, with which versions."""
    places = dict.fromkeys(record.place.partition(":")[0] for record in records)
    versions: dict[str, dict[str, None]] = defaultdict(dict)
    for record in records:
        for name, version in record.versions.items():
            versions[name][version] = None
    file = relative_path(Path(entry.file)) if entry.file else ""
    facts = {
        "campaign file": file,
        "store": f"{relative_path(reader.path)}, campaign {entry.number}",
        "runs started": _span(sorted(map(_date, records))),
        "time of all runs": _duration(sum(round(record.duration, 6) for record in records)),
        "hosts": listed(places, _FEW),
        "seeds": _seeds(records, columns),
    }
    facts["versions"] = ", ".join(f"{name} {listed(each, _FEW)}" for name, each in versions.items())
    if file:
        from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on

        again = command_that_goes_on(Path(file), Path(relative_path(reader.path)))
        facts["resumed or run again by"] = again
    if any(map(_is_reproduction, records)):
        facts["resumed or measured again by"] = _reproduced_by(reader.path, entry.title)
    return {name: text for name, text in facts.items() if text}


def _reproduced_by(store: Path, title: str) -> str:
    """Return the command of a reproduction; empty if it is none of ours."""
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


def _span_of(values: Sequence[Value]) -> str:
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
