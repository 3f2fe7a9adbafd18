"""Campaigns from a script or a notebook, with the store, runs and report of the command."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from simplugin.calibration.sensitivity import sensitivities
from simplugin.campaigns.campaign import Campaign, CampaignSettings
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
    from simplugin.results.tables import ResultTable
    from simplugin.scenarios.scenario import Scenario


@dataclass(frozen=True)
class CampaignResults:
    """The recorded runs of a campaign.

    Attributes
    ----------
    summary : CampaignSummary
        The store, the number of the campaign in it, and the numbers of runs that are done, failed
        and were recorded before.
    """

    summary: CampaignSummary

    @cached_property
    def rows(self) -> list[dict[str, Cell]]:
        """A row for each run, failed ones included: varied keys, metrics, `status`, `error`."""
        with StoreReader(self.summary.store) as reader:
            columns = reader.columns(self.summary.campaign)
            cells = reader.cells(columns, self.summary.campaign)
            return [dict(zip(columns.names, row, strict=True)) for row in cells]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the same rows; ``attrs["units"]`` has the units of metrics by their columns."""
        with StoreReader(self.summary.store) as reader:
            return reader.frame(self.summary.campaign)

    def _repr_html_(self) -> str:
        """Return the first runs for a notebook: status, varied keys, metrics."""
        summary = self.summary
        with StoreReader(summary.store) as reader:
            known = reader.columns(summary.campaign)
        names = ["status", *known.varied.values(), *known.metrics.values()]
        columns = [(name, known.units.get(name, "")) for name in names]
        lines = ([row[name] for name in names] for row in self.rows)
        title = f"{summary.title}: {summary.done} of {summary.total} done, {summary.failed} failed"
        return html_table(columns, lines, len(self.rows), title=title)

    def sensitivity(self, *metrics: str) -> list[ResultTable]:
        """Return the sensitivity of metrics to the keys that are swept with sobol or morris.

        Parameters
        ----------
        *metrics : str
            Names; by default all metrics with a direction of improvement, or all if there are none.

        Raises
        ------
        SimpluginError
            There is no such metric.
        """
        with StoreReader(self.summary.store) as reader:
            return sensitivities(reader, reader.entry(self.summary.campaign), metrics)

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


class CampaignOptions(CampaignSettings, total=False):
    """Keyword arguments of `campaign`: the keys of ``[campaign]``, and those of `RunOptions`."""

    jobs: int | None
    scheduler: str | None
    slurm: bool
    retry_failed: bool
    keep_going: bool


_RUNNERS = ("jobs", "scheduler", "slurm", "retry_failed", "keep_going")


def campaign(
    what: Scenario | str | os.PathLike[str] | Mapping[str, Any] | Callable[[dict[str, Any]], Any],
    sweep: Mapping[str, Any] | None = None,
    variations: Sequence[Mapping[str, Any]] = (),
    *,
    directory: str | os.PathLike[str] = ".",
    trust: Iterable[str] = (),
    progress: Callable[[CampaignProgress], None] | bool | None = None,
    stop: Callable[[], bool] | None = None,
    **options: Unpack[CampaignOptions],
) -> CampaignResults:
    """Do all runs of a campaign that are not recorded.

    The same call continues a campaign that was interrupted. Each run is done in a supervised
    process: a function need not be importable, since its code is sent; a function that has changed
    is run again.

    Parameters
    ----------
    what : Scenario, path, mapping or callable
        A scenario, its file or the content of a file; or a function ``(parameters) -> metrics``
        from dict to dict.
    sweep : mapping
        The grid: for each dotted key of the scenario, or parameter of the function, a list, a
        `range`, an array or ``{"from": ..., "to": ...}``.
    variations : sequence of mapping
        The list: keys and values, optionally with ``name`` and ``sweep``.
    directory : path
        If there is no file: the directory to which paths are relative, and of the default store,
        ``campaign.sqlite``.
    trust : iterable of str
        Modules in other places that a scenario may name.
    progress : bool or callable, optional
        True for a progress bar on a terminal, a text in a notebook, or else lines; or a callable
        that takes a `CampaignProgress`.
    stop : callable, optional
        As in `simplugin.campaigns.run_campaign`.
    **options
        ``jobs``, ``scheduler``, ``slurm``, ``retry_failed`` and ``keep_going`` as in
        `simplugin.campaigns.running.campaign_runs.RunOptions`; ``store``, ``wall_limit``,
        ``memory_limit``, ``retries``, ``keep`` and ``inputs`` as in ``[campaign]``.

    Returns
    -------
    CampaignResults
        All runs. There is a warning if some failed.

    Raises
    ------
    SimpluginError
        The scenario or the sweep is invalid, the function cannot be sent to other processes, or
        the store cannot be written.
    """
    settings: Any = dict(options)
    runners: Any = {key: settings.pop(key) for key in _RUNNERS if key in settings}
    if callable(what):
        made = Campaign.from_function(what, sweep, variations, directory=directory, **settings)
    else:
        made = Campaign.from_scenario(
            what, sweep, variations, directory=directory, trust=trust, **settings
        )
    display = RunsDisplay(EscapingConsole(stderr=True)) if progress is True else None
    report = display.report if display else progress if callable(progress) else None
    with display or nullcontext():
        summary = run_campaign(made, progress=report, stop=stop, **runners)
    if summary.failures:
        first = summary.failures[0].text.partition("\n")[0]
        message = f"{summary.failed} of {summary.total} runs failed; the first: {first}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return CampaignResults(summary)
