"""What policies lose where runs meet more than the plain model has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.campaign_summary import Ratios
from simplugin.bags.execution import execute
from simplugin.bags.instances import instance
from simplugin.bags.measurement import measure
from simplugin.bags.policies import policy_called
from simplugin.bags.realism import SETTINGS, arguments
from simplugin.bags.throughput import experimental, fair, slope
from simplugin.listings import Listing
from simplugin.optimum.steady_state import steady_state
from simplugin.platforms import ProfileUse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.bags.realism import Arguments
    from simplugin.listings import Cell
    from simplugin.platforms.trees import Tree

    Floats = NDArray[np.float64]

PLAIN, REFERENCE = "plain", "lp"
# How many times in a run those negotiate who do so again and again.
NEGOTIATIONS = 20


@dataclass(frozen=True)
class Contender:
    """A policy, and how it comes to its plan.

    Attributes
    ----------
    policy : str
        As `policy_called` takes it.
    plans : int
        How many times in a run.
    measures : bool
        Whether speeds and bandwidths were measured before, rather than read from the platform's
        description.
    """

    policy: str
    plans: int = 1
    measures: bool = True


POLICIES: Mapping[str, Contender] = {
    "lp": Contender("lp"),
    "lp, unmeasured": Contender("lp", measures=False),
    "data_centric": Contender("data_centric"),
    "data_centric, replanned": Contender("data_centric", NEGOTIATIONS),
    "cgbc": Contender("cgbc"),
    "fcfs": Contender("fcfs"),
    "prices": Contender("prices"),
    "prices, replanned": Contender("prices", NEGOTIATIONS),
    "lag": Contender("lag"),
}
# Draws of an instance beyond those of its tree and applications.
_MEETINGS = 6


@dataclass(frozen=True, eq=False)
class Loss:
    """What a policy loses in a setting, over some trees.

    Attributes
    ----------
    setting, policy : str
        Keys of `SETTINGS` and `POLICIES`.
    lost : Ratios
        Of its fair throughput in the plain setting to that in this one, by the formula of section
        6.1.1.
    by_slope : Ratios
        The same, between 10 % and 90 % of completions.
    behind : Ratios
        Of LP's fair throughput to its own, both in this setting and by the formula.
    """

    setting: str
    policy: str
    lost: Ratios
    by_slope: Ratios
    behind: Ratios


def losses(
    reading: str,
    seed: int,
    numbers: Sequence[int],
    policies: Iterable[str] = tuple(POLICIES),
    settings: Iterable[str] = tuple(SETTINGS),
) -> list[Loss]:
    """Return what each policy loses in each setting.

    All policies meet with the same. What they know was measured before: where speeds and
    bandwidths change, their means; otherwise, what tasks get in the setting itself.

    Parameters
    ----------
    reading : str
        A key of `simplugin.bags.instances.READINGS`.
    seed : int
        Of the instances.
    numbers : sequence of int
        Of the instances.
    policies, settings : iterable of str
        Keys of `POLICIES` and `SETTINGS`.
    """
    n_hosts = np.array([instance(reading, seed, number)[0].n_hosts for number in numbers])

    def found(setting: str, policy: str) -> Floats:
        each = [throughputs(reading, seed, number, policy, setting) for number in numbers]
        with np.errstate(divide="ignore"):
            return np.log(np.array(each, dtype=np.float64).T)

    def ratios(high: Floats, low: Floats) -> Ratios:
        with np.errstate(invalid="ignore"):
            return Ratios(high - low, n_hosts)

    return [
        Loss(
            setting,
            policy,
            ratios(found(PLAIN, policy)[0], found(setting, policy)[0]),
            ratios(found(PLAIN, policy)[1], found(setting, policy)[1]),
            ratios(found(setting, REFERENCE)[0], found(setting, policy)[0]),
        )
        for setting in settings
        for policy in policies
    ]


@cache
def throughputs(
    reading: str, seed: int, number: int, policy: str, setting: str
) -> tuple[float, float]:
    """Return a policy's fair throughput by the formula and by the slope [tasks/s].

    Parameters
    ----------
    reading : str
        A key of `simplugin.bags.instances.READINGS`.
    seed, number : int
        Of the instance.
    policy, setting : str
        Keys of `POLICIES` and `SETTINGS`.
    """
    tree, bags = instance(reading, seed, number)
    horizon = float(bags.count.max()) / steady_state(tree, bags).fair
    further = _further(reading, seed, number, setting, horizon)
    contender = POLICIES[policy]
    known = tree
    if contender.measures:
        known = _measured(reading, seed, number, PLAIN if _changes(further) else setting, horizon)
    period = {"period": horizon / contender.plans} if contender.plans > 1 else {}
    made = policy_called(contender.policy)(known, bags, **period)
    done = execute(tree, bags, made, known=known, **further)
    weight = bags.weight
    return fair(experimental(done), weight), fair(slope(done), weight)


def _further(reading: str, seed: int, number: int, setting: str, horizon: float) -> Arguments:
    """Return what a run on an instance is told of a setting."""
    tree, _ = instance(reading, seed, number)
    draws = np.random.default_rng([seed, number, _MEETINGS])
    return arguments(setting, tree, draws, horizon)


def _changes(further: Arguments) -> bool:
    """Whether the platform changes by itself."""
    return any(isinstance(element, ProfileUse) for element in further["platform"].elements)


@cache
def _measured(reading: str, seed: int, number: int, setting: str, horizon: float) -> Tree:
    """Return what is measured of an instance before a run."""
    tree, bags = instance(reading, seed, number)
    further = _further(reading, seed, number, setting, horizon)
    return measure(tree, bags, platform=further["platform"], options=further["options"])


def listing(found: Sequence[Loss], title: str) -> Listing:
    """Return losses as a table, a line a policy and setting.

    Parameters
    ----------
    found : sequence of Loss
        What to show.
    title : str
        Which reading, seed and trees.
    """
    columns = (
        ("setting", ""),
        ("policy", ""),
        ("loses", "%"),
        ("at most", "%"),
        ("loses, by slope", "%"),
        ("LP / policy", ""),
        ("worst", ""),
        ("trees apart", ""),
    )
    lines: list[tuple[Cell, ...]] = [
        (
            each.setting,
            each.policy,
            1 - 1 / each.lost.mean,
            1 - 1 / each.lost.worst,
            1 - 1 / each.by_slope.mean,
            each.behind.mean,
            each.behind.worst,
            each.lost.apart,
        )
        for each in found
    ]
    return Listing(
        title,
        columns,
        tuple(lines),
        "Fair throughput against the same policy's in the plain setting, and LP's against the"
        " policy's in the same setting; geometric means. Apart are trees where one is 0.",
    )
