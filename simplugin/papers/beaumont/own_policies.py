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
from simplugin.bags.policies.price_negotiation import Terms
from simplugin.bags.policies.prices import negotiate_prices, negotiator
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BUFFER, Known, Place
from simplugin.bags.trace_check import trace_violations
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.campaign import FEW, FEWER, FEWEST, Setting, measurements
from simplugin.papers.beaumont.comparisons import PLAIN, Loss, Ratios, best, losses, ratios
from simplugin.papers.beaumont.conditions import SLOWS
from simplugin.papers.beaumont.heuristics import listed, provenance
from simplugin.papers.beaumont.instances import MAIN, SEEDS, TASKS, TREES, instance
from simplugin.papers.statements import Quantity, determined_by
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

SEED = SEEDS[0]
OURS = ("prices", "lag")
# The policy of the paper that each competes with: one plans, the other does not.
RIVALS = {"prices": "data_centric", "lag": "cgbc"}
# Of both seeds.
ALL_TREES = (range(TREES), range(TREES))
OTHER_READINGS = tuple(MAIN)[1:]
# Largest relative error of measurements, and the conditions of a platform that changes.
ERRORS, CHANGES = 0.2, "availability"
# For each part of a policy, the parameters without it.
Without = Mapping[str, tuple[tuple[str, Any], ...]]
PARTS: Mapping[str, Without] = {
    "prices": {"the link filter": (("sift", False),)},
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
# Conditions by what they concern, and those of quick runs.
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
# Trees whose traces are checked, of all shapes; readings in turn.
TRACED, QUICK_TRACED = tuple(range(20)), (1, 6, 11)


def plain(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies on the trees of both seeds."""
    return _against_lp({"": Setting("")}, (FEW, FEWER) if quick else ALL_TREES)


def errors(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies where measurements are wrong."""
    first = {"first measurements off by up to 20 %": Setting("", errors=ERRORS)}
    if quick:
        return _against_lp(first, (FEWER,))
    lasting = Setting("", errors=ERRORS, lasting=True)
    return _against_lp(first | {"all measurements off by up to 20 %, for good": lasting}, ALL_TREES)


def changes(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies where the platform changes."""
    slows = {
        "the host with most work at half speed from a quarter of the run on": Setting(
            "", conditions=SLOWS
        )
    }
    if quick:
        return _against_lp(slows, (FEWEST,))
    varies = {"speeds and bandwidths changing meanwhile": Setting("", conditions=CHANGES)}
    return _against_lp(varies | slows, ALL_TREES)


def _against_lp(
    settings: Mapping[str, Setting], numbers: Sequence[Sequence[int]]
) -> dict[str, Quantity]:
    """Return the largest mean and the worst ratio of LP over each of our policies, in reading A.

    Parameters
    ----------
    settings : mapping of str to Setting
        Settings without a policy, by their words; none for the plain one.
    numbers : sequence of sequence of int
        Numbers of the instances of the first seed, or of both.
    """
    quantities = {}
    chosen = list(zip(SEEDS, numbers, strict=False))
    for policy in OURS:
        found = {}
        lines = []
        for (words, setting), (seed, trees) in product(settings.items(), chosen):
            calm_lp, calm, high, low = (
                measurements("A", seed, trees, each)
                for each in (
                    Setting("lp"),
                    Setting(policy),
                    replace(setting, policy="lp"),
                    replace(setting, policy=policy),
                )
            )
            undone = sum(not each.all_done for each in low)
            ratio = ratios(high, low)
            mean, worst = (math.inf if undone else each for each in (ratio.mean, ratio.worst))
            found[mean, worst] = None if words else best(high)
            line = f"{words}, seed {seed}" if words else f"seed {seed}"
            line += f": {ratio.written()}, large trees {ratio.large:.3f}, by the slope"
            line += f" {ratios(high, low, by='slope').written()}"
            if words:
                line += (
                    f"; changes its throughput by {ratios(low, calm).mean - 1:+.1%} and that of LP"
                    f" by {ratios(high, calm_lp).mean - 1:+.1%}"
                )
            lines.append(f"{line}; {undone} executions left tasks undone")
        note = "; ".join(lines)
        mean, worst = (max(each) for each in zip(*found, strict=True))
        optimum = next(value for key, value in found.items() if key[0] == mean)
        quantities[f"{policy}.mean"] = Quantity(mean, note=note, optimum=optimum)
        quantities[f"{policy}.worst"] = Quantity(worst, note=note)
    written = "; ".join(dict.fromkeys(listed(each) for each in numbers))
    known = {"reading": "A", "seeds": [seed for seed, _ in chosen], "trees": written}
    return determined_by(known, quantities)


def other_readings(quick: bool) -> dict[str, Quantity]:
    """Return LP over our policies, relative to LP over their rivals, in the other readings."""
    numbers = FEWEST if quick else range(TREES)
    quantities = {}
    for policy, rival in RIVALS.items():
        values, lines = [], []
        for reading in OTHER_READINGS:
            lp, ours, other = (
                measurements(reading, SEED, numbers, Setting(name))
                for name in ("lp", policy, rival)
            )
            here, there = ratios(lp, ours), ratios(lp, other)
            undone = sum(not each.all_done for each in ours)
            values.append(math.inf if undone or here.apart else here.mean / there.mean)
            lines.append(f"{reading} {here.written()}, {rival} {there.written()}")
        note = f"largest of {len(values)} readings; LP over the policies: {'; '.join(lines)}"
        quantities[f"{policy}.over_rival"] = Quantity(max(values), note=note)
    return determined_by(provenance(numbers), quantities)


def ablations(quick: bool) -> dict[str, Quantity]:
    """Return the factor that each of our policies loses without its least valuable part."""
    numbers = FEWER if quick else range(TREES)
    quantities = {}
    for policy, parts in PARTS.items():
        lp, whole = (measurements("A", SEED, numbers, Setting(name)) for name in ("lp", policy))
        usual = ratios(lp, whole)
        values, lines = [], [f"with everything {usual.written()}"]
        for words, parameters in parts.items():
            without = ratios(lp, measurements("A", SEED, numbers, Setting(policy, parameters)))
            starved = without.apart > usual.apart
            values.append(math.inf if starved else without.mean / usual.mean)
            lines.append(f"without {words} {without.written()}")
        note = f"LP over it, reading A: {'; '.join(lines)}"
        quantities[f"{policy}.parts"] = Quantity(min(values), note=note)
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
    most = {
        policy: max(
            math.inf if each.fails else each.behind.mean for each in found if each.policy == policy
        )
        for policy in OURS
    }
    quantities = {policy: Quantity(each, note=note) for policy, each in most.items()}
    return determined_by(_trees(numbers), quantities)


def measured_rates(quick: bool) -> dict[str, Quantity]:
    """Return the loss of LP with measured rates less that with the platform's, with latencies."""
    numbers = QUICK_NUMBERS if quick else NUMBERS
    known, unknown = losses(numbers, ("lp", "lp, unmeasured"), (WINDOW,))
    note = (
        f"LP loses {known.written()} with measured rates, {unknown.written()} with the platform's,"
        f" against itself in the plain model; {WINDOW}"
    )
    value = math.inf if known.starved else known.mean - unknown.mean
    return {"difference": Quantity(value, note=note, provenance=_trees(numbers))}


def replanning(quick: bool) -> dict[str, Quantity]:
    """Return the least gain of planning again, beyond that where nothing changes."""
    names = ("load comes",) if quick else (CHANGES, "load comes", "others transfer")
    numbers = QUICK_NUMBERS if quick else NUMBERS
    quantities = {}
    for policy in REPLANNED:
        found = losses(numbers, (f"{policy}, once", policy), (PLAIN, *names))
        calm, *changing = zip(found[::2], found[1::2], strict=True)
        least = min(_gain(*each) for each in changing) - max(_gain(*calm), 0.0)
        lines = [
            f"{once.conditions}: {_gain(once, again):+.1%}, loses {again.written()}, if planned"
            f" once {once.written()}; LP over it {again.behind.written()}"
            for once, again in changing
        ]
        note = f"{'; '.join(lines)}; where nothing changes {_gain(*calm):+.1%}"
        fails = any(again.fails for _, again in changing)
        quantities[policy] = Quantity(-math.inf if fails else least, note=note)
    return determined_by(_trees(numbers), quantities)


def _gain(once: Loss, again: Loss) -> float:
    """Return the mean relative gain of the second, where both have a throughput."""
    with np.errstate(invalid="ignore"):
        return Ratios(once.behind.log - again.behind.log, once.behind.n_hosts).mean - 1


def _trees(numbers: Sequence[int]) -> dict[str, Any]:
    """Return what determines losses."""
    return provenance(numbers, reading="A")


class Outcome(NamedTuple):
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


def negotiated(tree: Tree, bags: Bags, terms: Terms) -> Outcome:
    """Let the hosts of a tree negotiate on SimGrid, each with its own knowledge."""
    placements = []
    for host, name in enumerate(tree.hosts):
        node = negotiator(Known.of(tree, bags, host), is_root=host == 0, terms=terms)
        given = Place.of(tree, host), node
        placements.append(Placement(name, negotiate, given, name=f"{name} negotiates"))
    result = simulate(tree.platform(), placements, options=SimGridOptions.linear())
    nodes = [each.value for each in result.returned]
    throughput = np.sum([each.plan.rates[0] for each in nodes], axis=0)
    return Outcome(
        float(np.min(throughput / bags.weight)),
        nodes[0].node.sweeps,
        sum(each.bytes for each in nodes),
        nodes[0].duration,
    )


def negotiations(quick: bool) -> dict[str, Quantity]:
    """Return the distances of negotiations from the optimum, and from the pure negotiation."""
    numbers = FEWER[::2] if quick else range(TREES)
    outcomes: dict[str, list[Outcome]] = {"free": [], "rented": []}
    gaps: dict[str, list[float]] = {"free": [], "rented": []}
    apart = []
    for reading in MAIN:
        for number in numbers:
            tree, bags = instance(reading, SEED, number)
            optimum = steady_state(tree, bags).fair
            for name, terms in (("free", Terms(rent=0.0)), ("rented", Terms())):
                done = negotiated(tree, bags, terms)
                outcomes[name].append(done)
                gaps[name].append(abs(done.fair / optimum - 1))
                apart.append(abs(done.fair / negotiate_prices(tree, bags, terms=terms).fair - 1))
    free, rented = outcomes["free"], outcomes["rented"]
    note = (
        f"{len(free)} instances of all main readings; {np.mean([each.rounds for each in free]):.1f}"
        f" rounds on average, {max(each.rounds for each in free)} at most,"
        f" {np.median([each.bytes_sent for each in free]):.2g} byte in"
        f" {np.median([each.duration for each in free]):.2g} s (medians); with the charge for port"
        f" time, which chooses among optima, {max(gaps['rented']):.1g} off at worst in"
        f" {np.mean([each.rounds for each in rented]):.1f} rounds"
    )
    found = {
        "gap": Quantity(max(gaps["free"]), note=note, optimum=0.0),
        "apart": Quantity(max(apart)),
    }
    return determined_by(provenance(numbers, readings=", ".join(MAIN)), found)


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
