"""``simplugin adversary``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import typer

from simplugin.calibration.adversary import (
    SEARCHES,
    Robustness,
    RobustnessCheck,
    load_adversary,
    ratio_cell,
    ratio_text,
    try_claim,
    worst_scenarios,
)
from simplugin.cli.calibrate import Starter, runs_text, studied
from simplugin.cli.displays import standard_output
from simplugin.cli.terminal import relative_path
from simplugin.core.formatting import percent, printable
from simplugin.inputs.messages import dotted
from simplugin.reports.page import CampaignReport, KeptRun, write_page
from simplugin.reports.tables import print_listings
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import Cell, ResultTable
from simplugin.scenarios.loading import load_scenario, run_scenario


def adversary_command(
    file: Path,
    starter: Starter,
    store: Path | None,
    trust: Iterable[str],
    directory: Path | None,
    *,
    as_json: bool,
) -> None:
    """Try a claim, print the result, write the worst case and the page."""
    study = load_adversary(file, trust=trust)
    found = studied(study.campaign, starter, partial(try_claim, study, store=store))
    texts = worst_scenarios(found)
    # That of an earlier claim would look like the other one's.
    file.with_name(f"{file.stem}.worst.against.toml").unlink(missing_ok=True)
    for place, text in texts.items():
        place.write_text(text, encoding="utf-8")
    files = [*texts]
    if directory is not None:
        files.append(write_page(_report(found, tuple(texts), tuple(trust)), directory))
    if as_json:
        typer.echo(json.dumps({**found.document(), "files": [str(each) for each in files]}))
        return
    _print(found)
    for place in files:
        typer.echo(f"wrote {relative_path(place)}")


def _print(found: Robustness) -> None:
    """Print the claim, and how far it holds."""
    ratio = ratio_text(found.nominal.ratio)
    typer.echo(printable(f"claim: {found.study.claim}; as it is, ratio {ratio}"))
    print_listings(None, [_checks(found)], console=standard_output())
    typer.echo(printable(_worst(found)))
    typer.echo(runs_text(found.runs, found.failed, found.seconds))
    if found.failure:
        typer.echo(printable(f"first failure: {found.failure}"))


def _worst(found: Robustness) -> str:
    """Return the worst case in words."""
    worst = found.counterexample
    return f"worst case: {found.in_words(worst)}, ratio {ratio_text(worst.ratio)}"


def _checks(found: Robustness) -> ResultTable:
    """Return the table of the checks."""
    every = found.checks
    columns: list[tuple[str, str, list[Cell]]] = [
        ("over", "", [each.name for each in every]),
        ("holds in", "", [f"{each.held} of {each.cases}" for each in every]),
        ("95 %", "", [_interval(each, found) for each in every]),
        ("largest ratio", "", [ratio_cell(each.worst.ratio) for each in every]),
        ("failed", "", [each.failed for each in every]),
    ]
    return ResultTable.of_columns("Claim", columns)


def _interval(check: RobustnessCheck, found: Robustness) -> str:
    """Return the interval of a share, or why there is none."""
    if check.name == SEARCHES:
        return "searched" if any(len(each) > 1 for each in found.histories) else "not searched"
    if check.interval is None:
        return "no effect" if check.cases else "all failed"
    return f"{percent(check.interval[0])} to {percent(check.interval[1])}"


def _report(found: Robustness, files: Sequence[Path], trust: Sequence[str]) -> CampaignReport:
    """Return the content of the page."""
    study, unit = found.study, found.unit
    known = (np.array(each) for each in found.histories)
    best = (np.fmax.accumulate(np.where(np.isfinite(each), each, np.nan)) for each in known)
    curves = {f"search {at}": (np.arange(len(each)), each) for at, each in enumerate(best, 1)}
    searches = CurvePlot("searches", "Searches", "evaluations", "largest ratio", curves)
    kept = [KeptRun("Claim", figures=(searches,), listings=(_checks(found),))]
    for file, name in zip(files, (study.scheduler, study.section.opponent), strict=False):
        run = run_scenario(load_scenario(file, trust=trust))
        title = f"Worst case, {name}"
        kept.append(KeptRun(title, schedule=run.schedule, listings=run.listings))
    keys = ((dotted(key.path), json.dumps(key.value)) for key in found.counterexample.settings)
    cases = [(each.name, case) for each in found.checks for case in each.outcomes]
    columns: list[tuple[str, str, list[Cell]]] = [
        ("over", "", [name for name, _ in cases]),
        ("ratio", "", [ratio_cell(each.ratio) for _, each in cases]),
        (study.scheduler, unit, [each.value for _, each in cases]),
        (study.section.opponent, unit, [each.other for _, each in cases]),
    ]
    settings = ResultTable("Worst case, keys", (("key", ""), ("value", "")), tuple(keys))
    every = ResultTable.of_columns("Cases", columns)
    return CampaignReport(
        title=study.campaign.title or study.claim,
        facts={
            "worst case": _worst(found),
            "replay": "; ".join(f"simplugin run {relative_path(each)}" for each in files),
        },
        kept=(*kept, KeptRun("Cases", listings=(settings, every))),
        headline=f"{study.claim}: ratio as it is {ratio_text(found.nominal.ratio)}",
        heading="Robustness",
    )
