"""Experiments beyond the paper: our policies, and all policies under harder conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from simplugin.bags.actors.planning import negotiate
from simplugin.bags.execution import execute
from simplugin.bags.policies.price_negotiation import NegotiationParameters
from simplugin.bags.policies.prices import negotiate_prices, negotiator
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BUFFER, NodeKnowledge, TreePosition
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.campaign import FEWER, FEWEST, PolicySetting, measurements
from simplugin.papers.beaumont.comparisons import PLAIN, best, extreme, losses, ratios
from simplugin.papers.beaumont.conditions import SLOWS
from simplugin.papers.beaumont.heuristics import SEED, listed, provenance
from simplugin.papers.beaumont.instances import MAIN, SEEDS, TASKS, TREES, instance
from simplugin.papers.beaumont.trace_check import trace_violations
from simplugin.papers.statements import Quantity, determined_by
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

OURS = ("prices", "lag")
# The policy of the paper that each competes with: one plans, the other does not.
RIVALS = {"prices": "data_centric", "lag": "cgbc"}
OTHER_READINGS = tuple(MAIN)[1:]
# Largest relative error of measurements, and the conditions of a platform that changes.
ERRORS, CHANGES = 0.2, "availability"
# For each part of a policy, the parameters without it.
Without = Mapping[str, tuple[tuple[str, Any], ...]]
PARTS: Mapping[str, Without] = {
    "prices": {"the link filter": (("filter_links", False),)},
    "lag": {
        "the price of a crowded subtree": (("crowding", 0.0),),
        "refusals": (("refuses", False),),
        "the bound on a child's stock": (("window", math.inf),),
        "the bound on leads": (("lead", math.inf),),
    },
}
# Trees under other conditions: three of each shape; in quick runs, small ones.
NUMBERS, QUICK_NUMBERS = tuple(range(45)), (1, 2, 7)
WHOLE = ("lp", "data_centric", "cgbc", "fcfs", "bcs", "prices", "lag")
QUICK = ("lp", "data_centric", "prices", "lag")
REPLANNED = ("data_centric", "prices")
WINDOW = "default model, latency 6 ms to 10 s"
# Conditions by topic, and those of quick runs.
NETWORK = (
    "default model",
    "default model, no cross-traffic",
    "latency 6 ms",
    "latency 6 ms to 10 s",
    WINDOW,
    "others transfer",
)
CHANGING = ("speeds vary", "bandwidths vary", CHANGES, "load comes", SLOWS)
FAILING = ("hosts fail",)
QUICK_CONDITIONS = ("default model", "others transfer", CHANGES, "hosts fail")
# Trees with checked traces, of all shapes; readings in turn.
TRACED, QUICK_TRACED = tuple(range(20)), (1, 6, 11)


def plain(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies on the trees of both seeds."""
    return _against_lp({"": PolicySetting("")}, FEWER, quick=quick)


