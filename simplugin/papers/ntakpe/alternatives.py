"""Other readings of the choices that the paper leaves open, and the statements that hold then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simplugin.papers.ntakpe.averages import MEASURES, Averages, averages
from simplugin.papers.ntakpe.campaign import PART, STRATEGIES, TOGETHER, Mode, Scope, SharingSetting
from simplugin.papers.statements import Quantity, Statement, judged, statements
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.workloads.graph_generators import FAMILIES, Family


class Alternative(NamedTuple):
    """Another way to read or to run the paper's campaign.

    Attributes
    ----------
    words : str
        Difference to the chosen reading.
    readings : ModelAssumptions
        Choices that the paper leaves open.
    mode : {"online", "planned"}
        Execution of schedules.
    variant : str
        Graphs or network, see `Case`.
    families : tuple of str
        The graphs that it concerns.
    """

    words: str
    readings: ModelAssumptions = PAPER
    mode: Mode = "online"
    variant: str = ""
    families: tuple[Family, ...] = ("random",)


_SHAPED: tuple[Family, ...] = ("random", "fft")
CHOSEN = Alternative("as chosen", families=FAMILIES)
ALTERNATIVES: Mapping[str, Alternative] = {
    "mean reference": Alternative(
        "reference speed is the mean of all processors",
        ModelAssumptions(reference_speed="mean"),
        families=_SHAPED,
    ),
    "fastest reference": Alternative(
        "reference speed is that of the fastest cluster",
        ModelAssumptions(reference_speed="fastest"),
        families=_SHAPED,
    ),
    "translated power": Alternative(
        "allocations translate to the same power",
        ModelAssumptions(translation="power"),
        families=_SHAPED,
    ),
    "stop when full": Alternative(
        "SCRAP-MAX stops at the first full level", ModelAssumptions(full_level="stop")
    ),
    "largest packing": Alternative(
        "packing takes the largest smaller allocation", ModelAssumptions(packing="largest")
    ),
    "no packing": Alternative("no packing", ModelAssumptions(packing="off")),
    "first come": Alternative("ready tasks in the order of graphs", ModelAssumptions(order="fifo")),
    "fixed at start": Alternative("no reservations", ModelAssumptions(fixing="start")),
    "own under share": Alternative(
        "own makespans under the share among others", ModelAssumptions(baseline="share")
    ),
    "estimates together": Alternative("estimates count contention", TOGETHER),
    "planned": Alternative("schedules follow plans", mode="planned"),
    "one complexity": Alternative(
        "one scenario of costs a combination", variant="one complexity", families=_SHAPED
    ),
    "mixed costs": Alternative(
        "the tasks of all FFT graphs have mixed costs", variant="mixed costs", families=("fft",)
    ),
    "uniform sizes": Alternative("data sizes uniform, 4M to 121M", variant="uniform sizes"),
    "wide switches": Alternative(
        "switches pass 1 TB/s", variant="wide switches", families=FAMILIES
    ),
    "scaled additions": Alternative(
        "Strassen's additions take a d flop", variant="scaled additions", families=("strassen",)
    ),
    "additions drawn": Alternative(
        "Strassen's tasks cost as random ones", variant="additions drawn", families=("strassen",)
    ),
}


def readings(_quick: bool) -> dict[str, Quantity]:
    """Measure how many more of the paper's statements hold under another reading, at most."""
    gains, words, moved = [], [], set()
    for name, alternative in ALTERNATIVES.items():
        parts, gained = [], 0
        for family in alternative.families:
            here, there = holding(alternative, family), holding(CHOSEN, family)
            gained += len(here) - len(there)
            moved |= here ^ there
            lost, won = (", ".join(sorted(each)) or "none" for each in (there - here, here - there))
            parts.append(
                f"{family} {len(here)}, as chosen {len(there)}, of {len(numbered(family))}"
                f" (lost {lost}, won {won})"
            )
        gains.append(gained)
        words.append(f"{name}, {alternative.words}: {', '.join(parts)}")
    stated = (each for each in statements("simplugin.papers.ntakpe") if each.id in moved)
    words += [f"{each.id}: {each.claim}" for each in stated]
    return {"gained": Quantity(max(gains), None, "; ".join(words), None, PART.provenance())}


def about(family: Family) -> list[Statement]:
    """Return the statements about a family of graphs."""
    found = statements("simplugin.papers.ntakpe")
    return [each for each in found if each.experiment == f"{family} graphs"]


def numbered(family: Family) -> list[Statement]:
    """Return the statements that compare strategies with each other: R1, F1, T1 and so on."""
    found = [each for each in about(family) if each.id[0] in "RFT"]
    return [each for each in found if each.id[1:].isdigit()]


def holding(alternative: Alternative, family: Family, scope: Scope = PART) -> set[str]:
    """Return the ids of the numbered statements that hold under an alternative."""
    beside_random = alternative if "random" in alternative.families else CHOSEN
    here, there = (
        _alternative_averages(each, name, scope)
        for each, name in ((alternative, family), (beside_random, "random"))
    )
    values = {key: measure(here, there)[0] for key, measure in MEASURES[family].items()}
    return {claim.id for claim in judged(numbered(family), values) if claim.agrees}


def _alternative_averages(alternative: Alternative, family: Family, scope: Scope) -> Averages:
    """Return the averages of the eight strategies under an alternative."""
    settings = {
        name: SharingSetting(name, readings=alternative.readings, mode=alternative.mode)
        for name in STRATEGIES
    }
    return averages(family, scope, settings, variant=alternative.variant)
