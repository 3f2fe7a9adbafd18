"""Whether runs of all policies keep within the model, as their traces tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.bags.execution import execute
from simplugin.bags.instances import MAIN, SEEDS, TASKS, instance
from simplugin.bags.nodes import BUFFER
from simplugin.bags.policies import POLICIES, policy_called
from simplugin.bags.trace_check import violations
from simplugin.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = SEEDS[0]
# Trees of all shapes, and of the quick run some that are not large; readings in turn.
NUMBERS, QUICK_NUMBERS = tuple(range(20)), (1, 6, 11)
# How many violations are said in words.
_SAID = 5


def rechecked(quick: bool) -> list[Claim]:
    """Return in how many runs something is not as in the model."""
    numbers = QUICK_NUMBERS if quick else NUMBERS
    readings = tuple(MAIN)
    found = [
        f"{policy}, tree {number}: {words}"
        for number in numbers
        for policy in POLICIES
        for words in violations_of(readings[number % len(readings)], number, policy)
    ]
    runs = len(numbers) * len(POLICIES)
    return [
        Claim(
            "Under the full-overlap single-port model, rechecked from traces of SimGrid's"
            " activities",
            "holds",
            f"{len(found)} violations in {runs} runs",
            not found,
            f"every policy on {len(numbers)} trees. Capacities: a host sends one task and computes"
            " one at a time, none faster than links and CPUs are, and no buffer holds too much;"
            " BCS's applications, side by side, take no more than that together. Precedence:"
            " nothing is computed or sent before it has arrived. Amounts: every task is computed,"
            " once. Agrees if there is no violation"
            + "".join(f"; {words}" for words in found[:_SAID]),
            "section 3.1",
            provenance={"seed": SEED, "readings": list(readings), "trees": list(numbers)},
        )
    ]


def violations_of(reading: str, number: int, policy: str, *, count: int = TASKS) -> list[str]:
    """Execute a policy on an instance, and say where its trace leaves the model.

    Parameters
    ----------
    reading : str
        A key of `simplugin.bags.instances.READINGS`.
    number : int
        Of the instance.
    policy : str
        A key of `simplugin.bags.policies.POLICIES`.
    count : int
        Tasks of each application.
    """
    tree, bags = instance(reading, SEED, number, count=count)
    made = policy_called(policy)(tree, bags)
    done = execute(tree, bags, made, trace=True)
    room = BUFFER
    if made.parallel:
        # Each application has its part of a buffer.
        room = max(BUFFER // bags.n_applications, 1) * bags.n_applications
    return violations(done, room, parallel=made.parallel, bundled=made.bundled)


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"rechecked from traces": rechecked}
