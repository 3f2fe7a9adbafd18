"""What section 7 of the paper says, beside what its campaign gives on SimGrid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.platforms.sites import SUBSETS
from simplugin.taskgraphs.metrics import unfairness
from simplugin.taskgraphs.section7_judgements import bends, opposite_trends
from simplugin.taskgraphs.section7_statements import STATEMENTS
from simplugin.taskgraphs.section7_tables import (
    MUS,
    PART,
    QUICK_MUS,
    mu_table,
    scope,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.taskgraphs.section7_tables import Scope
    from simplugin.workloads.graph_generators import Family

# Numbers, and orders of what is close, that a few runs cannot confirm or contradict.
_NEED_ALL = {
    "random": (
        *("R4", "R6", "R7", "R8", "R9", "R10", "R12", "R13", "R14", "R15", "R16", "R18"),
        *("R19", "R20"),
    ),
    "fft": ("F2", "F3", "F4", "F5", "F6", "F8", "M2", "M3", "FC2", "FC3", "FC4"),
    "strassen": ("T2", "T3", "T4", "M4", "M5", "TC2", "TC3", "TC4"),
}
# Statements that compare with random graphs: on a part of the runs, since others need none of them.
_BESIDE_RANDOM = ("F1", "F7", "F10", "T5")
# By how much the best mu of a sweep may miss the paper's.
_NEAR = 0.1


def family_claims(family: Family, *, quick: bool) -> list[Claim]:
    """Judge the statements about a family of graphs."""
    claims = []
    for each in STATEMENTS[family]:
        compared = each.key in _BESIDE_RANDOM
        if quick and (compared or each.key in _NEED_ALL[family]):
            continue
        chosen = PART if compared else scope(family, quick=quick)
        found = table(family, chosen)
        measured, agrees = each.judge(found, table("random", chosen) if compared else found)
        claims.append(
            Claim(
                f"{family}: {each.claim}",
                each.paper,
                measured,
                agrees,
                each.why + _of_runs(chosen, quick=quick),
                each.source,
                provenance=chosen.provenance(),
            )
        )
    return claims


def _of_runs(chosen: Scope, *, quick: bool) -> str:
    """Say how few runs a quick row has."""
    return f"; {chosen.runs} runs of each number of graphs" if quick else ""


def weight_claims(quick: bool) -> list[Claim]:
    """Judge what is said of the weight of equal shares."""
    return _figure2_claims(quick) + ([] if quick else _width_claims())


def _figure2_claims(quick: bool) -> list[Claim]:
    """Judge what Figure 2 is said to show."""
    chosen = scope("random", quick=quick)
    found = mu_table("wps_work", "random", chosen, quick=quick)
    mus = np.array(QUICK_MUS if quick else MUS)
    unfair, length = found.unfairness.mean(axis=1), found.makespan.mean(axis=1)
    further: dict[str, Any] = {
        "source": "section 7, Figure 2",
        "provenance": chosen.provenance(),
    }
    words, opposite = opposite_trends(mus, found)
    runs = _of_runs(chosen, quick=quick)
    gains, costs = _slopes(mus, unfair), _slopes(mus, length)
    return [
        Claim(
            "random: with mu, unfairness decreases and the average makespan increases",
            "opposite trends",
            words,
            opposite,
            "WPS-work; agrees if, at each number of graphs, equal shares are fairer and longer than"
            " proportional ones, and no step of mu raises unfairness or lowers the makespan by more"
            f" than 5 % of its greatest value there{runs}",
            **further,
        ),
        Claim(
            "random: from mu = 0.7 on there is little gain in unfairness while makespans increase"
            " more quickly",
            "less gain, quicker increase",
            f"unfairness {gains[0]:+.2f}, then {gains[1]:+.2f} a unit of mu;"
            f" makespan {costs[0]:+.0f} s, then {costs[1]:+.0f} s",
            bends(gains, _slopes(mus, length / length[0])),
            "WPS-work; slopes from 0 to 0.7 and from 0.7 to 1. Agrees if there is a gain until"
            " there, beyond it is less by a factor of 1.2 at least, and makespans grow 1.2 times as"
            f" quickly at least, and by 5 % of the first one a unit{runs}",
            **further,
        ),
    ]


def _slopes(
    mus: np.ndarray[Any, Any], values: np.ndarray[Any, Any], bend: float = 0.7
) -> tuple[float, float]:
    """Return by how much values rise a unit of mu until a bend and after it."""
    at = int(np.argmin(np.abs(mus - bend)))
    return (
        float((values[at] - values[0]) / (mus[at] - mus[0])),
        float((values[-1] - values[at]) / (mus[-1] - mus[at])),
    )


def _width_claims() -> list[Claim]:
    """Judge the values of mu that the paper takes for WPS-width."""
    claims = []
    told: tuple[tuple[Family, float], ...] = (("random", 0.5), ("fft", 0.3))
    for family, value in told:
        unfair = mu_table("wps_width", family, PART).unfairness.mean(axis=1)
        best = MUS[int(np.argmin(unfair))]
        claims.append(
            Claim(
                f"{family}: the mu of WPS-width with which graphs are treated most fairly",
                value,
                best,
                abs(best - value) <= _NEAR + 1e-9,
                "the paper takes this value; here that of least mean unfairness, "
                + ", ".join(f"{mu:g}: {each:.2f}" for mu, each in zip(MUS, unfair, strict=True))
                + "; agrees within 0.1",
                "section 7",
                provenance=PART.provenance(),
            )
        )
    return claims


def example_claims(_quick: bool) -> list[Claim]:
    """Check the numbers of section 2 and the example of section 7."""
    sites = [SUBSETS[name].site() for name in ("lille", "nancy", "rennes", "sophia")]
    processors = ", ".join(str(site.n_processors) for site in sites)
    spread = ", ".join(
        f"{100 * (np.max(site.speed) / np.min(site.speed) - 1):.1f} %" for site in sites
    )
    example = unfairness(np.array([1.0] * 8 + [0.2] * 2))
    return [
        Claim(
            "Lille, Nancy, Rennes and Sophia have processors",
            "99, 167, 229, 180",
            processors,
            processors == "99, 167, 229, 180",
            "sums of Table 1, whose rows the platforms are built from: it fails if a cluster is"
            " missing or has another size than printed",
            "section 2, Table 1",
        ),
        Claim(
            "the fastest processors of a site are faster than its slowest by",
            "20.2 %, 6.1 %, 36.8 %, 34.7 %",
            spread,
            spread == "20.2 %, 6.1 %, 36.8 %, 34.7 %",
            "from the speeds of Table 1: it fails if one of them is not as printed, since the text"
            " gives these spreads beside the table",
            "section 2, Table 1",
        ),
        Claim(
            "eight slowdowns of 1 and two of 0.2 have an unfairness of",
            2.56,
            round(example, 6),
            abs(example - 2.56) < 1e-9,
            "equation (5) as the campaign computes it: it fails under another one, such as a mean"
            " for the sum or squares. The formula printed beside it has 0.1 for 0.2, which would"
            " give 2.76",
            "section 7",
        ),
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "sites": example_claims,
}
