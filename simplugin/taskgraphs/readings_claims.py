"""How the statements of section 7 fare under other readings of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.listings import Listing
from simplugin.taskgraphs.campaign import STRATEGIES, Setting
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.taskgraphs.section7 import averages, run
from simplugin.taskgraphs.section7_statements import STATEMENTS
from simplugin.taskgraphs.section7_tables import PART
from simplugin.workloads.graph_generators import FAMILIES, Family

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.listings import Cell
    from simplugin.taskgraphs.execution import Mode
    from simplugin.taskgraphs.section7 import Averages
    from simplugin.taskgraphs.section7_statements import Statement
    from simplugin.taskgraphs.section7_tables import Scope


@dataclass(frozen=True)
class Alternative:
    """Another way to read or to run the paper's campaign.

    Attributes
    ----------
    words : str
        What it does.
    readings : Readings
        Where it differs there.
    mode : {"online", "planned"}
        How schedules are executed.
    variant : str
        How graphs are drawn, see `Case`.
    families : tuple of str
        Of the graphs that tell about it.
    """

    words: str
    readings: Readings = PAPER
    mode: Mode = "online"
    variant: str = ""
    families: tuple[Family, ...] = ("random",)


# What the keys of statements about a family begin with.
_LETTERS: dict[Family, str] = {"random": "R", "fft": "F", "strassen": "T"}
_SHAPED: tuple[Family, ...] = ("random", "fft")
CHOSEN = Alternative("as chosen", families=FAMILIES)
ALTERNATIVES: Mapping[str, Alternative] = {
    "mean reference": Alternative(
        "the reference cluster has the mean speed of all processors",
        Readings(reference_speed="mean"),
        families=_SHAPED,
    ),
    "fastest reference": Alternative(
        "the reference cluster has the speed of the fastest cluster",
        Readings(reference_speed="fastest"),
        families=_SHAPED,
    ),
    "translated power": Alternative(
        "allocations are translated to processors of the same power",
        Readings(translation="power"),
        families=_SHAPED,
    ),
    "stop when full": Alternative(
        "SCRAP-MAX stops at the first level that is full", Readings(full_level="stop")
    ),
    "largest packing": Alternative(
        "packing takes the largest smaller allocation that it may", Readings(packing="largest")
    ),
    "no packing": Alternative("allocations are not packed", Readings(packing="off")),
    "first come": Alternative(
        "ready tasks are ordered by graph, not by bottom level", Readings(order="fifo")
    ),
    "fixed at start": Alternative(
        "tasks are mapped when they can start, without reservations", Readings(fixing="start")
    ),
    "own under share": Alternative(
        "own makespans are those under the share that a graph has among others",
        Readings(own="share"),
    ),
    "estimates together": Alternative(
        "estimates count contention of redistributions", Readings(redistribution="together")
    ),
    "planned": Alternative("schedules are made from estimates, then executed", mode="planned"),
    "one complexity": Alternative(
        "all graphs of a combination have the same scenario of costs", variant="one complexity"
    ),
    "uniform sizes": Alternative(
        "data sizes are drawn uniformly from 4M to 121M", variant="uniform sizes"
    ),
    "wide switches": Alternative(
        "switches pass 1 TB/s, so that nothing but hosts' own links holds data up",
        variant="wide switches",
        families=FAMILIES,
    ),
    "scaled additions": Alternative(
        "Strassen's additions take a d flop, as tasks of random graphs may",
        variant="scaled additions",
        families=("strassen",),
    ),
    "additions drawn": Alternative(
        "all of Strassen's tasks are drawn as those of random graphs",
        variant="additions drawn",
        families=("strassen",),
    ),
}


@cache
def alternative_table(alternative: Alternative, family: Family, chosen: Scope = PART) -> Averages:
    """Return the averages of the eight strategies under an alternative."""
    settings = [
        Setting(name, readings=alternative.readings, mode=alternative.mode) for name in STRATEGIES
    ]
    found = averages(run(chosen.cases(family, alternative.variant), settings))
    # Judged as the paper's strategies, whatever the readings.
    return replace(found, strategies=STRATEGIES)


def holding(alternative: Alternative, family: Family, chosen: Scope = PART) -> tuple[str, ...]:
    """Return the keys of the numbered statements about a family that hold under an alternative."""
    found = alternative_table(alternative, family, chosen)
    beside = alternative if "random" in alternative.families else CHOSEN
    random = alternative_table(beside, "random", chosen)
    return tuple(each.key for each in numbered(family) if each.judge(found, random)[1])


def numbered(family: Family) -> list[Statement]:
    """Return the statements that are about strategies among each other, R1 or F1 and so on."""
    letter = _LETTERS[family]
    return [each for each in STATEMENTS[family] if each.key[1:].isdigit() and each.key[0] == letter]


def alternatives(quick: bool) -> list[Claim]:
    """Return how many statements hold under each alternative, beside how many do as chosen."""
    if quick:
        return []
    return [_compared(name, each) for name, each in ALTERNATIVES.items()]


def _compared(name: str, alternative: Alternative) -> Claim:
    """Judge whether an alternative fits the text no better than what was chosen."""
    words, reasons, counts = [], [], []
    for family in alternative.families:
        total = len(numbered(family))
        here, there = (holding(each, family) for each in (alternative, CHOSEN))
        counts.append((len(here), len(there)))
        words.append(f"{family} {len(here)} of {total}, as chosen {len(there)}")
        lost, won = (sorted(set(a) - set(b)) for a, b in ((there, here), (here, there)))
        reasons.append(
            f"{family}: lost {', '.join(lost) or 'none'}, won {', '.join(won) or 'none'}"
        )
    return Claim(
        f"{name}: {alternative.words}; no more of the paper's statements hold then",
        "not said",
        "; ".join(words),
        sum(here for here, _ in counts) <= sum(there for _, there in counts),
        f"agrees if not more hold than as chosen; {'; '.join(reasons)}",
        "sections 2 to 7, what the text leaves open",
        provenance=PART.provenance(),
    )


def readings_listing(chosen: Scope = PART) -> Listing:
    """Return the table of all alternatives: statements that hold, and some ratios.

    Parameters
    ----------
    chosen : Scope
        Runs with random graphs to measure.
    """
    lines: list[tuple[Cell, ...]] = []
    for name, each in {"as chosen": CHOSEN, **ALTERNATIVES}.items():
        held = [
            len(holding(each, family, chosen)) if family in each.families else None
            for family in FAMILIES
        ]
        ratios: list[Cell] = [None] * 6
        if "random" in each.families:
            found = alternative_table(each, "random", chosen)
            ratios = [
                float(np.sum(found.unfair(strategy)) / np.sum(found.unfair("s")))
                for strategy in ("es", "wps_width", "ps_work")
            ]
            ratios += [float(np.mean(found.length(name))) for name in ("s", "es", "wps_width")]
        lines.append((name, *held, *ratios))
    totals = [len(numbered(family)) for family in FAMILIES]
    return Listing(
        "Readings",
        (
            ("reading", ""), (f"of {totals[0]} random", ""), (f"of {totals[1]} FFT", ""),
            (f"of {totals[2]} Strassen", ""),
            ("U ES/S", ""), ("U WPS-width/S", ""), ("U PS-work/S", ""),
            ("S", ""), ("ES", ""), ("WPS-width", ""),
        ),
        tuple(lines),
        "how many statements of section 7 hold; unfairness as part of that of S; mean relative"
        " makespans",
    )  # fmt: skip


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"readings": alternatives}
