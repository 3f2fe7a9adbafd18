"""What section 6.2.2 of the paper says of policies one beside the other, not in numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.campaign_summary import (
    CGBC,
    CGBC_LARGE,
    FCFS,
    FCFS_LARGE,
    POLICIES,
    ratios,
)
from simplugin.bags.instances import TREES
from simplugin.claims import Claim
from simplugin.elementary import exp, log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simplugin.bags.campaign import Measurement

    Found = Mapping[str, Sequence[Measurement]]

# How many times as far behind is much, and is about the same.
_MUCH, _ABOUT = 1.2, 1.25
# What follows from the paper's means over all, and over the 60 large of 150 trees.
_FCFS_SMALL, _CGBC_SMALL = (
    exp((TREES * log(mean.paper) - 60 * log(large.paper)) / (TREES - 60))
    for mean, large in ((FCFS, FCFS_LARGE), (CGBC, CGBC_LARGE))
)


# Of each reading the geometric means over small and over large trees.
Sizes = dict[str, tuple[float, float]]


def rankings(found: Mapping[str, Found], provenance: Mapping[str, Any]) -> list[Claim]:
    """Return what section 6.2.2 says in words beside some readings, of which A decides.

    Parameters
    ----------
    found : mapping of str to mapping of str to sequence of Measurement
        By reading and policy, the same instances for all policies.
    provenance : mapping
        What determines the measurements.
    """
    turns, grains = (_sizes(found, policy) for policy in ("fcfs", "cgbc"))
    over = {
        name: (small / grains[name][0], large / grains[name][1])
        for name, (small, large) in turns.items()
    }
    return [
        _worse_when_large(turns, provenance),
        _better_when_large(over, provenance),
        _superior(found, provenance),
        _ranking(found, provenance),
    ]


def _sizes(found: Mapping[str, Found], policy: str) -> Sizes:
    """Return LP over a policy, on small and on large trees."""
    each = {name: ratios(of["lp"], of[policy]) for name, of in found.items()}
    return {name: (ratio.small, ratio.large) for name, ratio in each.items()}


def _written(sizes: Sizes) -> str:
    """Write what each reading gives."""
    return "; ".join(f"{name} {small:.3g}, {large:.3g}" for name, (small, large) in sizes.items())


def _worse_when_large(sizes: Sizes, provenance: Mapping[str, Any]) -> Claim:
    """Return whether first come, first served is worse on large trees."""
    fitting = [name for name, (small, large) in sizes.items() if large >= _MUCH * small]
    return Claim(
        "FCFS is much further behind LP on large trees than on small ones",
        f"{_FCFS_SMALL:.3g} small, {FCFS_LARGE.paper:.3g} large",
        "{:.3g} small, {:.3g} large".format(*sizes["A"]),
        "A" in fitting,
        f"geometric means, reading A; by reading: {_written(sizes)}. Agrees if that of large trees"
        f" is {_MUCH} times that of small ones: in {', '.join(fitting) or 'none'}. The paper's for"
        " small trees follows from its means of all and of large ones",
        "section 6.2.2",
        provenance=provenance,
    )


def _better_when_large(over: Sizes, provenance: Mapping[str, Any]) -> Claim:
    """Return whether CGBC is better than first come, first served on large trees only."""
    fitting = [
        name
        for name, (small, large) in over.items()
        if 1 / _ABOUT <= small <= _ABOUT and large >= _MUCH * max(small, 1)
    ]
    paper = _FCFS_SMALL / _CGBC_SMALL, FCFS_LARGE.paper / CGBC_LARGE.paper
    return Claim(
        "On small trees FCFS is about as good as CGBC, on large ones CGBC is much better",
        "{:.3g} small, {:.3g} large".format(*paper),
        "{:.3g} small, {:.3g} large".format(*over["A"]),
        "A" in fitting,
        f"CGBC over FCFS, geometric means, reading A; by reading: {_written(over)}. Agrees if it is"
        f" within a factor of {_ABOUT} on small trees, and on large ones {_MUCH} times that, and"
        f" {_MUCH} at least: in {', '.join(fitting) or 'none'}",
        "section 6.2.2",
        provenance=provenance,
    )


def _superior(found: Mapping[str, Found], provenance: Mapping[str, Any]) -> Claim:
    """Return on how many trees LP is ahead of each heuristic."""
    shares = {
        name: {policy: ratios(each["lp"], each[policy]).positive for policy in POLICIES[1:]}
        for name, each in found.items()
    }
    total = {name: float(np.mean(list(each.values()))) for name, each in shares.items()}
    written = "; ".join(
        f"{name}: " + ", ".join(f"{policy} {share:.0%}" for policy, share in each.items())
        for name, each in shares.items()
    )
    return Claim(
        "Most values are positive: LP is ahead of the other heuristics",
        "most",
        f"{total['A']:.1%}",
        min(shares["A"].values()) > 0.5,
        f"trees on which LP is ahead, by however little, reading A, all heuristics; each: {written}"
        ". Agrees if in A it is over half for each heuristic",
        "section 6.2.2, Figure 6",
        provenance=provenance,
    )


def _ranking(found: Mapping[str, Found], provenance: Mapping[str, Any]) -> Claim:
    """Return whether heuristics are as good as the paper says, one beside the other."""
    good, lines = [], []
    for reading, each in found.items():
        behind = {name: ratios(each["lp"], each[name]) for name in POLICIES[1:4]}
        means = {name: ratio.mean for name, ratio in behind.items()}
        next_best = max(means["data_centric"], means["cgbc"])
        if min(means.values()) >= 1 and means["fcfs"] >= _MUCH * next_best:
            good.append(reading)
        lines.append(
            f"{reading}: "
            + ", ".join(f"{name} {behind[name].written()}" for name in sorted(means, key=means.get))  # type: ignore[arg-type] # never None
        )
    return Claim(
        "LP is best, DATA-CENTRIC and CGBC come next, FCFS is much worse",
        "1.16, 1.16, 1.56",
        f"in {', '.join(good) or 'none'} of {', '.join(found)}",
        "A" in good,
        f"LP over each, geometric means over trees with a throughput: {'; '.join(lines)}. Agrees if"
        f" in reading A all are 1 at least, and that of FCFS {_MUCH} times those of DATA-CENTRIC"
        " and CGBC",
        "section 6.2.2",
        provenance=provenance,
    )
