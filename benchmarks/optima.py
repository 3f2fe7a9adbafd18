"""Fair sharing on platforms whose capacities are up to twelve orders of magnitude apart.

Solves each of 500 drawn platforms for each alpha, and counts those that are certified to 1e-6.

Usage:

    .venv/bin/python benchmarks/optima.py [--quick] [--json] [--first N] [--count N]
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace

import numpy as np

from simplugin.core.errors import UncertifiedError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.optimum.solvers import ACCEPTED
from simplugin.papers.bertin.seeded_instances import FAMILIES, Spread, random_applications
from simplugin.platforms.topologies.random_graphs import random_graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads import SharedDeployment

ALPHAS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, math.inf)
COUNT, SEED, DECADES = 500, 19, 12.0
SHAPES = tuple(shape for shapes in FAMILIES.values() for shape in shapes)
TASKS = Spread(3.0, 0.1, (1e2, 1e6), (1e-3, 1e-1))


def platform(number: int, seed: int = SEED) -> SharedDeployment:
    """Return a problem of 4 to 60 hosts and 2 to 10 applications.

    The shapes of `simplugin.pricing.instances` take turns, and so do two kinds of platform: all
    capacities log-uniform over 0 to 12 decades, or over 3 at most with one link slower by up to
    12 more.
    """
    generator = np.random.default_rng([seed, number])
    decades = float(generator.uniform(0, DECADES))
    n_hosts = round(float(np.exp(generator.uniform(np.log(4), np.log(60)))))
    n_applications = int(generator.integers(2, 11))
    one_slow = number // len(SHAPES) % 2 == 1
    graph = random_graph(
        SHAPES[number % len(SHAPES)],
        n_hosts,
        generator,
        decades=min(3.0, decades) if one_slow else decades,
        forwarding=0.1,
    )
    if one_slow:
        bandwidth = graph.bandwidth.copy()
        bandwidth[generator.integers(len(bandwidth))] *= 10**-decades
        graph = replace(graph, bandwidth=bandwidth)
    return deploy(graph, random_applications(graph, n_applications, TASKS, generator))


def solve(numbers: range) -> dict[str, dict[str, float]]:
    """Return for each alpha how many problems are certified, and the time they take."""
    rows = {}
    for alpha in ALPHAS:
        gaps, seconds = [], []
        for number in numbers:
            start = time.perf_counter()
            try:
                gaps.append(fair_sharing(platform(number), alpha).gap)
            except UncertifiedError as error:
                gaps.append(math.inf)
                print(f"platform {number}, alpha {alpha:g}: {error}", flush=True)
            seconds.append(time.perf_counter() - start)
        rows[f"{alpha:g}"] = {
            "platforms": len(gaps),
            "to_1e-6": sum(gap <= ACCEPTED for gap in gaps),
            "to_1e-8": sum(gap <= 1e-8 for gap in gaps),
            "refused": sum(math.isinf(gap) for gap in gaps),
            "mean_s": float(np.mean(seconds)),
            "worst_s": float(np.max(seconds)),
        }
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 platforms")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--first", type=int, default=0, help="number of the first platform")
    parser.add_argument("--count", type=int, default=COUNT, help="how many platforms")
    options = parser.parse_args()
    count = 20 if options.quick else options.count
    rows = solve(range(options.first, options.first + count))
    if options.json:
        print(json.dumps(rows))
        return
    print("alpha  platforms  to 1e-6  to 1e-8  refused  mean  worst")
    for alpha, row in rows.items():
        print(
            f"{alpha:>5}  {row['platforms']:9}  {row['to_1e-6']:7}  {row['to_1e-8']:7}"
            f"  {row['refused']:7}  {row['mean_s']:.2f} s  {row['worst_s']:.1f} s"
        )


if __name__ == "__main__":
    main()
