"""Peers that misreport on SimGrid: what they really earn by tasks that pay by measured time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.market.execution import execute
from simplugin.market.misreport_claims import ALPHA, PAST, on_site, site_reports
from simplugin.market.model import Terms, completion_times
from simplugin.market.section5_sites import TASKS, chosen_site
from simplugin.workloads.bundles import CLASSES, Bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.deals import Deal
    from simplugin.market.misreports import Report
    from simplugin.platforms.peers import PeerSite
    from simplugin.workloads.bundle_markets import Floats

_TERMS = Terms(alpha=ALPHA)
_CLOSE = 1e-6


@dataclass(frozen=True)
class Lie:
    """What the best report of a peer does, computed and simulated.

    Attributes
    ----------
    report : Report
        The peer, its report, and what it was to gain.
    gain, expected : float
        What it earned more than by the truth, as part of that: simulated, and computed.
    completion : float
        Of the bundle, as part of that by the truth.
    """

    report: Report
    gain: float
    expected: float
    completion: float


def simulated_lie(kind: str) -> Lie:
    """Return what the peer of the chosen site that gains most by a lie gains on SimGrid.

    Peers post their values, the local scheduler sells at the uniform clearing price. Tasks pay by
    the time that the peer has really taken, V_i = price_unit / (T_i / A_i).

    Parameters
    ----------
    kind : {"computation", "neutral", "communication"}
        Class of the bundle's 1000 tasks.
    """
    best = max(site_reports(kind), key=lambda each: each.gain)
    site, bundle = chosen_site(), Bundle.of_class(kind, TASKS)
    believed = _as_if(site, bundle, best.peer, best.factor)
    honest, lying = (
        execute(site, bundle, _TERMS, "optimum", believed=each).deals[0]
        for each in (site, believed)
    )
    truth = _earned(honest)[best.peer]
    return Lie(
        best,
        float(_earned(lying)[best.peer] / truth) - 1,
        best.gain / best.before,
        lying.outcome().completion / honest.outcome().completion,
    )


def _as_if(site: PeerSite, bundle: Bundle, peer: int, factor: float) -> PeerSite:
    """Return a site on which a task is worth `factor` times as much to a peer."""
    time = float(completion_times(site, bundle)[peer])
    scale = np.ones(site.n_peers)
    scale[peer] = (time - _TERMS.setup) / (time / factor - _TERMS.setup)
    return replace(site, speed=site.speed * scale, bandwidth=site.bandwidth * scale)


def _earned(deal: Deal) -> Floats:
    """Return what each peer keeps if its tasks pay by measured time [price]."""
    amounts = np.maximum(deal.amounts, 1)
    measured = deal.outcome().times / amounts
    # Who has no task has taken no time.
    worked = np.where(deal.amounts > 0, measured, np.inf)
    paid = _TERMS.price_unit / worked * deal.market.sums(deal.amounts) / deal.market.values
    earned: Floats = paid - deal.amounts * deal.price
    return earned


def simulated(quick: bool) -> list[Claim]:
    """Return whether lies gain on SimGrid what they were computed to gain."""
    kinds = ("computation",) if quick else tuple(CLASSES)
    found = {kind: simulated_lie(kind) for kind in kinds}
    return [
        Claim(
            "On SimGrid the peer that gains most by a lie earns what was computed",
            "not said",
            "; ".join(
                f"{kind}: peer {each.report.peer + 1} reports {each.report.factor:.3f} of its"
                f" speed and gains {each.gain:.4%} of its profit ({each.expected:.4%} computed),"
                f" the bundle takes {each.completion:.3f} times as long"
                for kind, each in found.items()
            ),
            all(
                each.gain > 0 and abs(each.gain - each.expected) <= _CLOSE
                for each in found.values()
            ),
            "actors sell and execute the bundle twice, once with the lie; tasks pay by the time"
            f" that they are measured to take. Agrees if it gains, and by {_CLOSE:g} of its profit"
            " as computed",
            PAST,
            provenance=on_site() | {"negotiation": "posted values, uniform clearing price"},
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"misreports on SimGrid": simulated}
