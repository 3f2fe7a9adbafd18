"""The shipped policies for bags of tasks on trees, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from simplugin.bags.policies.classics import bcs, cgbc, fcfs
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.lag import lag
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.prices import prices
from simplugin.bags.policy import BagPolicy
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags


class PolicyMaker(Protocol):
    """Makes a policy for a tree and its bags."""

    def __call__(self, tree: Tree, bags: Bags, /, *args: Any, **parameters: Any) -> BagPolicy:
        """Return the policy.

        Parameters
        ----------
        tree : Tree
            As measured, which can be wrong. A policy that plans nothing does not look at it.
        bags : Bags
            The tasks.
        *args, **parameters
            The policy's own; a scenario gives those with a name.
        """


POLICIES: Mapping[str, PolicyMaker] = {
    "lp": lp,
    "fcfs": fcfs,
    "cgbc": cgbc,
    "bcs": bcs,
    "data_centric": data_centric,
    "prices": prices,
    "lag": lag,
}
