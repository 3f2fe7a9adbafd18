"""Reproducing papers: the claims of each capability, measured in parallel and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from simplugin.campaigns.jobs import Record
from simplugin.campaigns.running.campaign_runs import Means, run_source
from simplugin.campaigns.running.course import Terms
from simplugin.campaigns.running.reporting import Progress, Summary
from simplugin.campaigns.store import StoreReader
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.inputs.scratch import scratch_directory
from simplugin.papers.reproductions import ALL, ReproductionJobs
from simplugin.scenarios.outputs import claim_from, figure_from, finite, plain


@dataclass(frozen=True)
class Facts:
    """Origin of the claims of a capability.

    Attributes
    ----------
    dates : tuple of (str, str)
        Days of the first and of the last part, as ISO 8601 in UTC.
    versions : mapping of str to str
        Of Python and of the packages that had a part in it.
    seconds : float
        What the parts took, one after the other [s].
    """

    dates: tuple[str, str]
    versions: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Reproduction:
    """Results of a reproduction.

    Attributes
    ----------
    claims : dict of str to tuple of Claim
        For each capability, in the order of its module.
    figures : dict of str to tuple of Figure
        Likewise; empty unless asked for.
    facts : dict of str to Facts
        Likewise, of those with claims; when and by what they were measured.
    summary : Summary
        How many parts were measured, now or before, and which failed.
    together : bool
        Whether all capabilities were asked for, so that each claim says whose it is.
    """

    claims: Mapping[str, tuple[Claim, ...]]
    figures: Mapping[str, tuple[Figure, ...]]
    facts: Mapping[str, Facts]
    summary: Summary
    together: bool = False

    def document(self) -> dict[str, Any]:
        """Return the claims as plain containers, for JSON."""
        return {
            "claims": [
                ({"capability": name} if self.together else {}) | finite(plain(claim.document()))
                for name, claims in self.claims.items()
                for claim in claims
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
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Measure the claims of a capability, or of all.

    Each part is recorded as soon as it is measured: the same call goes on where one before it was
    interrupted, as long as the code has not changed.

    Parameters
    ----------
    name : str
        A key of `simplugin.papers.reproductions.CAPABILITIES`, or "all".
    quick : bool
        Whether to do less; claims that need all of it are left out.
    figures : bool
        Whether to compute the curves too.
    store : path, optional
        Where parts are recorded; by default they are forgotten at the end.
    jobs : int, optional
        Parts at a time on this host; as many as it has processors by default.
    scheduler : str, optional
        Address of a Dask scheduler whose workers measure instead.
    progress : callable, optional
        Called about five times a second with how far it is.

    Raises
    ------
    SimpluginError
        There is no such capability, or the store cannot be written.
    """
    source = ReproductionJobs.of(name, quick=quick, figures=figures)
    forgotten = scratch_directory() if store is None else nullcontext()
    with forgotten as directory:
        path = Path(directory or "") / "store.sqlite" if store is None else Path(store)
        means = Means(jobs=jobs, scheduler=scheduler, report=progress)
        summary = run_source(source, path, means, Terms(retry_failed=True))
        recorded = _recorded(path, summary.campaign)
    claims = _by_capability(recorded, "claims", claim_from)
    curves = _by_capability(recorded, "figures", figure_from)
    return Reproduction(
        {each: claims.get(each, ()) for each in source.names},
        {each: curves.get(each, ()) for each in source.names} if figures else {},
        {each: _facts(recorded, each) for each in claims},
        summary,
        name == ALL,
    )


_Recorded = list[tuple[Record, Mapping[str, Any]]]
_Kept = TypeVar("_Kept")


def _recorded(store: Path, campaign: int) -> _Recorded:
    """Return what was measured, in the order of the parts."""
    with StoreReader(store) as reader:
        return list(reader.contents(campaign))


def _of(record: Record) -> str:
    """Return the capability of a part."""
    return str(record.job.varied["capability"])


def _by_capability(
    recorded: _Recorded, kind: str, read: Callable[[Mapping[str, Any]], _Kept]
) -> dict[str, tuple[_Kept, ...]]:
    """Return what parts kept, of each capability."""
    found: dict[str, tuple[_Kept, ...]] = {}
    for record, kept in recorded:
        if kind in kept:
            name = _of(record)
            found[name] = (*found.get(name, ()), *map(read, kept[kind]))
    return found


def _facts(recorded: _Recorded, capability: str) -> Facts:
    """Return how the parts of a capability were measured."""
    records = [record for record, _ in recorded if _of(record) == capability]
    days = sorted(record.started[:10] for record in records)
    versions = {name: value for record in records for name, value in record.versions.items()}
    return Facts((days[0], days[-1]), versions, sum(record.duration for record in records))
