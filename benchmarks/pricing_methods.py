"""Tables of docs/pricing.md that compare methods: costs, baselines, slow trees, many applications.

    .venv/bin/python benchmarks/pricing_methods.py [--quick] [PART ...]

The parts are costs, baselines, trees, many and thousand.

Counts are medians and the worst of rounds from which every throughput stays within 1 %, and within
1e-6, of the optimum; inf where it is not by the end.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import product

import numpy as np

PARTS = ("costs", "baselines", "trees", "many", "thousand")
LEVELS = (0.01, 1e-6)
SEEDS = {"trees": 10, "many": 5}


def counts(method, sharing, best, rounds: int) -> list[float]:
    """Return the rounds of a pure iteration to each level, infinite where it is not reached."""
    from simplugin.pricing import iterate, settled, throughput_error
    from simplugin.workloads import AlphaFair

    found = iterate(method, sharing, AlphaFair(1.0), rounds, prices=False)
    error = throughput_error(found, best)
    reached = [settled(error, level) for level in LEVELS]
    return [np.inf if each is None else each for each in reached]


def show(what: str, rows) -> None:
    """Print medians and the worst of each column."""
    table = np.array(rows, dtype=float)
    middle = ", ".join(f"{value:.4g}" for value in np.median(table, axis=0))
    worst = ", ".join(f"{value:.4g}" for value in table.max(axis=0))
    print(f"{what}: median {middle}; worst {worst}; of {len(table)}", flush=True)


def methods():
    """Return the methods without step sizes that have actors."""
    from simplugin.pricing import AcceleratedMarket, Market

    return {"markets": Market(), "accelerated": AcceleratedMarket()}


def costs(step: int) -> None:
    """Print rounds, seconds and bytes of actors, on instances of up to 700 agents."""
    from simplugin.optimum import fair_sharing
    from simplugin.papers.bertin.seeded_instances import instances
    from simplugin.pricing import negotiate
    from simplugin.workloads import AlphaFair

    found: dict[str, list[list[float]]] = {name: [] for name in methods()}
    for number, each in enumerate(instances()):
        if number % step or each.sharing.n_agents > 700:
            continue
        best = fair_sharing(each.sharing).throughput
        for name, method in methods().items():
            reached = counts(method, each.sharing, best, 600)
            rounds = [int(min(count, 600)) for count in reached]
            done = negotiate(each.graph, each.sharing, method, max(rounds), AlphaFair(1.0))
            seen = done.trajectory
            row = [
                (count, seen.date[r], seen.sent[r])
                for count, r in zip(reached, rounds, strict=True)
            ]
            found[name].append([value for part in row for value in part])
    for name, rows in found.items():
        show(f"{name}, rounds, seconds, bytes to 1 %, and to 1e-6", rows)


def baselines(step: int) -> None:
    """Print rounds of baselines, as pure iterations."""
    from pricing_baselines import AutomaticGradient, PrimalDual

    from simplugin.optimum import fair_sharing
    from simplugin.papers.bertin.seeded_instances import instances
    from simplugin.pricing import Gradient

    every = {"Table 1": Gradient(), "automatic": AutomaticGradient(), "primal-dual": PrimalDual()}
    problems = [each for number, each in enumerate(instances()) if number % step == 0]
    optima = [fair_sharing(each.sharing).throughput for each in problems]
    for name, method in (every | methods()).items():
        rounds = 3000 if name in every else 400
        pairs = zip(problems, optima, strict=True)
        rows = [counts(method, each.sharing, best, rounds) for each, best in pairs]
        missing = np.isinf(rows).sum(axis=0)
        show(f"{name}, without end on {missing[0]} and {missing[1]}", rows)


def random_problem(shape: str, hosts: int, applications: int, masters: str, seed: int):
    """Return what shares a random graph of one decade."""
    from simplugin.papers.bertin.seeded_instances import SPREADS, random_applications
    from simplugin.platforms.topologies.random_graphs import random_graph
    from simplugin.pricing import deploy

    generator, spread = np.random.default_rng([9, seed]), SPREADS["mild"]
    graph = random_graph(
        shape, hosts, generator, decades=spread.decades, forwarding=spread.forwarding
    )
    drawn = random_applications(graph, applications, spread, generator)
    if masters == "hub":
        drawn = [replace(each, master=graph.hosts[0]) for each in drawn]
    if masters == "each":
        order = generator.permutation(hosts).tolist()
        drawn = [replace(a, master=graph.hosts[order[k % hosts]]) for k, a in enumerate(drawn)]
    return deploy(graph, drawn)


def compare(what: str, problem: tuple, seeds: int, rounds: int) -> None:
    """Print rounds of the methods on problems of several seeds."""
    from simplugin.optimum import fair_sharing

    problems = [random_problem(*problem, seed) for seed in range(seeds)]
    optima = [fair_sharing(each).throughput for each in problems]
    for name, method in methods().items():
        pairs = zip(problems, optima, strict=True)
        show(f"{what}, {name}", [counts(method, each, best, rounds) for each, best in pairs])


def duality_gap(sharing, state) -> float:
    """Return how far the sum of log throughputs of a state may be below the largest, at most.

    Rates are scaled to fit the capacities. At given prices an application gains most by its
    cheapest route: weak duality. A gap of g leaves each throughput x times its optimum, where
    x - 1 - log x <= g, thus within sqrt(2 g) for small g.
    """
    from simplugin.pricing.policies.gradient import task_price

    price = task_price(sharing, state.host_price, state.link_price)
    cheapest = np.full(sharing.n_applications, np.inf)
    there = sharing.computes
    np.minimum.at(cheapest, sharing.application[there], price[there])
    paid = state.host_price @ sharing.speed + state.link_price @ sharing.bandwidth
    reached = sharing.throughput(state.rate) / (1 + max(sharing.overload(state.rate), 0.0))
    return float(paid - np.sum(np.log(cheapest * reached) + 1))


def thousand(size: int, rounds: int) -> None:
    """Print rounds of markets with as many applications as hosts, certified by a duality gap."""
    from simplugin.pricing import Market, settled
    from simplugin.workloads import AlphaFair

    sharing = random_problem("recursive", size, size, "each", 0)
    method, utility = Market(), AlphaFair(1.0)
    state = method.start(sharing, utility)
    seen, began = [], time.process_time()
    for number in range(rounds + 1):
        seen.append((sharing.throughput(state.rate), sharing.overload(state.rate)))
        if number and number % 50 == 0:
            gap = duality_gap(sharing, state)
            took = (time.process_time() - began) / number
            print(f"{number} rounds, {took:.2g} s each: duality gap {gap:.2g}", flush=True)
            if gap < 1e-13 * size:
                break
        state = method.round(sharing, utility, state)
    error = np.array([max(np.abs(x / seen[-1][0] - 1).max(), over) for x, over in seen])
    for level in LEVELS:
        print(f"within {level:g} of the last round from round {settled(error, level)} on")


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all without")
    parser.add_argument("--quick", action="store_true", help="fewer problems")
    asked = parser.parse_args()
    parts, quick = asked.parts or PARTS, asked.quick
    if "costs" in parts:
        costs(40 if quick else 8)
    if "baselines" in parts:
        baselines(50 if quick else 5)
    if "trees" in parts:
        for shape, masters in product(("recursive", "star"), ("hub", "random")):
            problem = shape, 60, 10, masters
            compare(f"{shape}, masters {masters}", problem, 2 if quick else SEEDS["trees"], 2000)
    if "many" in parts:
        for applications in (2, 10, 30) if quick else (2, 10, 30, 100, 200):
            problem = "recursive", 100, applications, "each"
            seeds = 1 if quick else SEEDS["many"]
            compare(f"100 hosts, {applications} applications", problem, seeds, 300)
    if "thousand" in parts:
        thousand(100 if quick else 1000, 1300)


if __name__ == "__main__":
    main()
