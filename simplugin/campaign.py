"""Campaigns from a script or a notebook, with the store, the runs and the report of the command."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.running.campaign_runs import run_campaign
from simplugin.campaigns.store import StoreReader
from simplugin.cli.displays import RunsDisplay
from simplugin.cli.report import write_report
from simplugin.core.console import EscapingConsole
from simplugin.core.formatting import html_table

if TYPE_CHECKING:
    import pandas

    from simplugin.campaigns.running.reporting import CampaignProgress, CampaignSummary
    from simplugin.campaigns.store.tables import Cell
    from simplugin.scenarios.scenario import Scenario


@dataclass(frozen=True)
class CampaignResults:
    """The recorded runs of a campaign.

    Attributes
    ----------
    summary : Summary
        The store, the number of the campaign in it, and the numbers of runs that are done, failed
        and were recorded before.
    """

    summary: CampaignSummary

    @cached_property
    def rows(self) -> list[dict[str, Cell]]:
        """A row for each run, failed ones included: what was varied, metrics, `status`, `error`."""
        with StoreReader(self.summary.store) as reader:
            columns = reader.columns(self.summary.campaign)
            cells = reader.cells(columns, self.summary.campaign)
            return [dict(zip(columns.names, row, strict=True)) for row in cells]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the same rows; ``attrs["units"]`` has the units of metrics by their columns."""
        with StoreReader(self.summary.store) as reader:
            return reader.frame(self.summary.campaign)

    def _repr_html_(self) -> str:
        """Show the first runs in a notebook: status, what was varied, metrics."""
        summary = self.summary
        with StoreReader(summary.store) as reader:
            known = reader.columns(summary.campaign)
        names = ["status", *known.varied.values(), *known.metrics.values()]
        columns = [(name, known.units.get(name, "")) for name in names]
        lines = ([row[name] for name in names] for row in self.rows)
        title = f"{summary.title}: {summary.done} of {summary.total} done, {summary.failed} failed"
        return html_table(columns, lines, len(self.rows), title=title)

    def report(
        self,
        directory: str | os.PathLike[str],
        *,
        figures: Literal["main", "all", "none"] = "main",
        group: str | None = None,
        baseline: str | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Path:
        """Write the page and figures of ``simplugin report``; return the page.

        Parameters
        ----------
        directory : path
            Where ``index.html`` is written.
        figures : {"main", "all", "none"}
            Figures as PDF and PNG.
        group : str, optional
            Key by which runs are compared.
        baseline : str, optional
            Value of that key to compare with.
        names : mapping of str to str, optional
            What keys and metrics are called in figures and on the page.

        Raises
        ------
        SimpluginError
            Nothing is recorded, `group` is the same in all runs, or a file cannot be written.
        """
        store, number = self.summary.store, self.summary.campaign
        page, _, missing = write_report(
            store, Path(directory), figures, number, group, baseline, names or {}
        )
        for warning in missing:
            warnings.warn(warning, stacklevel=2)
        return page


def campaign(
    what: Scenario | str | os.PathLike[str] | Mapping[str, Any] | Callable[[dict[str, Any]], Any],
    sweep: Mapping[str, Any] | None = None,
    variations: Sequence[Mapping[str, Any]] = (),
    *,
    directory: str | os.PathLike[str] = ".",
    jobs: int | None = None,
    scheduler: str | None = None,
    slurm: bool = False,
    retry_failed: bool = False,
    keep_going: bool = False,
    progress: Callable[[CampaignProgress], None] | bool | None = None,
    stop: Callable[[], bool] | None = None,
    **settings: Any,
) -> CampaignResults:
    """Run what is not recorded yet of a campaign.

    A call that was interrupted goes on where it was when it is made again; of one that is complete
    it runs nothing. Runs are done in processes of their own: a function need not be importable,
    its code goes there, and another code is run anew.

    Parameters
    ----------
    what : Scenario, path, mapping or callable
        A scenario, its file or what one holds; or a function ``(parameters) -> metrics`` of dicts.
    sweep : mapping
        The grid: dotted keys of the scenario, or parameters of the function, with a list, a
        `range`, an array or ``{"from": ..., "to": ...}`` each.
    variations : sequence of mapping
        The list: keys and values each; ``name`` and ``sweep`` may be among them.
    directory : path
        Where paths of what is no file start, and where its results are by default, in
        ``campaign.sqlite``.
    jobs : int, optional
        Runs at a time on this host; as many as it has processors by default.
    progress : bool or callable, optional
        True to show how far it is: a bar on a terminal, a text that is kept up to date in a
        notebook, else lines. Or what is called with the `CampaignProgress` now and then.
    scheduler, slurm, retry_failed, keep_going, stop
        As in `simplugin.campaigns.run_campaign`.
    **settings
        The keys of ``[campaign]``: ``store``, ``wall_limit``, ``memory_limit``, ``retries``,
        ``keep``, ``inputs``; for a scenario also ``trust``, modules elsewhere that it may name.

    Returns
    -------
    CampaignResults
        The runs, recorded earlier or now. There is a warning if some failed.

    Raises
    ------
    SimpluginError
        Something is wrong with the scenario or the sweep, the function cannot be sent to other
        processes, or the store cannot be written.
    """
    make: Any = Campaign.from_function if callable(what) else Campaign.from_scenario
    made = make(what, sweep, variations, directory=directory, **settings)
    display = RunsDisplay(EscapingConsole(stderr=True)) if progress is True else None
    report = display.report if display else progress if callable(progress) else None
    with display or nullcontext():
        summary = run_campaign(
            made,
            jobs=jobs,
            scheduler=scheduler,
            slurm=slurm,
            retry_failed=retry_failed,
            keep_going=keep_going,
            progress=report,
            stop=stop,
        )
    if summary.failures:
        first = summary.failures[0].text.partition("\n")[0]
        message = f"{summary.failed} of {summary.total} runs failed; the first: {first}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return CampaignResults(summary)
