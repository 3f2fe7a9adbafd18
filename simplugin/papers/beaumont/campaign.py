"""Measurements of the campaign of section 6: policies executed on SimGrid over seeded trees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.assessment import experimental, fair, slope
from simplugin.bags.execution import BagConditions, BagExecution, execute
from simplugin.bags.measurement import measure, with_errors
from simplugin.bags.policies.classics import first_request_delays
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BUFFER
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.conditions import Arguments, arguments
from simplugin.papers.beaumont.instances import TASKS, instance
from simplugin.platforms import ProfileUse
from simplugin.platforms.graphs import Tree

# Draws of an instance beyond those of its tree and applications.
_ERRORS, _ORDERS, _CONDITIONS = 3, 4, 5

# Trees of quick runs: all sizes, with 2 and with 15 children at most; one of each size; and three
# sizes.
FEW = (0, 1, 2, 4, 10, 11, 12, 13)
FEWER = (0, 11, 2, 13, 4)
FEWEST = FEWER[::2]

# Number of orders of the first requests over which first come, first served is averaged, full and
# quick.
ORDERS = (5, 2)


@dataclass(frozen=True)
class PolicySetting:
    """A policy and the circumstances of its execution.

    Attributes
    ----------
    policy : str
        A key of `simplugin.bags.policies.shipped.POLICIES`.
    parameters : tuple of (str, value)
        Of the policy.
    buffer : int
        Tasks that the buffer of a node holds.
    count : int
        Tasks of each application.
    errors : float
        Largest relative error of first measurements, either way.
    lasting : bool
        True if later measurements are off by the same parts.
    orders : int
        Number of orders of the first requests over which throughputs are averaged; 1 is the order
        of the tree.
    conditions : str
        A key of `simplugin.papers.beaumont.conditions.CONDITIONS`; empty for the plain model.
    measures : bool
        True if speeds and bandwidths are measured before, False if they are read from the
        platform's description.
    single_requests : bool
        True if each request is for one task, and first requests come in turn.
    """

    policy: str
    parameters: tuple[tuple[str, Any], ...] = ()
    buffer: int = BUFFER
    count: int = TASKS
    errors: float = 0.0
    lasting: bool = False
    orders: int = 1
    conditions: str = ""
    measures: bool = True
    single_requests: bool = False


@dataclass(frozen=True)
class ThroughputMeasurement:
    """The throughput of a setting on a tree.

    Attributes
    ----------
    reading : str
        A key of `simplugin.papers.beaumont.instances.READINGS`.
    seed, number : int
        Of the instance.
    setting : PolicySetting
        The policy and the circumstances.
    n_hosts : int
        Of the tree.
    fair : float
        Fair throughput by the formula of section 6.1.1 [tasks/s]; the mean over all orders.
    slope : float
        Fair throughput between 10 % and 90 % of completions [tasks/s].
    optimum : float
        Fair throughput of the linear program [tasks/s].
    theory : float, optional
        Expected throughput [task/s]; None if the policy expects none.
    all_done : bool
        True if every task was computed.
    """

    reading: str
    seed: int
    number: int
    setting: PolicySetting
    n_hosts: int
    fair: float
    slope: float
    optimum: float
    theory: float | None
    all_done: bool


def measurements(
    reading: str, seed: int, numbers: Iterable[int], setting: PolicySetting
) -> list[ThroughputMeasurement]:
    """Return the measurements of a setting on some instances."""
    return [measured(reading, seed, number, setting) for number in numbers]


@cache
def measured(reading: str, seed: int, number: int, setting: PolicySetting) -> ThroughputMeasurement:
    """Return the measurement of a setting on one instance, kept for the next call.

    The same conditions are the same for all settings. Policies plan with values measured from
    within the simulation before, as in section 6.1.4: where speeds and bandwidths change, their
    means; otherwise those under the same conditions.
    """
    tree, bags = instance(reading, seed, number, count=setting.count)
    done, theory = _executions(reading, seed, number, setting)
    return ThroughputMeasurement(
        reading,
        seed,
        number,
        setting,
        tree.n_hosts,
        float(np.mean([fair(experimental(each), bags.weight) for each in done])),
        float(np.mean([fair(slope(each), bags.weight) for each in done])),
        _optimum(reading, seed, number),
        None if math.isnan(theory) else theory,
        all(np.array_equal(each.computed.sum(axis=0), bags.count) for each in done),
    )


@cache
def _optimum(reading: str, seed: int, number: int) -> float:
    """Return the fair throughput of the linear program, for the true speeds and bandwidths."""
    return steady_state(*instance(reading, seed, number)).fair


@cache
def _known(reading: str, seed: int, number: int, conditions: str) -> Tree:
    """Return the tree as measured from within the simulation."""
    tree, bags = instance(reading, seed, number)
    further = _met(reading, seed, number, PolicySetting("", conditions=conditions))
    if not further:
        return measure(tree, bags)
    if any(isinstance(element, ProfileUse) for element in further["platform"].elements):
        return _known(reading, seed, number, "")
    return measure(tree, bags, platform=further["platform"], options=further["options"])


def _met(reading: str, seed: int, number: int, setting: PolicySetting) -> Arguments:
    """Return the arguments of `execute` that make the conditions."""
    if not setting.conditions:
        return {}
    tree, bags = instance(reading, seed, number)
    draws = np.random.default_rng([seed, number, _CONDITIONS])
    horizon = setting.count / _optimum(reading, seed, number)
    return arguments(setting.conditions, tree, draws, horizon, bags)


def _executions(
    reading: str, seed: int, number: int, setting: PolicySetting
) -> tuple[list[BagExecution], float]:
    """Return the executions of a setting, one for each order, and the expected throughput."""
    tree, bags = instance(reading, seed, number, count=setting.count)
    known, bias = tree, None
    if setting.measures:
        known = _known(reading, seed, number, setting.conditions)
    if setting.errors:
        draws = np.random.default_rng([seed, number, _ERRORS])
        known, bias = with_errors(known, setting.errors, draws)
    further = _met(reading, seed, number, setting)
    failures = further.pop("failures", False)
    policy = POLICIES[setting.policy](known, bags, **dict(setting.parameters))
    done = [
        execute(
            tree,
            bags,
            policy,
            BagConditions(
                known=known,
                bias=bias if setting.lasting else None,
                buffer=setting.buffer,
                delays=_delays(tree, setting, [seed, number, _ORDERS, order]),
                failures=failures,
                single_requests=setting.single_requests,
            ),
            **further,
        )
        for order in range(setting.orders)
    ]
    return done, policy.expected_throughput


def _delays(tree: Tree, setting: PolicySetting, source: list[int]) -> NDArray[np.float64] | None:
    """Return when each node asks first, if the order is drawn."""
    if setting.orders == 1:
        return None
    return first_request_delays(tree, np.random.default_rng(source))
