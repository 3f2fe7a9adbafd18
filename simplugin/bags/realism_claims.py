"""What the paper's policies and ours lose where runs meet more than the plain model has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

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
WHOLE = ("lp", "data_centric", "cgbc", "fcfs", "prices", "lag")
QUICK = ("lp", "data_centric", "prices", "lag")
AGAIN = ("data_centric", "prices")
_WINDOW = "default model, latency 6 ms to 10 s"

# Each setting, and what a run meets in it.
NETWORK = {
    "default model": "SimGrid's default network model",
    "cross-traffic": "SimGrid's default network model with cross-traffic",
    "latency 6 ms": "latencies of 6 ms",
    "latency 6 ms to 10 s": "latencies of 6 ms to 10 s",
    _WINDOW: "latencies of 6 ms to 10 s, and SimGrid's default model, whose window bounds rates",
}
CHANGES = {
    "speeds vary": "speeds drawn anew 20 times in a run, up to 50 % off",
    "bandwidths vary": "bandwidths drawn anew 20 times in a run, up to 50 % off",
    "availability": "speeds and bandwidths drawn anew 20 times in a run, up to 50 % off",
    "load comes": "a third of the hosts and links at half speed from a quarter of the run on",
    "others transfer": "transfers of others over half of the links, half of the time",
}
FAILURES = {"hosts fail": "half of the hosts failing once, for 10 % of the run"}


def who_loses(quick: bool, *, settings: dict[str, str], few: Sequence[str]) -> list[Claim]:
    """Return what each policy loses in some settings, and whether ours stay ahead.

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
        here = [each for each in found if each.setting == setting]
        behind = {each.policy: each.behind for each in here}
        listed = "; ".join(f"{each.policy} {each.behind.written()}" for each in here)
        claims.append(
            Claim(
                f"Which policy loses how much of its throughput: {settings[setting]}",
                "not said",
                ", ".join(f"{each.policy} {_lost(each)}" for each in here),
                all(behind[policy].mean <= bar for policy, bar in BARS.items()),
                "against itself in the plain model, geometric means of fair throughputs by the"
                f" formula; LP over each where both meet with it, mean and worst: {listed}. Agrees"
                " if LP over ours stays below "
                + " and ".join(f"{bar} ({policy})" for policy, bar in BARS.items()),
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
            f"LP loses {_lost(known)} with measured rates, {_lost(unknown)} with the platform's",
            known.lost.mean < unknown.lost.mean,
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
        pair = (policy, f"{policy}, replanned")
        found = losses(READING, SEED, _numbers(quick), pair, (PLAIN, *settings))
        calm, *changing = zip(found[::2], found[1::2], strict=True)
        claims.append(
            Claim(
                "Frequencies that are continuously recomputed cope with availability variations:"
                f" {policy!r}",
                "copes",
                "; ".join(
                    f"{once.setting}: loses {_lost(once)}, {_lost(again)} if replanned"
                    for once, again in changing
                ),
                all(_gain(*each) > max(_gain(*calm), 0) for each in changing),
                "against itself in the plain model, geometric means. To plan 20 times in a run,"
                " from what nodes measured last, raises throughputs by "
                + ", ".join(f"{_gain(*each):+.1%} ({each[0].setting})" for each in changing)
                + f", and where nothing changes by {_gain(*calm):+.1%}."
                " LP, which does not plan again, over it, replanned: "
                + "; ".join(f"{again.setting} {again.behind.written()}" for _, again in changing)
                + ". Agrees if throughputs rise everywhere, and by more than where nothing changes",
                "section 5.5",
                provenance=_provenance(quick),
            )
        )
    return claims


def _gain(once: Loss, again: Loss) -> float:
    """Return by what part throughputs rise with the second rather than the first."""
    return once.behind.mean / again.behind.mean - 1


def _lost(loss: Loss) -> str:
    """Return what is lost in percent; a minus is a gain."""
    text = f"{1 - 1 / loss.lost.mean:.1%}"
    return text + f" ({loss.lost.apart} apart)" * bool(loss.lost.apart)


def _numbers(quick: bool) -> tuple[int, ...]:
    """Return the trees."""
    return QUICK_NUMBERS if quick else NUMBERS


def _provenance(quick: bool) -> dict[str, Any]:
    """Return what the measurement depends on."""
    return {"reading": READING, "seed": SEED, "trees": len(_numbers(quick))}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "realistic networks": partial(who_loses, settings=NETWORK, few=("cross-traffic",)),
    "measured rates": measured_rates,
    "changing platforms": partial(who_loses, settings=CHANGES, few=("availability",)),
    "replanning": replanning,
    "failing hosts": partial(who_loses, settings=FAILURES, few=("hosts fail",)),
}
