"""Estimated completion times against what SimGrid measures: where they are exact, and where not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.elementary import exp, log1p
from simplugin.figures import Figure
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.market.negotiations.shipped import NEGOTIATIONS
from simplugin.market.predicted_times import one_by_one, overlapped, shared_transfers
from simplugin.market.section5_sites import SEED, SETUP, TASKS, chosen_site
from simplugin.simulation import SimGridOptions
from simplugin.workloads.bundles import CLASSES, Bundle

if TYPE_CHECKING:
    from simplugin.market.deals import Deal
    from simplugin.platforms.peers import PeerSite
    from simplugin.workloads.bundle_markets import Floats

ALPHA = 0.01
TERMS = Terms(alpha=ALPHA, setup=SETUP)
# The bar for closed forms; relative.
EXACT = 1e-6
# SimGrid's factors: cross-traffic, and bandwidth and latency of its default model LV08.
CROSS, BANDWIDTH, LATENCY_FACTOR = 1.05, 0.97, 13.01
# From the local scheduler to any peer where there is a latency [s].
LATENCY = 0.01
WIDE_AREA = 0.05
# Of the uplink, over the bandwidths of all peers together.
UPLINKS, _QUICK_UPLINKS = (1.0, 0.5, 0.25, 1 / 12), (0.5, 1 / 12)
FIGURE_UPLINKS = 2.0 ** np.arange(1, -5.5, -0.5)
# Of how much tasks compute: coefficients of variation, and how many bundles are drawn.
VARIATIONS, DRAWS, QUICK_DRAWS = (0.25, 1.0, 2.0), 100, 5
_QUICK_NEGOTIATIONS = ("isgbmat", "optimum", "bisection", "secant")
_MODELS = {
    "cross-traffic alone": (SimGridOptions.linear(crosstraffic=True), CROSS),
    "LV08 without cross-traffic": (SimGridOptions(crosstraffic=False), 1 / BANDWIDTH),
    "SimGrid's default, LV08 and cross-traffic": (SimGridOptions(), CROSS / BANDWIDTH),
}


def provenance(**further: Any) -> dict[str, Any]:
    """Return what determines all measurements here, and what else one follows from."""
    return {
        "site": f"12 peers of section 5, seed {SEED}",
        "tasks": TASKS,
        "alpha": ALPHA,
        "N_max": "none",
        "assignment": "of the largest benefit",
        "t_setup [s]": SETUP,
    } | further


def dealt(site: PeerSite, bundle: Bundle, negotiation: str = "optimum", **further: Any) -> Deal:
    """Return a bundle's deal on SimGrid under the terms of this module.

    Parameters
    ----------
    site, bundle, negotiation, **further
        As those of `execute`.
    """
    return execute(site, bundle, TERMS, negotiation, **further).deals[0]


@cache
def linear(kind: str) -> Deal:
    """Return the deal of a class of tasks that come one after another, by the linear model."""
    return dealt(chosen_site(), Bundle.of_class(kind, TASKS))


def deviation(measured: Floats, expected: Floats) -> float:
    """Return the largest relative deviation of a peer that has tasks."""
    some = expected > 0
    return float(np.max(np.abs(measured[some] / expected[some] - 1)))


def by_class(values: list[float], form: str) -> str:
    """Return one number for each class of tasks as text."""
    return ", ".join(
        f"{value:{form}} ({kind})" for kind, value in zip(CLASSES, values, strict=True)
    )


def exact(_: bool) -> list[Claim]:
    """Return whether measured times are the estimated ones where nothing disturbs them."""
    deals = [linear(kind) for kind in CLASSES]
    worst = [deviation(deal.outcome().times, deal.estimated().times) for deal in deals]
    rest = max(
        deviation(
            deal.outcome().times,
            one_by_one(chosen_site(), Bundle.of_class(kind, TASKS), deal.amounts, SETUP),
        )
        for kind, deal in zip(CLASSES, deals, strict=True)
    )
    return [
        Claim(
            "A peer takes the estimated completion time of its tasks, T_i = A_i t_i",
            "T_i is the ECT of all assigned tasks",
            f"off by {by_class(worst, '.1e')}",
            max(worst) <= EXACT,
            "tasks transferred and executed on SimGrid one after another over links of their own,"
            " CM02 without cross-traffic, no latency; the largest relative deviation of a peer,"
            f" which the transfer of the award explains to {rest:.0e}. Agrees up to {EXACT:g}",
            "Eq. (4), section 5.1",
            provenance=provenance(options="CM02, no cross-traffic"),
        )
    ]


def models(_: bool) -> list[Claim]:
    """Return by how much SimGrid's other network models lengthen peers' times."""
    return [_model(name, *model) for name, model in _MODELS.items()]


def _model(name: str, options: SimGridOptions, factor: float) -> Claim:
    """Return what one of the models makes of the estimates."""
    site = chosen_site()
    excess, off = [], []
    for kind in CLASSES:
        bundle = Bundle.of_class(kind, TASKS)
        deal = dealt(site, bundle, options=options)
        times = deal.outcome().times
        excess.append(100 * deviation(times, deal.estimated().times))
        expected = one_by_one(site, bundle, deal.amounts, SETUP, transfers=factor)
        off.append(deviation(times, expected))
    return Claim(
        f"{name[0].upper()}{name[1:]}: peers take longer than estimated by the transfers' part"
        f" times {factor - 1:.4f}",
        "not said",
        f"up to {by_class(excess, '.3f')} %",
        max(off) <= EXACT,
        f"transfers take {factor:.5f} times as long, T_i = A_i (t_setup + {factor:.5f} S_cm/Cm_i +"
        f" S_cp/Cp_i); measured times differ from that by {max(off):.0e} at most. Agrees up to"
        f" {EXACT:g}",
        "past the paper",
        provenance=provenance(options=name),
    )


def latency(_: bool) -> list[Claim]:
    """Return what latency adds, of which estimates know nothing."""
    site = replace(chosen_site(), latency=LATENCY)
    excess, off = [], []
    for options, factors in (
        (SimGridOptions.linear(), (1.0, 1.0)),
        (SimGridOptions(), (CROSS / BANDWIDTH, LATENCY_FACTOR)),
    ):
        for kind in CLASSES:
            bundle = Bundle.of_class(kind, TASKS)
            deal = dealt(site, bundle, options=options)
            times = deal.outcome().times
            excess.append(100 * deviation(times, deal.estimated().times))
            transfers, latencies = factors
            expected = one_by_one(
                site, bundle, deal.amounts, SETUP, transfers=transfers, latencies=latencies
            )
            off.append(deviation(times, expected))
    return [
        Claim(
            "Each task pays the latency twice, for its data and for its acknowledgement",
            "not said",
            f"up to {by_class(excess[:3], '.3f')} % longer by the linear model,"
            f" {by_class(excess[3:], '.3f')} % by SimGrid's default",
            max(off) <= EXACT,
            f"{1000 * LATENCY:g} ms to every peer. Expected is 2 A_i times the latency, which the"
            f" default model takes {LATENCY_FACTOR} times, and the award's; measured times differ"
            f" by {max(off):.0e} at most. Agrees up to {EXACT:g}",
            "past the paper",
            provenance=provenance(latency=LATENCY),
        )
    ]


def overlap(_: bool) -> list[Claim]:
    """Return how much time peers save that fetch the next task while they compute one."""
    site = chosen_site()
    saved, completion, off = [], [], []
    for kind in CLASSES:
        bundle = Bundle.of_class(kind, TASKS)
        deal = dealt(site, bundle, overlap=True)
        measured, estimated = deal.outcome(), deal.estimated()
        saved.append(100 * deviation(measured.times, estimated.times))
        completion.append(100 * (1 - measured.completion / estimated.completion))
        off.append(
            deviation(measured.times, overlapped(site, bundle, deal.amounts, SETUP)),
        )
    return [
        Claim(
            "With the next transfer beside the current execution, estimates are too long, most so"
            " for neutral tasks",
            "not said",
            f"a peer is quicker by up to {by_class(saved, '.1f')} %, the bundle by"
            f" {by_class(completion, '.1f')} %",
            max(off) <= EXACT and saved[1] > max(saved[0], saved[2]),
            "closed form, with s, c and x the times of setup, transfer and execution: T_i = s + c +"
            f" (A_i - 1) max(s + c, x) + x; measured times differ from it by {max(off):.0e} at"
            f" most. Agrees up to {EXACT:g}, if neutral tasks gain most",
            "past the paper",
            provenance=provenance(),
        )
    ]


def uplink(quick: bool) -> list[Claim]:
    """Return how wrong estimates are where all transfers share an uplink."""
    shares = _QUICK_UPLINKS if quick else UPLINKS
    found = {share: [_contended(kind, share) for kind in CLASSES] for share in shares}
    bounded = all(
        each.measured >= each.bound * (1 - EXACT) for row in found.values() for each in row
    )
    last = [row[-1] for row in found.values()]
    off = max(abs(each.measured / each.shared - 1) for each in last)
    text = "; ".join(
        f"{share:.3g}: {by_class([each.measured for each in row], '.3f')}"
        for share, row in found.items()
    )
    return [
        Claim(
            "Over a shared uplink estimates are too short: they know nothing of contention",
            "not said",
            f"completion over the estimate, by uplink over the sum of the peers' links: {text}",
            bounded and off <= 0.01,
            "no less than the estimate, and than all data over the uplink, for neutral tasks"
            f" {', '.join(f'{row[1].bound:.3f}' for row in found.values())}: these hide transfers"
            " behind executions of others, computation-intensive ones nearly all. Of"
            " communication-intensive tasks it is what the transfers alone take that share the"
            f" uplink max-min fairly, {', '.join(f'{each.shared:.3f}' for each in last)}, to"
            f" {100 * off:.2g} %. Agrees if the bound holds everywhere and that to 1 %",
            "past the paper",
            provenance=provenance(),
        )
    ]


@dataclass(frozen=True)
class _Contention:
    """Completion under contention, over the estimate.

    Attributes
    ----------
    measured : float
        On SimGrid.
    bound : float
        What it takes at least.
    shared : float
        What transfers take that share the uplink all the time.
    """

    measured: float
    bound: float
    shared: float


def _contended(kind: str, share: float) -> _Contention:
    """Return what an uplink of a share of all peers' bandwidths makes of a class of tasks."""
    plain = chosen_site()
    site = replace(plain, uplink=share * float(plain.bandwidth.sum()))
    bundle = Bundle.of_class(kind, TASKS)
    deal = dealt(site, bundle)
    estimate = deal.estimated().completion
    return _Contention(
        deal.outcome().completion / estimate,
        max(bundle.count * bundle.byte / site.uplink / estimate, 1.0),
        float(shared_transfers(site, bundle, deal.amounts).max()) / estimate,
    )


