"""What the paper's policies and ours lose where runs meet more than the plain model has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.campaign_summary import Ratios
from simplugin.bags.instances import SEEDS
from simplugin.bags.losses import PLAIN, REFERENCE, Loss, losses
from simplugin.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

READING, SEED = "A", SEEDS[0]
# The full run has three trees of each shape; the quick one, some that are not large.
NUMBERS, QUICK_NUMBERS = tuple(range(45)), (1, 2, 7)
# What is asked of LP over ours in the plain model, geometric means.
BARS = {"prices": 1.0, "lag": 1.17}
WHOLE = ("lp", "data_centric", "cgbc", "fcfs", "bcs", "prices", "lag")
QUICK = ("lp", "data_centric", "prices", "lag")
AGAIN = ("data_centric", "prices")
_WINDOW = "default model, latency 6 ms to 10 s"

# Each setting, and what a run meets in it.
NETWORK = {
    "default model": "SimGrid's default network model, LV08 with cross-traffic of acknowledgements",
    "default model, no cross-traffic": "SimGrid's default network model without acknowledgements",
    "latency 6 ms": "latencies of 6 ms",
    "latency 6 ms to 10 s": "latencies of 6 ms to 10 s",
    _WINDOW: "latencies of 6 ms to 10 s, and SimGrid's default model, whose window bounds rates",
    "others transfer": "cross-traffic: transfers of others over half of the links, half of the"
    " time",
}
CHANGES = {
    "speeds vary": "speeds drawn anew 20 times in a run, up to 50 % off",
    "bandwidths vary": "bandwidths drawn anew 20 times in a run, up to 50 % off",
    "availability": "speeds and bandwidths drawn anew 20 times in a run, up to 50 % off",
    "load comes": "a third of the hosts and links at half speed from a quarter of the run on",
    "one host slows": "the host with most work at half speed from a quarter of the run on",
}
FAILURES = {"hosts fail": "half of the hosts failing once, for 10 % of the run"}


def who_loses(quick: bool, *, settings: dict[str, str], few: Sequence[str]) -> list[Claim]:
    """Return what each policy loses in some settings, and whether ours withstand them.

    Parameters
    ----------
    quick : bool
        Whether to do less.
    settings : dict of str to str
        Keys of `simplugin.bags.realism.SETTINGS`, and what they are in words.
    few : sequence of str
        Those of the quick run.
    """
    chosen = few if quick else tuple(settings)
    found = losses(READING, SEED, _numbers(quick), QUICK if quick else WHOLE, chosen)
    claims = []
    for setting in chosen:
        here = {each.policy: each for each in found if each.setting == setting}
        listed = "; ".join(f"{name} {each.behind.written()}" for name, each in here.items())
        claims.append(
            Claim(
                "Which policy loses how much of its throughput, and whether ours withstand it:"
                f" {settings[setting]}",
                "not said",
                "; ".join(f"{name} {each.written()}" for name, each in here.items()),
                all(_withstands(here[policy], bar) for policy, bar in BARS.items()),
                "against itself in the plain model, fair throughput by the formula, geometric means"
                " over trees where some is left, with the number of others; a minus is a gain. LP"
                f" over each where both meet with it, mean and worst: {listed}. Agrees if ours have"
                " some throughput and do all tasks on every tree, and LP over them stays up to "
                + " and ".join(f"{bar} ({policy})" for policy, bar in BARS.items())
                + " in the mean",
                "section 6.1",
                provenance=_provenance(quick),
            )
        )
    return claims


def measured_rates(quick: bool) -> list[Claim]:
    """Return what it is worth to measure bandwidths where latencies bound them."""
    pair = (REFERENCE, f"{REFERENCE}, unmeasured")
    known, unknown = losses(READING, SEED, _numbers(quick), pair, (_WINDOW,))
    return [
        Claim(
            "Latency and link capacity are limiting factors for determining the effective"
            " bandwidth, hence rates are measured from within the simulation",
            "no number",
            f"LP loses {known.written()} with measured rates, {unknown.written()} with the"
            " platform's",
            known.lost.mean < unknown.lost.mean and not known.starved,
            f"against itself in the plain model, geometric means; {NETWORK[_WINDOW]}. Agrees if"
            " LP loses less where it plans with measured rates",
            "sections 6.1.2 and 6.1.4",
            provenance=_provenance(quick),
        )
    ]


def replanning(quick: bool) -> list[Claim]:
    """Return what it is worth to plan again and again where the platform changes."""
    settings = ("load comes",) if quick else ("availability", "load comes", "others transfer")
    claims = []
    for policy in AGAIN:
        pair = (f"{policy}, once", policy)
        found = losses(READING, SEED, _numbers(quick), pair, (PLAIN, *settings))
        calm, *changing = zip(found[::2], found[1::2], strict=True)
        claims.append(
            Claim(
                "Frequencies that are continuously recomputed cope with availability variations:"
                f" {policy!r}",
                "copes",
                "; ".join(
                    f"{once.setting}: loses {again.written()}, if planned once {once.written()}"
                    for once, again in changing
                ),
                all(_gain(*each) > max(_gain(*calm), 0) for each in changing)
                and not any(again.starved or again.undone for _, again in changing),
                "against itself in the plain model, geometric means. To plan again, from what nodes"
                " measured last, raises throughputs by "
                + ", ".join(f"{_gain(*each):+.1%} ({each[0].setting})" for each in changing)
                + f", and where nothing changes by {_gain(*calm):+.1%}."
                " LP, which does not plan again, over it: "
                + "; ".join(f"{again.setting} {again.behind.written()}" for _, again in changing)
                + ". Agrees if throughputs rise everywhere, and by more than where nothing"
                " changes, and some is left on every tree",
                "section 5.5",
                provenance=_provenance(quick),
            )
        )
    return claims


def _withstands(loss: Loss, bar: float) -> bool:
    """Whether a policy has some throughput on all trees, and LP's is not too much above it."""
    return not loss.starved and not loss.undone and loss.behind.mean <= bar


def _gain(once: Loss, again: Loss) -> float:
    """Return by what part throughputs rise with the second rather than the first, in the mean.

    Only trees on which both have some can be compared.
    """
    with np.errstate(invalid="ignore"):
        return Ratios(once.behind.log - again.behind.log, once.behind.n_hosts).mean - 1


def _numbers(quick: bool) -> tuple[int, ...]:
    """Return the trees."""
    return QUICK_NUMBERS if quick else NUMBERS


def _provenance(quick: bool) -> dict[str, Any]:
    """Return what the measurement depends on."""
    return {"reading": READING, "seed": SEED, "trees": len(_numbers(quick))}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "realistic networks": partial(
        who_loses, settings=NETWORK, few=("default model", "others transfer")
    ),
    "measured rates": measured_rates,
    "changing platforms": partial(who_loses, settings=CHANGES, few=("availability",)),
    "replanning": replanning,
    "failing hosts": partial(who_loses, settings=FAILURES, few=("hosts fail",)),
}
