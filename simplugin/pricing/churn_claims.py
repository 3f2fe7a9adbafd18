"""Hosts that leave and applications that arrive, on seeded platforms: rounds to the new optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.pricing.agents.changes import reachable
from simplugin.pricing.agents.churn import CALM, calm_down, recover
from simplugin.pricing.deployment import deploy
from simplugin.pricing.instances import SEED, SPREADS, instance, random_applications
from simplugin.pricing.policies import POLICIES
from simplugin.pricing.survey import median_worst, written
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplugin.pricing.agents.churn import Calm, Comeback
    from simplugin.pricing.instances import Instance
    from simplugin.workloads.sharing import Sharing

PROPORTIONAL = AlphaFair(1.0)
# How many platforms there are; actors run those of so many agents at most. The quick run takes
# the first few that have fewer.
_ALL, _MOST_AGENTS = 200, 1000
_QUICK, _QUICK_AGENTS = 6, 60
# Rounds at most, before a change and after it, in the quick run and in the full one.
_QUICK_ROUNDS, _ROUNDS = 100, 400
# What is asked of the median, and how far actors and pure iterations may be apart.
_MEDIAN, _SAME = 15, 1e-9
EVENTS = "the busiest leaf host without a master leaves", "an application arrives"


def accelerated(quick: bool) -> list[Claim]:
    """Return how soon the accelerated method without steps is back after changes."""
    return _claims("market_accelerated", "accelerated markets", quick)


def local(quick: bool) -> list[Claim]:
    """Return how soon the method without steps is back, all of it local."""
    return _claims("market", "markets", quick)


def _claims(policy: str, what: str, quick: bool) -> list[Claim]:
    """Return one claim for each kind of change."""
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    found: dict[str, list[Comeback]] = {event: [] for event in EVENTS}
    for each in _chosen(quick):
        method = POLICIES[policy]()
        few = each.sharing.n_agents <= _MOST_AGENTS
        before = calm_down(each.graph, each.sharing, method, PROPORTIONAL, rounds, simulated=few)
        for event, after in zip(EVENTS, (without_leaf(before), with_arrival(each)), strict=True):
            if after is not None:
                recovery = recover(each.graph, before, after, method, PROPORTIONAL, rounds)
                found[event].append(recovery)
    return [_claim(what, event, recoveries, quick) for event, recoveries in found.items()]


def _claim(what: str, event: str, found: Sequence[Comeback], quick: bool) -> Claim:
    """Return the claim about one kind of change."""
    median, worst = median_worst(each.rounds for each in found)
    apart = max((each.apart for each in found if not np.isnan(each.apart)), default=0.0)
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    return Claim(
        f"How does such a system react to high churn? When {event}",
        "left open",
        f"back within 1 % after {written(median, rounds)} rounds (median),"
        f" {written(worst, rounds)} (worst)",
        median <= _MEDIAN and apart <= _SAME,
        f"{what}, {len(found)} platforms, everybody goes on with what he knew and who is new"
        " starts cold: from then on every throughput is within 1 % of the new optimum and no"
        f" resource overloaded by more; agrees up to {_MEDIAN} rounds in the median."
        f" {_acted(found)}",
        "slides, conclusion",
        provenance={
            "platforms": f"the first {_QUICK} of at most {_QUICK_AGENTS} agents"
            if quick
            else f"instances 0 to {_ALL - 1}",
            "seed": SEED,
            "before": f"until within {CALM:g}, {rounds} rounds at most",
            "rounds": rounds,
        },
    )


def _acted(found: Sequence[Comeback]) -> str:
    """Say how far actors on SimGrid did the same."""
    acted = [each for each in found if not np.isnan(each.apart)]
    if not acted:
        return "Pure iterations"
    apart = max(each.apart for each in acted)
    seconds = [np.inf if np.isnan(each.seconds) else each.seconds for each in acted]
    return (
        f"Actors on SimGrid ran {len(acted)} of them, before and after, the others are pure"
        f" iterations: rates differ by {apart:.1g} of the largest at most; after the change they"
        " begin with the state of the pure iteration, and are back after"
        f" {np.median(seconds):.2g} s (median)"
    )


def without_leaf(before: Calm) -> Sharing | None:
    """Return what is left when the host that computes most leaves, of those without sons.

    Parameters
    ----------
    before : Calm
        With the optimal rates.

    Returns
    -------
    Sharing or None
        None where all hosts that compute are masters' or forward data.
    """
    sharing = before.sharing
    load = sharing.host_load(before.best.rate)
    load[sharing.host[sharing.father[sharing.father >= 0]]] = 0.0
    load[sharing.host[sharing.masters]] = 0.0
    leaf = int(np.argmax(load))
    if load[leaf] <= 0:
        return None
    there = np.ones(sharing.n_applications, dtype=bool)
    left, _, _ = reachable(sharing, there, {sharing.hosts[leaf]})
    return left


def with_arrival(each: Instance) -> Sharing:
    """Return what is shared when one more application of the same kind arrives."""
    generator = np.random.default_rng([SEED, int(each.name.split("-")[0]), 1])
    first = len(each.applications)
    new = random_applications(each.graph, 1, SPREADS[each.spread], generator, first)
    return deploy(each.graph, (*each.applications, *new))


def _chosen(quick: bool) -> Iterator[Instance]:
    """Yield the platforms to be looked at: all, or a few small ones."""
    count = 0
    for number in range(_ALL):
        each = instance(number)
        if quick and each.sharing.n_agents > _QUICK_AGENTS:
            continue
        yield each
        count += 1
        if quick and count == _QUICK:
            return


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "platforms, changes, accelerated markets": accelerated,
    "platforms, changes, markets": local,
}
