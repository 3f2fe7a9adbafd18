"""Reproducing papers: the claims of each capability, measured in parallel and kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.campaigns.contents import claim_from, figure_from
from simplugin.campaigns.outputs import plain
from simplugin.campaigns.reproductions import ALL, ReproductionJobs
from simplugin.campaigns.running.campaign_runs import Means, run_source
from simplugin.campaigns.store import StoreReader
from simplugin.claims import Claim
from simplugin.figures import Figure

if TYPE_CHECKING:
    from simplugin.campaigns.running.coordinator import Summary
    from simplugin.campaigns.running.progress_of_runs import Progress


@dataclass(frozen=True)
class Reproduction:
    """What a reproduction gave.

    Attributes
    ----------
    claims : dict of str to tuple of Claim
        For each capability, in the order of its module.
    figures : dict of str to tuple of Figure
        Likewise; empty unless asked for.
    summary : Summary
        How many parts were measured, now or before, and which failed.
    together : bool
        Whether all capabilities were asked for, so that each claim says whose it is.
    """

    claims: Mapping[str, tuple[Claim, ...]]
    figures: Mapping[str, tuple[Figure, ...]]
    summary: Summary
    together: bool = False

    def document(self) -> dict[str, Any]:
        """Return the claims as plain containers, for JSON."""
        return {
            "claims": [
                ({"capability": name} if self.together else {}) | plain(claim.document())
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
        A key of `simplugin.campaigns.reproductions.CAPABILITIES`, or "all".
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
    forgotten = tempfile.TemporaryDirectory(prefix="simplugin-") if store is None else nullcontext()
    with forgotten as directory:
        path = Path(directory or "") / "store.sqlite" if store is None else Path(store)
        means = Means(jobs=jobs, scheduler=scheduler, report=progress)
        summary = run_source(source, path, means, retry_failed=True)
        claims, curves = _recorded(path, summary.campaign)
    return Reproduction(
        {each: tuple(claims.get(each, ())) for each in source.names},
        {each: tuple(curves.get(each, ())) for each in source.names} if figures else {},
        summary,
        name == ALL,
    )


def _recorded(store: Path, campaign: int) -> tuple[dict[str, list[Claim]], dict[str, list[Figure]]]:
    """Return the claims and the curves of each capability, in the order of the parts."""
    claims: dict[str, list[Claim]] = {}
    curves: dict[str, list[Figure]] = {}
    with StoreReader(store) as reader:
        found = sorted(reader.contents(campaign), key=lambda each: each[0].job.position)
    for _, kept in found:
        name = kept["capability"]
        claims.setdefault(name, []).extend(map(claim_from, kept.get("claims", ())))
        curves.setdefault(name, []).extend(map(figure_from, kept.get("figures", ())))
    return claims, curves
