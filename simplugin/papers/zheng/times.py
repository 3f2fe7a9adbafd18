"""Estimated completion times, Eq. (4), compared with those measured on SimGrid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simplugin.core.elementary import exp, log, log1p
from simplugin.market.actors.messages import AWARD
from simplugin.market.actors.stations import ServiceRules
from simplugin.papers.statements import Quantity, resampled
from simplugin.papers.zheng.settings import (
    ON_SITE,
    SETTINGS,
    TASKS,
    ExperimentSetting,
    by_class,
    dealt,
)
from simplugin.papers.zheng.table1 import ALGORITHMS, outcome
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import SEED, SETUP, chosen_site
from simplugin.simulation import SimGridOptions
from simplugin.workloads.bundle_markets import Amounts, Floats
from simplugin.workloads.bundles import CLASSES, MEGA, Bundle

# SimGrid's factors: cross-traffic, and bandwidth and latency of its default model LV08.
CROSS, BANDWIDTH, LATENCY_FACTOR = 1.05, 0.97, 13.01
# From the local scheduler to any peer where there is a latency [s].
LATENCY = 0.01
# Of the uplink, over the bandwidths of all peers together.
UPLINKS, QUICK_UPLINKS = (1.0, 0.5, 0.25, 1 / 12), (0.5, 1 / 12)
# Coefficients of variation of the tasks' work, and how many bundles are drawn.
VARIATIONS, DRAWS, QUICK_DRAWS = (0.25, 1.0, 2.0), 100, 5
_MODELS = {
    "cross-traffic": (replace(SimGridOptions.linear(), crosstraffic=True), CROSS),
    "LV08": (SimGridOptions(crosstraffic=False), 1 / BANDWIDTH),
    "SimGrid's default": (SimGridOptions(), CROSS / BANDWIDTH),
}


def one_by_one(
    site: PeerSite,
    bundle: Bundle,
    amounts: Amounts,
    *,
    transfers: float = 1.0,
    latencies: float = 1.0,
) -> Floats:
    """Return the time of each peer that executes its tasks one after another, on its own link [s].

    It receives its award, then sets up, fetches, computes and acknowledges every task. Without
    latency this is A_i t_i and the award's transfer. Transfers and latencies are multiplied by the
    factors.
    """
    latency = site.latency * latencies
    task = SETUP + 2 * latency + bundle.byte / site.bandwidth * transfers
    award = latency + AWARD / site.bandwidth * transfers
    return np.where(amounts > 0, award + amounts * (task + bundle.flop / site.speed), 0.0)


def overlapped(site: PeerSite, bundle: Bundle, amounts: Amounts) -> Floats:
    """Return the time of each peer that fetches its next task while it computes one [s].

    The first fetch and the last execution do not overlap; in between the longer of the two
    determines the time.
    """
    fetch = SETUP + site.latency + bundle.byte / site.bandwidth
    execution = bundle.flop / site.speed
    times = fetch + (amounts - 1) * np.maximum(fetch, execution) + execution + site.latency
    return np.where(amounts > 0, site.latency + AWARD / site.bandwidth + times, 0.0)


def shared_transfers(site: PeerSite, bundle: Bundle, amounts: Amounts) -> Floats:
    """Return the time of consecutive transfers to each peer over the shared uplink [s].

    Each peer gets an equal part of the uplink, or the bandwidth of its own link if that is less;
    the rest goes to the others.
    """
    left = amounts * bundle.byte
    times = np.zeros(site.n_peers)
    now = 0.0
    while np.any(left > 0):
        rate = _rates(site, left > 0)
        fetching = np.flatnonzero(left > 0)
        steps = left[fetching] / rate[fetching]
        step = float(steps.min())
        now += step
        left[fetching] -= step * rate[fetching]
        over = fetching[steps <= step * (1 + 1e-12)]
        left[over], times[over] = 0.0, now
    return times


def _rates(site: PeerSite, fetching: np.ndarray) -> Floats:
    """Return the part of the uplink of each peer that is fetching [byte/s]."""
    rates = np.zeros(site.n_peers)
    left, count = site.uplink, int(fetching.sum())
    for peer in np.argsort(site.bandwidth, kind="stable"):
        if fetching[peer]:
            rates[peer] = min(float(site.bandwidth[peer]), left / count)
            left, count = left - rates[peer], count - 1
    return rates


def deviation(measured: Floats, expected: Floats) -> float:
    """Return the largest relative deviation of a peer that has tasks."""
    some = expected > 0
    return float(np.max(np.abs(measured[some] / expected[some] - 1)))


def times(quick: bool) -> dict[str, Quantity]:
    """Measure how far estimates and closed forms are from SimGrid's dates."""
    return {
        "ect.deviation": _estimates(quick),
        "closed_forms.deviation": _closed_forms(),
        "uplink.deviation": _uplink(QUICK_UPLINKS if quick else UPLINKS),
        "sizes.spread": _sizes(QUICK_DRAWS if quick else DRAWS),
    }


