"""What policies lose where runs meet more than the plain model has."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.campaign import Setting, measured
from simplugin.bags.campaign_summary import Ratios, ratios
from simplugin.bags.realism import SETTINGS
from simplugin.elementary import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.bags.campaign import Measurement

PLAIN, REFERENCE = "plain", "lp"
# Who negotiates only once, before the run.
_ONCE = (("period", math.inf),)

# Policies, and how they come to their plans, in the plain model.
POLICIES: Mapping[str, Setting] = {
    "lp": Setting("lp"),
    "lp, unmeasured": Setting("lp", measures=False),
    "data_centric": Setting("data_centric"),
    "data_centric, once": Setting("data_centric", _ONCE),
    "cgbc": Setting("cgbc"),
    "fcfs": Setting("fcfs"),
    "bcs": Setting("bcs"),
    "prices": Setting("prices"),
    "prices, once": Setting("prices", _ONCE),
    "lag": Setting("lag"),
}


@dataclass(frozen=True, eq=False)
class Loss:
    """What a policy loses in a setting, over some trees.

    Attributes
    ----------
    setting, policy : str
        Keys of `simplugin.bags.realism.SETTINGS` and of `POLICIES`.
    lost : Ratios
        Of its fair throughput in the plain setting to that in this one, by the formula of section
        6.1.1.
    by_slope : Ratios
        The same, between 10 % and 90 % of completions.
    behind : Ratios
        Of LP's fair throughput to its own, both in this setting and by the formula.
    undone : int
        On how many trees it left tasks undone in this setting.
    """

    setting: str
    policy: str
    lost: Ratios
    by_slope: Ratios
    behind: Ratios
    undone: int = 0

    @property
    def parts(self) -> NDArray[np.float64]:
        """What part of its throughput is lost on each tree, 1 where nothing is left.

        A minus is a gain. Trees on which it has none in the plain setting are left out.
        """
        return 1 - exp(-self.lost.log[self.lost.log > -np.inf])

    @property
    def starved(self) -> int:
        """On how many trees it has no throughput in this setting."""
        return int(np.sum(~(self.lost.log < np.inf)))

    def written(self) -> str:
        """Return what is lost, in the mean and at most, and where nothing is left, in words.

        The mean is geometric, as the paper's are, over trees with some throughput in both settings.
        """
        parts = self.parts
        if not len(parts):
            return "has nothing to lose"
        mean = f"{1 - 1 / self.lost.mean:.1%}" if np.any(parts < 1) else "all"
        words = f"{mean} (at most {np.max(parts):.1%})"
        if self.starved:
            words += f", nothing left on {self.starved} of {len(self.lost.log)} trees"
        return words + f", tasks undone on {self.undone} trees" * bool(self.undone)


def losses(
    reading: str,
    seed: int,
    numbers: Sequence[int],
    policies: Iterable[str] = tuple(POLICIES),
    settings: Iterable[str] = tuple(SETTINGS),
) -> list[Loss]:
    """Return what each policy loses in each setting.

    Parameters
    ----------
    reading : str
        A key of `simplugin.bags.instances.READINGS`.
    seed : int
        Of the instances.
    numbers : sequence of int
        Of the instances.
    policies : iterable of str
        Keys of `POLICIES`.
    settings : iterable of str
        Keys of `simplugin.bags.realism.SETTINGS`.
    """

    def found(setting: str, policy: str) -> list[Measurement]:
        chosen = replace(POLICIES[policy], conditions="" if setting == PLAIN else setting)
        return [measured(reading, seed, number, chosen) for number in numbers]

    return [
        Loss(
            setting,
            policy,
            ratios(found(PLAIN, policy), found(setting, policy)),
            ratios(found(PLAIN, policy), found(setting, policy), by="slope"),
            ratios(found(setting, REFERENCE), found(setting, policy)),
            sum(not each.all_done for each in found(setting, policy)),
        )
        for setting in settings
        for policy in policies
    ]
