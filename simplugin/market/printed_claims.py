"""How often the printed ISGBMAT fails on random markets, and which repairs that takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.listings import Listing
from simplugin.market.isgbmat import REPAIRED, REPAIRS
from simplugin.market.isgbmat_trials import (
    ENDS,
    EQUAL,
    INSTANCES,
    QUICK_INSTANCES,
    STAGES,
    drawn_markets,
    ends,
    trials,
    without,
)
from simplugin.market.trims import TRIMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.listings import Cell


def printed(quick: bool) -> list[Claim]:
    """Return how the printed loop ends, and with only the division by zero cured."""
    return [_ends(name, quick) for name in ("as printed", "0/0 cured")]


def _ends(stage: str, quick: bool) -> Claim:
    """Return how the loop ends at a stage of its repair."""
    found = trials(STAGES[stage], quick)
    how = ends(STAGES[stage], quick)
    with_price = sum(each.run.end == "ended" and np.isfinite(each.run.price) for each in found)
    return Claim(
        f"Fig. 2, {stage}, ends with a price and an assignment of all tasks",
        "it does",
        f"of {len(found)} runs, {how['ended']} end, {with_price} of them with a price;"
        f" {how['not a number']} come to 0/0, {how['overshoot']} pass m for ever,"
        f" {how['stuck']} stay empty for ever",
        with_price == len(found),
        "0/0: step 19 for F_i = 0. For ever: A and F never fall, and a round that is empty from its"
        " first pass changes nothing. Agrees if all end with a price",
        "Fig. 2",
        provenance=_provenance(quick),
    )


def result(quick: bool) -> list[Claim]:
    """Return what the loop puts out where it ends, with only the division by zero cured."""
    cured = trials(STAGES["0/0 cured"], quick)
    ended = [each for each in cured if each.run.end == "ended"]
    optimal = sum(each.is_optimal for each in ended)
    complete = sum(each.is_put_out for each in ended)
    clear = sum(each.clears for each in ended)
    means = trials(replace(REPAIRED, clearing_price=False), quick)
    trimmed = sum(each.clears for each in means)
    number = len(ended)
    return [
        Claim(
            "Where the loop ends, all tasks are assigned with the maximal benefit, A + F",
            "maximal",
            f"in {optimal} of {number} runs that end",
            optimal == number,
            "of Fig. 2 with only 0/0 cured. Agrees if all are, to 1e-9",
            "section 4.2",
            provenance=_provenance(quick),
        ),
        Claim(
            "Step 27 puts out an assignment of all tasks",
            "output p*, A",
            f"in {complete} of {number} runs that end",
            complete == number,
            "F of the last round has not been added to A, as rounds only end when F stays the same."
            " Agrees if A has all m tasks",
            "Fig. 2, step 27",
            provenance=_provenance(quick),
        ),
        Claim(
            "The last mean of retail prices is a price at which peers want what they get",
            "the market price p* that is put out",
            f"in {clear} of {number} runs that end; with all other repairs, in {trimmed} of"
            f" {len(means)}",
            clear == number and trimmed == len(means),
            "at a price between the values of the best task left over and of the last one sold,"
            " they do. Agrees if all last means are, to 1e-9",
            "Fig. 2, steps 21 and 27",
            provenance=_provenance(quick),
        ),
    ]


def passes(quick: bool) -> list[Claim]:
    """Return whether the loop takes more than m passes."""
    runs = trials(REPAIRED, quick)
    parts = np.array([each.run.passes / each.drawn.m for each in runs])
    cured = [each for each in trials(STAGES["0/0 cured"], quick) if each.run.end == "ended"]
    more = sum(each.run.passes > each.drawn.m for each in cured)
    return [
        Claim(
            "The loop is passed through at most m times",
            "the maximum value of S is equal to m",
            f"repaired, more often in {np.sum(parts > 1)} of {len(parts)} markets, at most"
            f" {parts.max():.3f} m times; with only 0/0 cured in {more} of {len(cured)} that end",
            bool(np.all(parts <= 1)) and more == 0,
            "passes that end a round take no task: 2 m - 1 is the bound. Agrees if none takes more"
            " than m",
            "section 4.3",
            provenance=_provenance(quick),
        )
    ]


def repairs(quick: bool) -> list[Claim]:
    """Return whether all repairs together suffice, and each is needed."""
    whole = trials(REPAIRED, quick)
    good = sum(each.is_put_out and each.clears for each in whole)
    needed = [without(repair.key, quick) for repair in REPAIRS]
    return [
        Claim(
            "Repaired, it puts out the maximum and a clearing price",
            "maximal",
            f"in {good} of {len(whole)} markets",
            good == len(whole),
            f"{len(REPAIRS)} repairs. Agrees if it does in all, to 1e-9",
            "Fig. 2",
            provenance=_provenance(quick),
        ),
        Claim(
            "Each of the repairs is needed",
            "not said",
            "; ".join(f"{each.key}: {each.failures} of {each.count} fail" for each in needed),
            all(each.failures for each in needed),
            "all repairs but one are made: "
            + "; ".join(f"without {each.key}, {each.words}" for each in needed)
            + ". Agrees if something fails without each",
            "Fig. 2",
            provenance=_provenance(quick),
        ),
    ]


def trims(quick: bool) -> list[Claim]:
    """Return what simpler trims of the last pass lose."""
    found = trials(REPAIRED, quick)
    large = np.array([each.drawn.m >= 10 * len(each.drawn.values) for each in found])
    lost = {
        name: np.array(
            [
                1
                - each.drawn.market.benefit(trim(each.run.taken, each.drawn.m)) / each.best.benefit
                for each in found
            ]
        )
        for name, trim in TRIMS.items()
    }
    measured = "; ".join(
        f"{name} {gaps.mean():.1%} on average ({gaps[large].mean():.1%} where m >= 10 n), median"
        f" {np.median(gaps):.1%}, 95th percentile {np.percentile(gaps, 95):.1%}, at worst"
        f" {gaps.max():.1%}"
        for name, gaps in lost.items()
    )
    return [
        Claim(
            "What is too many after the last pass cannot be taken back from anybody",
            "not said",
            measured,
            all(gaps.max() > EQUAL for gaps in lost.values()),
            "benefit lost if not the least valuable tasks go back, but those of the peers of the"
            " highest numbers or of all in proportion to A + F. Agrees if both lose",
            "Fig. 2, step 7",
            provenance=_provenance(quick),
        )
    ]


def repair_listing(quick: bool = False) -> Listing:
    """Return the repairs, each with what fails without it, as a table.

    Parameters
    ----------
    quick : bool
        100 markets instead of 1000.
    """
    lines = []
    for repair in REPAIRS:
        found = without(repair.key, quick)
        part = found.failures / found.count
        lines.append((repair.key, repair.step, repair.defect, repair.cure, part, found.words))
    return Listing(
        "Repairs of ISGBMAT",
        (
            ("Repair", ""),
            ("Step", ""),
            ("Defect", ""),
            ("Cure", ""),
            ("Fails without", "%"),
            ("How", ""),
        ),
        tuple(lines),
        f"All other repairs made; {len(drawn_markets(quick))} random markets, seeds from 0.",
    )


def stage_listing(quick: bool = False) -> Listing:
    """Return how the loop ends as more and more is repaired, as a table.

    Parameters
    ----------
    quick : bool
        100 markets instead of 1000.
    """
    lines: list[tuple[Cell, ...]] = []
    for name, chosen in STAGES.items():
        found, how = trials(chosen, quick), ends(chosen, quick)
        ended = [each for each in found if each.run.end == "ended"]
        put_out = sum(each.is_put_out for each in ended)
        clears = sum(each.is_put_out and each.clears for each in ended)
        lines.append((name, *(how[end] for end in ENDS), put_out, clears))
    columns = ("Ends", "0/0", "Passes m", "Stays empty", "Maximum put out", "With clearing price")
    return Listing(
        "How ISGBMAT ends",
        (("Fig. 2", ""), *((name, "") for name in columns)),
        tuple(lines),
        f"Runs on {len(drawn_markets(quick))} random markets, seeds from 0.",
    )


def _provenance(quick: bool) -> dict[str, str]:
    """Return what determines a measurement on random markets."""
    return {
        "seeds": f"0-{(QUICK_INSTANCES if quick else INSTANCES) - 1}",
        "alpha": "1e-4 to 0.5, log-uniform",
        "N_max": "none, lambda ceil(m / n) or any, of a third of the markets each",
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "as printed": printed,
    "results": result,
    "at most m passes": passes,
    "repairs": repairs,
    "trims": trims,
}
