"""``simplugin calibrate``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from simplugin.calibration import presentation
from simplugin.calibration.calibrating import Calibration, calibrate, calibrated_scenario, loss_text
from simplugin.calibration.evaluation import InterruptedStudyError
from simplugin.calibration.study import Study, load_study
from simplugin.campaigns.running.campaign_runs import RunnersOnDemand
from simplugin.cli.displays import duration_text, spinner, standard_output
from simplugin.cli.terminal import BY_SIGNAL, relative_path, stop_signals
from simplugin.core.console import EscapingConsole
from simplugin.core.formatting import counted

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.jobs import Runners

Starter = Callable[["Campaign"], Callable[[], AbstractContextManager["Runners"]]]
T_co = TypeVar("T_co", covariant=True)


class StudyFunction(Protocol[T_co]):
    """Function that does a study."""

    def __call__(
        self, runners: Runners, *, stop: Callable[[], bool], tell: Callable[[str], None]
    ) -> T_co:
        """Return the result; `tell` is called with lines on the progress."""


def studied(campaign: Campaign, starter: Starter, function: StudyFunction[T_co]) -> T_co:
    """Return the result of a study, with its progress on standard error; exit if it is stopped."""
    start = starter(campaign)
    console = EscapingConsole(stderr=True, highlight=False)
    try:
        with (
            stop_signals() as stopped,
            console.status("the scenario as it is") as status,
            RunnersOnDemand(start) as runners,
        ):
            return function(runners, stop=lambda: bool(stopped), tell=status.update)
    except InterruptedStudyError as error:
        typer.echo(f"simplugin: {error}", err=True)
        raise typer.Exit(BY_SIGNAL + stopped[0]) from None


def calibrate_command(
    file: Path,
    starter: Starter,
    store: Path | None,
    directory: Path | None,
    trust: Iterable[str],
    *,
    as_json: bool,
) -> int:
    """Calibrate, print the result, write scenario and page; return the exit status."""
    study = load_study(file, trust=trust)
    found = studied(study.campaign, starter, partial(calibrate, study, store=store))
    output = file.with_name(f"{file.stem}.calibrated.toml")
    output.write_text(calibrated_scenario(study, found), encoding="utf-8")
    page = None
    if directory is not None:
        with spinner(EscapingConsole(stderr=True), "writing the page"):
            page = write_calibration_page(study, found, directory)
    if as_json:
        document = {**found.document(), "scenario": str(output)}
        document |= {"page": str(page)} if page else {}
        typer.echo(json.dumps(document, default=str))
        return 0
    from simplugin.reports.tables import print_listings

    print_listings(None, presentation.result_tables(found), console=standard_output())
    typer.echo(runs_text(found.runs, found.failed, found.seconds))
    for path in filter(None, (output, page)):
        typer.echo(f"wrote {relative_path(path)}")
    return 0


def write_calibration_page(study: Study, found: Calibration, directory: Path) -> Path:
    """Write a page and its figures."""
    from simplugin.reports.campaign_figures import write_figures
    from simplugin.reports.page import CampaignReport, KeptRun, write_page

    fit = [*presentation.prediction_figures(found), presentation.search_figure(found)]
    pairs = f"Pairs of parameters (at most {presentation.MOST_PAIRS})"
    parts = (
        KeptRun("Result", listings=tuple(presentation.result_tables(found))),
        KeptRun("Fit", figures=tuple(fit)),
        KeptRun("Profiles", figures=tuple(presentation.profile_figures(study, found))),
        KeptRun(pairs, figures=tuple(presentation.pair_figures(study, found))),
    )
    report = CampaignReport(
        found.title or study.campaign.place.stem,
        facts={
            "study": relative_path(study.campaign.place),
            "measured values": relative_path(study.section.table),
            "method": study.section.method,
            "runs": runs_text(found.runs, found.failed, found.seconds),
        },
        kept=tuple(each for each in parts if each.figures or each.listings),
        headline=f"loss {found.loss}: {loss_text(found)}",
        heading="Calibration",
    )
    figures = write_figures(report, directory / "figures", which="all")
    for warning in figures.warnings:
        typer.echo(warning, err=True)
    return write_page(report, directory, figures)


def runs_text(runs: int, failed: int, seconds: float) -> str:
    """Return the numbers of runs of a study and of those that failed, and the sum of their time."""
    lost = f", {failed} failed" if failed else ""
    return f"{counted(runs, 'run')}{lost}, which took {duration_text(seconds)} in all"