def errors(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies where measurements are wrong."""
    settings = {
        "first measurements off by up to 20 %": PolicySetting("", errors=ERRORS),
        "all measurements off by up to 20 %, for good": PolicySetting(
            "", errors=ERRORS, lasting=True
        ),
    }
    return _against_lp(settings, FEWER, quick=quick)


def changes(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies where the platform changes."""
    settings = {
        "the host with most work at half speed from a quarter of the run on": PolicySetting(
            "", conditions=SLOWS
        ),
        "speeds and bandwidths changing meanwhile": PolicySetting("", conditions=CHANGES),
    }
    return _against_lp(settings, FEWEST, quick=quick)


def _against_lp(
    settings: Mapping[str, PolicySetting], few: Sequence[int], *, quick: bool
) -> dict[str, Quantity]:
    """Return the largest mean and the worst ratio of LP over each of our policies, in reading A.

    Parameters
    ----------
    settings : mapping of str to ExperimentSetting
        Settings without a policy, by their descriptions; empty for the plain one.
    few : sequence of int
        Numbers of the instances of a quick run.
    quick : bool
        True for the first setting on a few instances, if there are more settings of one seed.
    """
    more = quick and len(settings) > 1
    seeds, numbers = SEEDS[: 1 if more else 2], few if quick else range(TREES)
    chosen = list(settings.items())[: 1 if more else None]
    quantities: dict[str, Quantity] = {}
    for policy in OURS:
        found, lines, undone = [], [], 0
        for (words, setting), seed in product(chosen, seeds):
            high, low = (
                measurements("A", seed, numbers, replace(setting, policy=name))
                for name in ("lp", policy)
            )
            ratio, left = ratios(high, low), sum(not each.all_done for each in low)
            found.append((ratio, None if words else best(high)))
            undone += left
            lines.append(
                f"{words}{', ' * bool(words)}seed {seed}: {ratio.written()}, large trees"
                f" {ratio.large:.3f}, by the slope {ratios(high, low, by='slope').written()};"
                f" {left} executions left tasks undone"
            )
        note, failed = "; ".join(lines), math.inf if undone else None
        ours = [ratio for ratio, _ in found]
        mean = extreme(ours, note=note, failed=failed, more=more)
        _, optimum = max(found, key=lambda each: each[0].mean)
        worst = failed or max(each.worst for each in ours)
        bar = Quantity(worst, note=note)
        if quick:
            bar = replace(bar, interval=(worst, math.inf), samples=len(numbers), over="trees")
        quantities |= {f"{policy}.mean": replace(mean, optimum=optimum), f"{policy}.worst": bar}
    known = {"reading": "A", "seeds": list(seeds), "trees": listed(numbers)}
    return determined_by(known, quantities)


def other_readings(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies, relative to LP over their rivals, in the other readings."""
    numbers = FEWEST if quick else range(TREES)
    quantities = {}
    for policy, rival in RIVALS.items():
        found, lines, fails = [], [], False
        for reading in OTHER_READINGS:
            lp, ours, other = (
                measurements(reading, SEED, numbers, PolicySetting(name))
                for name in ("lp", policy, rival)
            )
            here, there = ratios(lp, ours), ratios(lp, other)
            found.append(here.over(there))
            fails |= bool(here.apart) or not all(each.all_done for each in ours)
            lines.append(f"{reading} {here.written()}, {rival} {there.written()}")
        note = f"largest of {len(found)} readings; LP over the policies: {'; '.join(lines)}"
        failed = math.inf if fails else None
        quantities[f"{policy}.over_rival"] = extreme(found, note=note, failed=failed)
    return determined_by(provenance(numbers), quantities)


def ablations(quick: bool) -> dict[str, Quantity]:
    """Return the factor that each of our policies loses without its least valuable part."""
    numbers = FEWER if quick else range(TREES)
    quantities = {}
    for policy, parts in PARTS.items():
        lp, whole = (
            measurements("A", SEED, numbers, PolicySetting(name)) for name in ("lp", policy)
        )
        usual = ratios(lp, whole)
        found, lines = [], [f"with everything {usual.written()}"]
        for words, parameters in parts.items():
            without = ratios(
                lp, measurements("A", SEED, numbers, PolicySetting(policy, parameters))
            )
            # Without a part that keeps trees from having no throughput, the loss is infinite.
            if without.apart <= usual.apart:
                found.append(without.over(usual))
            lines.append(f"without {words} {without.written()}")
        note, failed = f"LP over it, reading A: {'; '.join(lines)}", None if found else math.inf
        quantities[f"{policy}.parts"] = extreme(found or [usual], "least", note=note, failed=failed)
    return determined_by(provenance(numbers), quantities)


def conditions(names: Sequence[str], quick: bool) -> dict[str, Quantity]:
    """Return the largest mean of LP over our policies under some conditions.

    Parameters
    ----------
    names : sequence of str
        Keys of `simplugin.papers.beaumont.conditions.CONDITIONS`.
    quick : bool
        True for those of them in `QUICK_CONDITIONS`, on fewer trees and for fewer policies.
    """
    chosen = [name for name in names if not quick or name in QUICK_CONDITIONS]
    numbers = QUICK_NUMBERS if quick else NUMBERS
    found = losses(numbers, QUICK if quick else WHOLE, chosen)
    lines = []
    for name in chosen:
        here = [each for each in found if each.conditions == name]
        lost = ", ".join(f"{each.policy} {each.written()}" for each in here)
        behind = ", ".join(f"{each.policy} {each.behind.written()}" for each in here)
        lines.append(f"{name}: lost {lost}; LP over it {behind}")
    note = "lost against the plain model, where some is left; " + "; ".join(lines)
    quantities = {}
    for policy in OURS:
        ours = [each for each in found if each.policy == policy]
        quantities[policy] = extreme(
            [each.behind for each in ours],
            note=note,
            failed=math.inf if any(each.fails for each in ours) else None,
            more=len(chosen) < len(names),
        )
    return determined_by(_trees(numbers), quantities)


def measured_rates(quick: bool) -> dict[str, Quantity]:
    """Return the throughput of LP with the platform's rates over that with measured ones."""
    numbers = QUICK_NUMBERS if quick else NUMBERS
    known, unknown = losses(numbers, ("lp", "lp, unmeasured"), (WINDOW,))
    note = (
        f"LP loses {known.written()} with measured rates, {unknown.written()} with the platform's,"
        f" against itself in the plain model; {WINDOW}"
    )
    failed = math.inf if known.starved else None
    found = extreme([known.lost.over(unknown.lost)], note=note, failed=failed)
    return determined_by(_trees(numbers), {"unmeasured": found})


def replanning(quick: bool) -> dict[str, Quantity]:
    """Return the least factor that planning again gains, also over that where nothing changes."""
    names = ("load comes",) if quick else (CHANGES, "load comes", "others transfer")
    numbers = QUICK_NUMBERS if quick else NUMBERS
    quantities = {}
    for policy in REPLANNED:
        found = losses(numbers, (f"{policy}, once", policy), (PLAIN, *names))
        pairs = list(zip(found[::2], found[1::2], strict=True))
        usual, *gains = (once.behind.over(again.behind) for once, again in pairs)
        lines = [
            f"{again.conditions}: {gain.mean - 1:+.1%}, loses {again.written()}, if planned once"
            f" {once.written()}; LP over it {again.behind.written()}"
            for gain, (once, again) in zip(gains, pairs[1:], strict=True)
        ]
        quantities[policy] = extreme(
            [*gains, *(each.over(usual) for each in gains)],
            "least",
            note=f"{'; '.join(lines)}; where nothing changes {usual.mean - 1:+.1%}",
            failed=0.0 if any(again.fails for _, again in pairs[1:]) else None,
            more=quick,
        )
    return determined_by(_trees(numbers), quantities)


def _trees(numbers: Sequence[int]) -> dict[str, Any]:
    """Return what determines losses."""
    return provenance(numbers) | {"reading": "A"}


class NegotiationOutcome(NamedTuple):
    """Result of a negotiation between actors.

    Attributes
    ----------
    fair : float
        Fair throughput of the negotiated rates [task/s].
    rounds : int
        Number of times that the root posted prices.
    bytes_sent : float
        Bytes through the simulated network, of all nodes.
    duration : float
        Simulated time [s].
    """

    fair: float
    rounds: int
    bytes_sent: float
    duration: float


def negotiated(tree: Tree, bags: Bags, terms: NegotiationParameters) -> NegotiationOutcome:
    """Let the hosts of a tree negotiate on SimGrid, each with its own knowledge."""
    placements = []
    for host, name in enumerate(tree.hosts):
        node = negotiator(NodeKnowledge.of(tree, bags, host), is_root=host == 0, negotiation=terms)
        given = TreePosition.of(tree, host), node
        placements.append(Placement(name, negotiate, given, name=f"{name} negotiates"))
    result = simulate(tree.platform(), placements, options=SimGridOptions.linear())
    nodes = [each.value for each in result.returned]
    throughput = np.sum([each.plan.rates[0] for each in nodes], axis=0)
    return NegotiationOutcome(
        float(np.min(throughput / bags.weight)),
        nodes[0].node.sweeps,
        sum(each.bytes for each in nodes),
        nodes[0].duration,
    )


def negotiations(quick: bool) -> dict[str, Quantity]:
    """Return the distances of negotiations from the optimum, and from the pure negotiation."""
    numbers = FEWER[::2] if quick else range(TREES)
    free: list[NegotiationOutcome] = []
    rented: list[NegotiationOutcome] = []
    gaps: dict[float, list[float]] = {}
    apart = []
    for reading, number in product(MAIN, numbers):
        tree, bags = instance(reading, SEED, number)
        optimum = steady_state(tree, bags).fair
        for outcomes, terms in (
            (free, NegotiationParameters(rent=0.0)),
            (rented, NegotiationParameters()),
        ):
            done = negotiated(tree, bags, terms)
            outcomes.append(done)
            gaps.setdefault(terms.rent, []).append(abs(done.fair / optimum - 1))
            apart.append(abs(done.fair / negotiate_prices(tree, bags, negotiation=terms).fair - 1))
    note = (
        f"{len(free)} instances of all main readings; {np.mean([each.rounds for each in free]):.1f}"
        f" rounds on average, {max(each.rounds for each in free)} at most,"
        f" {np.median([each.bytes_sent for each in free]):.2g} byte in"
        f" {np.median([each.duration for each in free]):.2g} s (medians); with the charge for port"
        f" time, which chooses among optima, {max(gaps[NegotiationParameters().rent]):.1g} off at"
        f" worst in {np.mean([each.rounds for each in rented]):.1f} rounds"
    )
    found = {
        "gap": Quantity(max(gaps[0.0]), note=note, optimum=0.0),
        "apart": Quantity(max(apart)),
    }
    return determined_by(provenance(numbers) | {"readings": ", ".join(MAIN)}, found)


def traces(quick: bool) -> dict[str, Quantity]:
    """Return the number of violations of the model in the traces of all policies."""
    numbers = QUICK_TRACED if quick else TRACED
    readings = tuple(MAIN)
    found = [
        f"{policy}, tree {number}: {words}"
        for number in numbers
        for policy in POLICIES
        for words in violations_of(readings[number % len(readings)], number, policy)
    ]
    note = "; ".join([f"{len(numbers) * len(POLICIES)} runs", *found[:5]])
    measured_on = {"seed": SEED, "readings": list(readings), "trees": list(numbers)}
    return {"violations": Quantity(len(found), note=note, provenance=measured_on)}


def violations_of(reading: str, number: int, policy: str, *, count: int = TASKS) -> list[str]:
    """Execute a policy on an instance and return the violations of the model in its trace."""
    tree, bags = instance(reading, SEED, number, count=count)
    made = POLICIES[policy](tree, bags)
    done = execute(tree, bags, made, trace=True)
    room = BUFFER
    if made.parallel:
        # Each application has its part of a buffer.
        room = max(BUFFER // bags.n_applications, 1) * bags.n_applications
    return trace_violations(done, room, parallel=made.parallel, bundled=made.bundled)