def sizes(quick: bool) -> list[Claim]:
    """Return how far peers' times are from estimates if tasks are not identical."""
    return [_varied(variation, QUICK_DRAWS if quick else DRAWS) for variation in VARIATIONS]


def _varied(variation: float, draws: int) -> Claim:
    """Return what one coefficient of variation does to peers' times."""
    site = chosen_site()
    plain = linear("computation")
    some = plain.amounts > 0
    amounts = plain.amounts[some]
    spread = np.sqrt(log1p(variation**2))
    flop = CLASSES["computation"][0] * 1e6
    scores, late = [], []
    for draw in range(draws):
        normal = np.random.default_rng([SEED, draw]).standard_normal(TASKS)
        work = flop * exp(spread * normal - spread**2 / 2)
        bundle = replace(Bundle.of_class("computation", TASKS), work=work)
        outcome = dealt(site, bundle).outcome()
        one = variation * flop / site.speed[some] * np.sqrt(amounts)
        scores.append((outcome.times[some] - amounts * plain.times[some]) / one)
        late.append(outcome.completion / plain.estimated().completion)
    square = np.mean(np.square(scores), axis=1)
    error = float(np.std(square, ddof=1) / np.sqrt(draws))
    relative = variation * flop / site.speed[some] / plain.times[some] / np.sqrt(amounts)
    return Claim(
        f"Tasks of one mean size whose coefficient of variation is {variation:g}: peers' times"
        " spread around the estimates by that over the square root of their number",
        "tasks are identical",
        f"{np.sqrt(np.mean(square)):.3f} times the predicted standard deviation, which is"
        f" {100 * relative.min():.1f} to {100 * relative.max():.1f} % of the estimates; the bundle"
        f" takes {100 * (np.mean(late) - 1):+.2f} % on average, {100 * (max(late) - 1):+.1f} % at"
        " most",
        abs(float(np.mean(square)) - 1) <= 3 * error,
        "lognormal work of computation-intensive tasks, the market knows the mean only; predicted"
        f" is c S_cp/Cp_i sqrt(A_i). Agrees if mean squares over {draws} bundles are 1 within three"
        f" standard errors of {error:.3f}",
        "section 3.1, past the paper",
        provenance=provenance(seed=SEED, bundles=draws),
    )


