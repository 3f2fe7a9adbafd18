"""Reproducing papers: the claims of each capability, measured in parallel and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from simplugin.campaigns.running.campaign_runs import RunnersOnDemand, chosen_runners
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.running.reporting import CampaignProgress, CampaignSummary
from simplugin.campaigns.store import StoreReader
from simplugin.inputs.temporary_directories import scratch_directory
from simplugin.papers.reproductions import ALL, ReproductionJobs
from simplugin.results.claims import Claim
from simplugin.scenarios.outputs import finite, from_document


@dataclass(frozen=True)
class Reproduction:
    """Results of a reproduction.

    Attributes
    ----------
    documents : dict of str to dict
        Documents of the measured capabilities, as `recorded` returns them.
    summary : CampaignSummary
        Counts of the measured parts, including earlier ones, and the failed parts.
    together : bool
        True if all capabilities were measured, so that claims name their capability.
    """

    documents: Mapping[str, Mapping[str, Any]]
    summary: CampaignSummary
    together: bool = False

    @property
    def claims(self) -> dict[str, list[Claim]]:
        """Claims of each capability, in the order of its parts."""
        documents = self.documents.items()
        return {
            name: [from_document(Claim, each) for each in found["claims"]]
            for name, found in documents
        }

    def document(self) -> dict[str, Any]:
        """Return the claims as plain containers, for JSON."""
        return {
            "claims": [
                ({"capability": name} if self.together else {}) | finite(claim)
                for name, found in self.documents.items()
                for claim in found["claims"]
            ]
        }


def reproduce(
    name: str,
    *,
    quick: bool = False,
    figures: bool = False,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[CampaignProgress], None] | None = None,
) -> Reproduction:
    """Measure the claims of a capability, or of all.

    Each part is recorded as soon as it is measured: a repeated call continues an interrupted one,
    unless the code has changed.

    Parameters
    ----------
    name : str
        A key of `simplugin.papers.reproductions.CAPABILITIES`, or "all".
    quick : bool
        True for a reduced run, without the claims that need the full one.
    figures : bool
        True to compute curves as well.
    store : path, optional
        Store of the measured parts; None for a temporary one.
    jobs : int, optional
        Number of parallel parts on this host; by default its number of processors.
    scheduler : str, optional
        Address of a Dask scheduler, to measure on its workers.
    progress : callable, optional
        Called about five times a second with the progress.

    Raises
    ------
    SimpluginError
        There is no such capability, or the store cannot be written.
    """
    source = ReproductionJobs.of(name, quick=quick, figures=figures)
    forgotten = scratch_directory() if store is None else nullcontext()
    with forgotten as directory:
        path = Path(directory or "") / "store.sqlite" if store is None else Path(store)
        start = partial(chosen_runners, jobs, scheduler)
        terms = RetryPolicy(retry_failed=True)
        with RunnersOnDemand(start) as runners:
            summary = run_jobs(source, path, runners, terms=terms, report=progress)
        return Reproduction(recorded(path, summary.campaign), summary, name == ALL)


def recorded(store: str | Path, campaign: int | None = None) -> dict[str, Any]:
    """Return the results of a reproduction in a store, a document for each capability.

    Parameters
    ----------
    store : path
        Where the parts are recorded.
    campaign : int, optional
        Number of the campaign, by default the one that was begun last.

    Returns
    -------
    dict of str to dict
        Plain containers, as JSON has them. ``quick`` is True if less was measured; ``dates`` are
        the days in UTC; ``versions`` those of the packages;
        ``seconds`` is the CPU time of the parts [s], or their real time where that is all that is
        recorded; ``claims`` and ``figures`` are documents for
        `simplugin.scenarios.outputs.from_document`, in the order of the parts.

    Raises
    ------
    StoreError
        The store cannot be read, or has no such campaign.
    """
    found: dict[str, Any] = {}
    with StoreReader(store) as reader:
        for record, kept in reader.contents(campaign or reader.latest().number):
            varied = record.job.varied
            empty = {"dates": [], "versions": {}, "seconds": 0.0, "claims": [], "figures": []}
            entry = found.setdefault(varied["capability"], {"quick": varied["quick"], **empty})
            entry["dates"] = sorted({*entry["dates"], record.started[:10]})
            entry["versions"] |= record.versions
            entry["seconds"] += kept.get("cpu", record.duration)
            for kind in ("claims", "figures"):
                entry[kind] += kept.get(kind, ())
    return found
