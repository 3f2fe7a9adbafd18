"""Past the paper: two decentralised policies of our own, and what they withstand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from simplugin.bags.campaign import FEW, FEWER, Setting, measured
from simplugin.bags.campaign_summary import CGBC, DATA_CENTRIC, Ratios, best, listed, ratios
from simplugin.bags.instances import MAIN, SEEDS, TREES
from simplugin.bags.realism import SLOWS
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
# By what factor LP over a policy is to grow without a part that is worth something.
WORTH = 1.01
# Where the quick run looks at many settings: trees of 5, 20 and 100 nodes.
FEWEST = FEWER[::2]
_BEST_OF_PAPER = f"{DATA_CENTRIC.paper} (DATA-CENTRIC), {CGBC.paper} (CGBC)"

# Of each part of a policy: what it is called, and the parameters without it.
Without = Mapping[str, tuple[tuple[str, Any], ...]]
PARTS_OF_PRICES: Without = {
    "the link filter": (("sift", False),),
}
PARTS_OF_LAG: Without = {
    "the price of a crowded subtree": (("crowding", 0.0),),
    "refusals": (("refuses", False),),
    "the bound on a child's stock": (("window", math.inf),),
    "the bound on leads": (("lead", math.inf),),
}


def own(seed: int, quick: bool) -> list[Claim]:
    """Return how our policies compare with LP and with the paper's, on the trees of a seed."""
    usual = FEW if seed == SEEDS[0] else FEWER
    numbers = usual if quick else range(TREES)
    claims = []
    for policy, (mean, worst) in BARS.items():
        found = _against_lp("A", seed, numbers, Setting(policy))
        again = _against_lp("A", seed, numbers, Setting(policy), by="slope")
        frozen = _frozen("A", seed, numbers, policy)
        untuned = ", on which nothing was tuned" * (seed != SEEDS[0])
        claims.append(
            Claim(
                f"LP over our policy {policy!r}: at most {mean} in the mean and {worst} at worst,"
                f" seed {seed}{untuned}",
                _BEST_OF_PAPER,
                found.written(),
                found.mean <= mean and found.worst <= worst and not frozen,
                f"geometric mean and worst, reading A; large trees {found.large:.3f}; by the"
                f" slope {again.written()}; {frozen} executions left tasks undone. Agrees up to"
                f" {mean} and {worst}, with every task done; the optimum is that of a policy that"
                " reaches the linear program's",
                "section 6.2.2: what the paper's decentralised heuristics reach",
                optimum=_best("A", seed, numbers),
                provenance=_provenance(seed, numbers),
            )
        )
    return claims


def other_readings(quick: bool) -> list[Claim]:
    """Return how our policies compare with LP in the other main readings."""
    numbers = FEWEST if quick else range(TREES)
    readings = [name for name in MAIN if name != "A"]
    return [_against_rival(policy, rival, readings, numbers) for policy, rival in RIVALS.items()]


def _against_rival(
    policy: str, rival: str, readings: Sequence[str], numbers: Sequence[int]
) -> Claim:
    """Return whether one of our policies is ahead of one of the paper's in some readings."""
    here, there = (
        {each: _against_lp(each, SEEDS[0], numbers, Setting(name)) for each in readings}
        for name in (policy, rival)
    )
    undone = sum(_frozen(each, SEEDS[0], numbers, policy) for each in readings)
    apart = sum(found.apart for found in here.values())
    listed = "; ".join(
        f"{name} {found.written()}, {rival} {there[name].written()}" for name, found in here.items()
    )
    return Claim(
        f"Our policy {policy!r} is ahead of {rival} in the other readings too",
        _BEST_OF_PAPER,
        ", ".join(f"{name} {found.mean:.3f}" for name, found in here.items()),
        all(found.mean <= there[name].mean for name, found in here.items())
        and apart == undone == 0,
        f"LP over the policy, geometric mean and worst: {listed}. Agrees if the mean is not above"
        f" that of {rival} in any, with a throughput on every tree ({apart} without) and every task"
        f" done ({undone} executions left some)",
        "section 6.2.2",
        provenance=_provenance(SEEDS[0], numbers),
    )


def changed(
    quick: bool,
    *,
    what: str,
    setting: Setting,
    few: Sequence[int],
) -> list[Claim]:
    """Return how our policies compare with LP where all meet with something.

    Parameters
    ----------
    quick : bool
        Whether to do less.
    what : str
        What they meet with, in words.
    setting : Setting
        Without a policy.
    few : sequence of int
        Trees of the quick run; none leaves the claims out.
    """
    if quick and not few:
        return []
    numbers = few if quick else range(TREES)
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
        f"LP over our policy {policy!r}, {what}: at most {mean} in the mean and {worst} at worst,"
        f" seed {seed}",
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


def ablations(quick: bool, *, policy: str, parts: Without) -> list[Claim]:
    """Return what each part of one of our policies is worth."""
    numbers = FEWER if quick else range(TREES)
    claims = []
    whole = _against_lp("A", SEEDS[0], numbers, Setting(policy))
    for words, parameters in parts.items():
        without = _against_lp("A", SEEDS[0], numbers, Setting(policy, parameters))
        claims.append(
            Claim(
                f"Without {words}, our policy {policy!r} loses 1 % in the mean at least",
                "not in the paper",
                without.written(),
                without.mean >= WORTH * whole.mean or without.apart > whole.apart,
                f"LP over it, geometric mean and worst, reading A; with everything"
                f" {whole.written()}. Agrees if the mean is {WORTH} times that at least, or more"
                " trees have no throughput; otherwise the part is not worth what it costs",
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


def _best(reading: str, seed: int, numbers: Sequence[int]) -> float:
    """Return LP over a policy that reaches the optimum."""
    return best([measured(reading, seed, number, Setting("lp")) for number in numbers])


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
        what="first measurements off by up to 20 %",
        setting=Setting("", errors=ERRORS),
        few=FEWER,
    ),
    "prices and lag, lasting errors": partial(
        changed,
        what="all measurements off by up to 20 %, for good",
        setting=Setting("", errors=ERRORS, lasting=True),
        # The quick run has those of the first measurements.
        few=(),
    ),
    "prices and lag, changes": partial(
        changed,
        what="speeds and bandwidths changing meanwhile",
        setting=Setting("", conditions=CHANGES),
        # `simplugin.bags.realism_claims` has this in the quick run.
        few=(),
    ),
    "prices and lag, one host slows": partial(
        changed,
        what="the host with most work at half speed from a quarter of the run on",
        setting=Setting("", conditions=SLOWS),
        few=FEWEST,
    ),
    "prices, part by part": partial(ablations, policy="prices", parts=PARTS_OF_PRICES),
    "lag, part by part": partial(ablations, policy="lag", parts=PARTS_OF_LAG),
}
