"""Whether CPA's published figures come out: those of `simplugin.taskgraphs.published`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from simplugin.claims import Claim
from simplugin.listings import Listing
from simplugin.taskgraphs.published import AREA, MAKESPAN, PEAK, Believed, believed_sizes

if TYPE_CHECKING:
    from collections.abc import Callable

_SOURCE = "biCPA, output for its example daggen_ptg.dot"


def _printed(value: float) -> str:
    """Return a makespan or an area with the decimals that are published."""
    return f"{value:.3f}"


def published(_quick: bool) -> list[Claim]:
    """Compare CPA, and CPA that believes in smaller clusters, with what is published."""
    rows = list(believed_sizes())
    cpa = rows[-1]
    what = {"graph": "daggen_ptg", "hosts": cpa.processors}
    why = "CPA, its schedule executed on SimGrid; agrees to the third decimal"
    return [
        Claim(
            "CPA's makespan of the example of ten tasks on 20 hosts [s]",
            _printed(MAKESPAN),
            _printed(cpa.makespan),
            _printed(cpa.makespan) == _printed(MAKESPAN),
            why,
            _SOURCE,
            provenance=what,
        ),
        Claim(
            "CPA's area there [processor s]",
            _printed(AREA),
            _printed(cpa.area),
            _printed(cpa.area) == _printed(AREA),
            why,
            _SOURCE,
            provenance=what,
        ),
        Claim(
            "processors that run a task at all there",
            PEAK,
            cpa.peak,
            cpa.peak == PEAK,
            "CPA, as biCPA counts",
            _SOURCE,
            provenance=what,
        ),
        _traded(rows),
    ]


def _traded(rows: list[Believed]) -> Claim:
    """Judge whether smaller clusters that CPA believes in trade makespan for area."""
    areas = [row.area for row in rows]
    return Claim(
        f"CPA that believes in 1 to {len(rows)} processors: area grows, and 1 takes longest",
        "area is traded for makespan",
        f"{rows[0].area:.3f} to {rows[-1].area:.3f} processor s,"
        f" {rows[0].makespan:.3f} to {rows[-1].makespan:.3f} s",
        all(one <= other for one, other in pairwise(areas))
        and rows[0].makespan == max(row.makespan for row in rows),
        "agrees if the area never falls with the size believed in, and a size of 1 takes longest;"
        " makespan [s] and area [processor s]: "
        + "; ".join(
            f"{row.processors}: {_printed(row.makespan)}, {_printed(row.area)}" for row in rows
        ),
        _SOURCE,
        provenance={"graph": "daggen_ptg", "hosts": rows[-1].processors},
    )


def believed_listing() -> Listing:
    """Return the table of the twenty sizes of cluster that CPA believes in."""
    return Listing(
        "CPA by the size of cluster that it believes in",
        (("believed", ""), ("makespan", "s"), ("area", "s"), ("peak", "")),
        tuple((row.processors, row.makespan, row.area, row.peak) for row in believed_sizes()),
        "one graph of ten tasks on 20 hosts, simulated; peak: processors that run a task at all",
    )


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"published figures": published}