def _estimates(quick: bool) -> Quantity:
    """Return the largest deviation of estimates, of peers and in Table 1's metrics."""
    worst = []
    for setting in SETTINGS:
        deal = dealt(chosen_site(), setting.bundle)
        worst.append(deviation(deal.outcome().times, deal.estimated().times))
    table = 0.0
    for setting in SETTINGS[:1] if quick else SETTINGS:
        for policy in ALGORITHMS:
            ours = dealt(chosen_site(), setting.bundle, policy).outcome()
            theirs = outcome(chosen_site(), setting, policy)
            for metric in ("completion", "total", "benefit"):
                table = max(table, abs(getattr(ours, metric) / getattr(theirs, metric) - 1))
    return Quantity(
        max(*worst, table),
        note=f"peers {by_class(worst, '.1e')}; metrics of Table 1's algorithms {table:.0e}",
        provenance=ON_SITE | {"options": "CM02, no cross-traffic"},
    )


def _closed_forms() -> Quantity:
    """Return the largest deviation from closed forms, with network models, latency, overlap."""
    off, words = [], []

    def compare(
        name: str,
        site: PeerSite,
        factors: dict[str, float],
        options: SimGridOptions | None = None,
        *,
        overlap: bool = False,
    ) -> None:
        excess, rules = [], ServiceRules(overlap=overlap)
        for setting in SETTINGS:
            deal = dealt(site, setting.bundle, rules=rules, options=options)
            measured = deal.outcome().times
            excess.append(100 * deviation(measured, deal.estimated().times))
            if overlap:
                expected = overlapped(site, setting.bundle, deal.amounts)
            else:
                expected = one_by_one(site, setting.bundle, deal.amounts, **factors)
            off.append(deviation(measured, expected))
        words.append(f"{name} {by_class(excess, '.3f')} %")

    compare("linear", chosen_site(), {})
    for name, (options, factor) in _MODELS.items():
        compare(name, chosen_site(), {"transfers": factor}, options)
    far = replace(chosen_site(), latency=LATENCY)
    compare(f"{LATENCY} s latency", far, {})
    default = {"transfers": CROSS / BANDWIDTH, "latencies": LATENCY_FACTOR}
    compare(f"{LATENCY} s latency by the default", far, default, SimGridOptions())
    compare("transfers beside executions", chosen_site(), {}, overlap=True)
    return Quantity(
        max(off),
        note=f"a peer's time differs from its estimate by up to: {'; '.join(words)}",
        provenance=ON_SITE,
    )


def contended(kind: str, share: float) -> tuple[float, float, float]:
    """Return completion over its estimate if the uplink is a share of all peers' bandwidths.

    The measured value, the lower bound, and that of transfers that always share the uplink.
    """
    plain = chosen_site()
    site = replace(plain, uplink=share * float(plain.bandwidth.sum()))
    bundle = ExperimentSetting(kind).bundle
    deal = dealt(site, bundle)
    estimate = deal.estimated().completion
    return (
        deal.outcome().completion / estimate,
        max(bundle.count * bundle.byte / site.uplink / estimate, 1.0),
        float(shared_transfers(site, bundle, deal.amounts).max()) / estimate,
    )


def _uplink(shares: tuple[float, ...]) -> Quantity:
    """Return the deviation of completion over an uplink from max-min fair transfers."""
    found = {share: [contended(kind, share) for kind in CLASSES] for share in shares}
    every = [each for some in found.values() for each in some]
    bounded = all(measured >= bound * (1 - 1e-6) for measured, bound, _ in every)
    last = [some[-1] for some in found.values()]
    off = max(abs(measured / shared - 1) for measured, _, shared in last)
    words = "; ".join(
        f"uplink {share:.3g} {by_class((each[0] for each in some), '.3f')}"
        for share, some in found.items()
    )
    return Quantity(
        off if bounded else np.inf,
        note=f"completion over the estimate, uplink over the sum of the peers' links: {words};"
        " never below all data over the uplink",
        provenance=ON_SITE,
    )


def _sizes(draws: int) -> Quantity:
    """Return the spread of peers' times over its prediction, for the worst variation."""
    site = chosen_site()
    plain = dealt(site, SETTINGS[0].bundle)
    some = plain.amounts > 0
    amounts = plain.amounts[some]
    flop = CLASSES["computation"][0] * MEGA
    squares, words = [], []
    for variation in VARIATIONS:
        width = np.sqrt(log1p(variation**2))
        one = variation * flop / site.speed[some] * np.sqrt(amounts)
        scores, late = [], []
        for draw in range(draws):
            normal = np.random.default_rng([SEED, draw]).standard_normal(TASKS)
            work = flop * exp(width * normal - width**2 / 2)
            found = dealt(site, replace(SETTINGS[0].bundle, work=work)).outcome()
            scores.append((found.times[some] - amounts * plain.times[some]) / one)
            late.append(found.completion / plain.estimated().completion - 1)
        squares.append(np.mean(np.square(scores), axis=1))
        words.append(
            f"coefficient of variation {variation:g}: {np.sqrt(np.mean(squares[-1])):.3f} times the"
            f" prediction, bundles {np.mean(late):+.2%} on average, {max(late):+.1%} at most"
        )
    table = np.array(squares)
    return resampled(
        lambda few: float(max(np.sqrt(table[:, few].mean(axis=1)), key=lambda x: abs(log(x)))),
        draws,
        "; ".join(words),
        over="bundles",
        provenance=ON_SITE | {"bundles": draws, "seed": SEED},
    )