def negotiating(quick: bool) -> list[Claim]:
    """Return how long negotiations take beside the bundle that they are about."""
    site = replace(chosen_site(), latency=WIDE_AREA)
    bundle = Bundle.of_class("communication", TASKS)
    names = _QUICK_NEGOTIATIONS if quick else tuple(NEGOTIATIONS)
    deals = {name: dealt(site, bundle, name) for name in names}
    off = max(
        abs(deal.negotiation / (WIDE_AREA * (1 + 2 * deal.rounds)) - 1) for deal in deals.values()
    )
    text = ", ".join(
        f"{name} {deal.negotiation:.2f} s ({deal.rounds} rounds,"
        f" {100 * deal.negotiation / deal.outcome().completion:.3g} %)"
        for name, deal in deals.items()
    )
    return [
        Claim(
            "Negotiations take two latencies a round, and one for the announcement",
            "not said",
            text,
            off <= 0.01,
            f"{1000 * WIDE_AREA:g} ms to every peer; in brackets rounds, and the time over that of"
            f" the bundle, communication-intensive. What messages take besides is {100 * off:.2g} %"
            " at most. Agrees up to 1 %",
            "past the paper",
            provenance=provenance(latency=WIDE_AREA, assignment="as negotiated", seed=0),
        )
    ]


def uplinks(quick: bool) -> list[Figure]:
    """Return how completion grows over its estimate when the uplink gets narrower."""
    shares = FIGURE_UPLINKS[::3] if quick else FIGURE_UPLINKS
    series = {}
    for kind in CLASSES:
        found = [_contended(kind, float(share)) for share in shares]
        series[kind] = (shares, [each.measured for each in found])
    bound = "all data over the uplink, neutral"
    series[bound] = (shares, [_contended("neutral", float(share)).bound for share in shares])
    return [
        Figure(
            "shared-uplink",
            f"Estimated times under contention ({TASKS} tasks, 12 peers, alpha {ALPHA:g})",
            "uplink over the sum of the peers' bandwidths [1]",
            "measured completion over estimated [1]",
            series,
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "estimated times": exact,
    "network models": models,
    "latency": latency,
    "overlap": overlap,
    "shared uplink": uplink,
    "real sizes": sizes,
    "time of negotiations": negotiating,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"shared uplink": uplinks}
