"""Past the paper: two decentralised policies of our own, and what they withstand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from simplugin.bags.campaign import FEW, FEWER, Setting, measured
from simplugin.bags.campaign_summary import CGBC, DATA_CENTRIC, Ratios, listed, ratios
from simplugin.bags.instances import MAIN, SEEDS, TREES
from simplugin.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simplugin.bags.campaign import Measurement

# What is asked of LP over each policy in reading A: geometric mean and worst.
BARS = {"prices": (1.0, 1.25), "lag": (1.17, 2.1)}
# The policy of the paper that each competes with: one plans, the other does not.
RIVALS = {"prices": "data_centric", "lag": "cgbc"}
# What nodes measure may be off by this part.
ERRORS = 0.2
# The platform changes as `simplugin.bags.realism` says under this name.
CHANGES = "availability"
# Means are alike within this part.
_LIKE = 0.01
_BEST_OF_PAPER = f"{DATA_CENTRIC.paper} (DATA-CENTRIC), {CGBC.paper} (CGBC)"

# Of each part of a policy: what it is called, and the parameters without it.
PARTS_OF_PRICES = {
    "the link filter": (("sift", False),),
    "typed requests": (("typed", False),),
}


def own(seed: int, quick: bool) -> list[Claim]:
    """Return how our policies compare with LP and with the paper's, on the trees of a seed."""
    numbers = FEW if quick else range(TREES)
    claims = []
    for policy, (mean, worst) in BARS.items():
        found = _against_lp("A", seed, numbers, Setting(policy))
        again = _against_lp("A", seed, numbers, Setting(policy), by="slope")
        frozen = _frozen("A", seed, numbers, policy)
        untuned = ", on which nothing was tuned" * (seed != SEEDS[0])
        claims.append(
            Claim(
                f"LP over our policy {policy!r}, seed {seed}{untuned}",
                _BEST_OF_PAPER,
                found.written(),
                found.mean <= mean and found.worst <= worst and not frozen,
                f"geometric mean and worst, reading A; large trees {found.large:.3f}; by the"
                f" slope {again.written()}; {frozen} executions left tasks undone. Agrees up to"
                f" {mean} and {worst}, with every task done",
                "section 6.2.2: what the paper's decentralised heuristics reach",
                provenance=_provenance(seed, numbers),
            )
        )
    return claims


def other_readings(quick: bool) -> list[Claim]:
    """Return how our policies compare with LP in the other main readings."""
    numbers = FEWER if quick else range(TREES)
    claims = []
    readings = [name for name in MAIN if name != "A"]
    for policy, rival in RIVALS.items():
        here, there = (
            {each: _against_lp(each, SEEDS[0], numbers, Setting(name)) for each in readings}
            for name in (policy, rival)
        )
        listed = "; ".join(
            f"{name} {found.written()}, {rival} {there[name].written()}"
            for name, found in here.items()
        )
        claims.append(
            Claim(
                f"Our policy {policy!r} is ahead of {rival} in the other readings too",
                _BEST_OF_PAPER,
                ", ".join(f"{name} {found.mean:.3f}" for name, found in here.items()),
                all(found.mean <= there[name].mean for name, found in here.items()),
                f"LP over the policy, geometric mean and worst: {listed}. Agrees if the mean is"
                f" not above that of {rival} in any",
                "section 6.2.2",
                provenance=_provenance(SEEDS[0], numbers),
            )
        )
    return claims


def changed(quick: bool, *, what: str, setting: Setting) -> list[Claim]:
    """Return how our policies compare with LP where all meet with something.

    Of changing platforms the quick run has `simplugin.bags.realism_claims`.
    """
    if quick and setting.conditions:
        return []
    numbers = FEW if quick else range(TREES)
    seeds = SEEDS[:1] if quick else SEEDS
    return [_disturbed(policy, seed, numbers, what, setting) for policy in BARS for seed in seeds]


def _disturbed(
    policy: str, seed: int, numbers: Sequence[int], what: str, setting: Setting
) -> Claim:
    """Return how one of our policies compares with LP under a setting."""
    calm_lp, calm, high, low = (
        [measured("A", seed, number, each) for number in numbers]
        for each in (
            Setting("lp"),
            Setting(policy),
            replace(setting, policy="lp"),
            replace(setting, policy=policy),
        )
    )
    found, own_change, lp_change = ratios(high, low), ratios(low, calm), ratios(high, calm_lp)
    mean, worst = BARS[policy]
    undone = sum(not each.all_done for each in low)
    return Claim(
        f"LP over our policy {policy!r}, {what}, seed {seed}",
        "not said",
        found.written(),
        found.mean <= mean and found.worst <= worst and not undone,
        "geometric mean and worst, reading A, both under the same, which changes the policy's own"
        f" throughput by {own_change.mean - 1:+.1%} in the mean and that of LP by"
        f" {lp_change.mean - 1:+.1%}; {undone} executions left tasks undone. Agrees up to {mean}"
        f" and {worst}, with every task done",
        "section 6.1.4",
        provenance=_provenance(seed, numbers),
    )


def ablations(quick: bool) -> list[Claim]:
    """Return what the parts of our policy of prices are worth."""
    numbers = FEW if quick else range(TREES)
    claims = []
    whole = _against_lp("A", SEEDS[0], numbers, Setting("prices"))
    for words, parameters in PARTS_OF_PRICES.items():
        without = _against_lp("A", SEEDS[0], numbers, Setting("prices", parameters))
        claims.append(
            Claim(
                f"LP over prices, without {words}",
                "not in the paper",
                without.written(),
                without.mean >= (1 - _LIKE) * whole.mean,
                f"geometric mean and worst, reading A; with everything {whole.written()}. Agrees"
                " if the mean is no better without, by more than 1 %",
                "ours",
                provenance=_provenance(SEEDS[0], numbers),
            )
        )
    return claims


def _against_lp(
    reading: str, seed: int, numbers: Sequence[int], setting: Setting, *, by: str = "fair"
) -> Ratios:
    """Return LP over a setting."""
    high, low = (
        [measured(reading, seed, number, each) for number in numbers]
        for each in (Setting("lp"), setting)
    )
    return ratios(high, low, by=by)


def _frozen(reading: str, seed: int, numbers: Sequence[int], policy: str) -> int:
    """Return how many executions left tasks undone."""
    found: list[Measurement] = [measured(reading, seed, n, Setting(policy)) for n in numbers]
    return sum(not each.all_done for each in found)


def _provenance(seed: int, numbers: Sequence[int]) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {"seed": seed, "trees": listed(numbers)}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **{f"prices and lag, seed {seed}": partial(own, seed) for seed in SEEDS},
    "prices and lag, other readings": other_readings,
    "prices and lag, errors": partial(
        changed,
        what="all measurements off by up to 20 %",
        setting=Setting("", errors=ERRORS),
    ),
    "prices and lag, changes": partial(
        changed,
        what="speeds and bandwidths changing meanwhile",
        setting=Setting("", conditions=CHANGES),
    ),
    "prices, part by part": ablations,
}
