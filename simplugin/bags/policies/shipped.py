"""The shipped policies for bags of tasks on trees, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simplugin.bags.policies.classics import bcs, cgbc, fcfs
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.lag import lag
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.prices import prices
from simplugin.bags.policy import BagPolicy

# Makes a policy from the measured tree and its bags; scenarios give further parameters as keywords.
PolicyMaker = Callable[..., BagPolicy]

POLICIES: Mapping[str, PolicyMaker] = {
    "lp": lp,
    "fcfs": fcfs,
    "cgbc": cgbc,
    "bcs": bcs,
    "data_centric": data_centric,
    "prices": prices,
    "lag": lag,
}
