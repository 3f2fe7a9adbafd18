"""What negotiations reach and take, as a table and as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.market.model import completion_times
from simplugin.market.negotiation_survey import CLEARING, EQUAL, effort
from simplugin.market.negotiation_times import ALPHA, KIND, LATENCY, TERMS, simulated
from simplugin.market.negotiations import NEGOTIATIONS, negotiate
from simplugin.market.section5_sites import N_PEERS, SEED, TASKS, chosen_site
from simplugin.workloads.bundles import Bundle

if TYPE_CHECKING:
    from simplugin.workloads.bundle_markets import Floats

_COUNTS = (12, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_PEERS = (3, 10, 30, 100, 300, 1000, 3000, 10_000)
_EACH = 100


def negotiation_listing(quick: bool = False) -> Listing:
    """Return what each negotiation reaches and takes, as a table.

    Parameters
    ----------
    quick : bool
        60 markets instead of 1000.
    """
    times = {each.name: each for each in simulated()}
    lines = []
    for name in NEGOTIATIONS:
        found = effort(name, quick)
        lines.append(
            (
                name,
                int(np.sum(np.abs(found.gaps) <= EQUAL)),
                float(np.median(found.rounds)),
                int(found.rounds.max()),
                float(np.median(found.messages)),
                float(found.messages.max()),
                float(np.median(found.bytes)),
                float(np.mean(found.told)),
                times[name].rounds,
                times[name].own_time,
            )
        )
    total = len(found.gaps)
    return Listing(
        "Negotiations",
        (
            ("Negotiation", ""), ("Exact", ""), ("Rounds", ""), ("Most rounds", ""),
            ("Messages a peer", ""), ("Most messages a peer", ""), ("Bytes a peer", "B"),
            ("Worths told", ""), ("Rounds on the site", ""), ("Time on the site", "s"),
        ),
        tuple(lines),
        f"{total} random markets, seeds 0 to {total - 1}: in how many the benefit is the largest;"
        " medians, the largest, and how many times a peer tells what a task is worth to it on"
        f" average. The site: {N_PEERS} peers, {TASKS} {KIND} tasks, alpha {ALPHA:g}, no N_max,"
        f" latency {LATENCY:g} s.",
    )  # fmt: skip


def figures(quick: bool) -> list[Figure]:
    """Return rounds against how many tasks and how many peers there are."""
    site, bundle = chosen_site(), Bundle.of_class(KIND, TASKS)
    values = TERMS.values(completion_times(site, bundle))
    counts = _COUNTS[:6] if quick else _COUNTS
    by_tasks = {
        name: [_rounds(name, values, count) for count in counts] for name in ("isgbmat", *CLEARING)
    }
    peers = _PEERS[:4] if quick else _PEERS
    drawn = 60 * exp(np.random.default_rng(SEED).normal(0, 0.5, max(peers)))
    by_peers = {
        name: [_rounds(name, drawn[:count], _EACH * count) for count in peers] for name in CLEARING
    }
    return [
        Figure(
            "negotiation-rounds-tasks",
            f"Rounds of negotiations, {N_PEERS} peers, alpha {ALPHA:g}, no N_max",
            "logarithm of the number of tasks, log10 m",
            "rounds",
            {name: (np.log10(counts), took) for name, took in by_tasks.items()},
            log_y=True,
        ),
        Figure(
            "negotiation-rounds-peers",
            f"Rounds of negotiations, {_EACH} tasks a peer, alpha {ALPHA:g}, no N_max",
            "logarithm of the number of peers, log10 n",
            "rounds",
            {name: (np.log10(peers), took) for name, took in by_peers.items()},
        ),
    ]


def _rounds(name: str, values: Floats, m: int) -> int:
    """Return how many rounds a negotiation of peers without caps takes."""
    return negotiate(NEGOTIATIONS[name], values, m, m, 1 - ALPHA).rounds
