"""What the paper says of DATA-CENTRIC's failures, by the order in which it takes nodes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.campaign import Setting, measured
from simplugin.bags.campaign_summary import DATA_CENTRIC_WORST, ratios
from simplugin.bags.instances import SEEDS, TREES
from simplugin.claims import Claim
from simplugin.elementary import exp, log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simplugin.bags.campaign_summary import Ratios

SEED = SEEDS[0]
# Orders that trading can take, and readings.
_ORDERS = ("fast", "breadth", "slow")
_READINGS = ("A", "C")
# From which ratio of throughputs on DATA-CENTRIC has failed, and what its rates must show then.
FAILED, SHOWN = 1.5, 1.2
# On which share of failures they must show it.
_ALIKE = 0.8


def failures(quick: bool) -> list[Claim]:
    """Return how far DATA-CENTRIC is behind LP by the order of nodes; not in the quick run."""
    if quick:
        return []
    claims = []
    for reading in _READINGS:
        executed, expected = (
            {order: _behind(reading, order, by) for order in _ORDERS} for by in ("fair", "theory")
        )
        claims += [_fails(reading, executed, expected), _in_the_rates(reading, executed, expected)]
    return claims


def _fails(reading: str, executed: Mapping[str, Ratios], expected: Mapping[str, Ratios]) -> Claim:
    """Return whether DATA-CENTRIC is far behind LP somewhere, in whatever order it takes nodes."""
    listed = "; ".join(
        f"{order} first {each.written()}, expected {expected[order].written()}"
        for order, each in executed.items()
    )
    least = DATA_CENTRIC_WORST.paper / 2
    failing = [order for order, each in executed.items() if _largest(each) >= least]
    return Claim(
        "DATA-CENTRIC fails badly on a few trees, in whatever order it takes nodes, reading"
        f" {reading}",
        f"worst {DATA_CENTRIC_WORST.paper:g}",
        ", ".join(f"{order} first {_largest(each):.3g}" for order, each in executed.items()),
        len(failing) == len(executed),
        "the largest LP over DATA-CENTRIC where both have a throughput, by order: fast links first,"
        f" breadth first, slow links first. Geometric mean and worst: {listed}. Agrees if all"
        f" orders reach {least:g}, half the paper's: {', '.join(failing) or 'none'} does. The paper"
        " does not say which order it takes",
        "section 6.2.2, Figure 6a",
        provenance=_provenance(reading),
    )


def _largest(found: Ratios) -> float:
    """Return the largest ratio where both throughputs are positive."""
    known = found.log[np.isfinite(found.log)]
    return exp(float(np.max(known))) if len(known) else math.nan


def _in_the_rates(
    reading: str, executed: Mapping[str, Ratios], expected: Mapping[str, Ratios]
) -> Claim:
    """Return whether failures are in the rates that were traded already."""
    ran = np.concatenate([each.log for each in executed.values()])
    hoped = np.concatenate([each.log for each in expected.values()])
    failed = ran > log(FAILED)
    shown = failed & (hoped > log(SHOWN))
    return Claim(
        f"Where DATA-CENTRIC fails, its expected throughput fails as well, reading {reading}",
        "the same behaviour",
        f"on {shown.sum()} of {failed.sum()}",
        bool(failed.any() and shown.sum() >= _ALIKE * failed.sum()),
        f"executions with LP over {FAILED:g} times as fast, and of these, ones where LP expects"
        f" over {SHOWN:g} times as much; all orders of the claim above. Agrees from {_ALIKE:.0%}"
        " on, if there is any",
        "section 6.2.2",
        provenance=_provenance(reading),
    )


def _behind(reading: str, order: str, by: str) -> Ratios:
    """Return LP over DATA-CENTRIC with an order."""
    parameters = () if order == "fast" else (("order", order),)
    high, low = (
        [measured(reading, SEED, number, each) for number in range(TREES)]
        for each in (Setting("lp"), Setting("data_centric", parameters))
    )
    return ratios(high, low, by=by)


def _provenance(reading: str) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {"seed": SEED, "reading": reading, "trees": f"0 to {TREES - 1}"}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"DATA-CENTRIC, by order": failures}
