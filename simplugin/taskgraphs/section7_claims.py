"""What sections 4 to 7 of the paper say beside what its campaign gives on SimGrid."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.platforms.grid5000_subsets import SUBSETS
from simplugin.taskgraphs.campaign import COMBINATIONS, COUNTS, SEED, SITES, Setting
from simplugin.taskgraphs.metrics import unfairness
from simplugin.taskgraphs.section7 import averages, cases, run
from simplugin.taskgraphs.section7_statements import STATEMENTS
from simplugin.workloads.task_graph_combinations import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.taskgraphs.section7 import Averages
    from simplugin.workloads.task_graph_combinations import Family

# Of quick runs: numbers of graphs, combinations of each, sites.
QUICK = ((2, 6), 2, ("lille", "sophia"))
MUS = tuple(np.linspace(0.0, 1.0, 11).round(1).tolist())
_QUICK_MUS = (0.0, 0.5, 0.7, 1.0)
# Numbers in statements that a few runs cannot confirm or contradict.
_NEED_ALL = ("R3", "R4", "R6", "R10", "R12", "R13", "R15", "R16", "R17", "F4", "F5", "T2", "T3")


def scope(*, quick: bool) -> tuple[tuple[int, ...], int, tuple[str, ...]]:
    """Return the numbers of graphs, of combinations, and the sites."""
    return QUICK if quick else (COUNTS, COMBINATIONS, SITES)


@cache
def table(family: Family, *, quick: bool = False) -> Averages:
    """Return the averages of a family of graphs."""
    counts, combinations, sites = scope(quick=quick)
    return averages(run(cases(family, counts=counts, combinations=combinations, sites=sites)))


@cache
def mu_table(*, quick: bool = False) -> Averages:
    """Return the averages of WPS-work by mu over random graphs."""
    counts, combinations, sites = scope(quick=quick)
    settings = [Setting("wps_work", mu=mu) for mu in (_QUICK_MUS if quick else MUS)]
    chosen = cases("random", counts=counts, combinations=combinations, sites=sites)
    return averages(run(chosen, settings))


def _provenance(*, quick: bool) -> dict[str, object]:
    """Return what determines the measurements."""
    counts, combinations, sites = scope(quick=quick)
    return {
        "seed": SEED,
        "graphs": list(counts),
        "combinations": combinations,
        "sites": list(sites),
    }


def _family_claims(family: Family, quick: bool) -> list[Claim]:
    """Judge the statements about a family of graphs."""
    found = table(family, quick=quick)
    random = table("random", quick=quick) if family != "random" else found
    claims = []
    for each in STATEMENTS[family]:
        if quick and each.key in _NEED_ALL:
            continue
        measured, agrees = each.judge(found, random)
        claims.append(
            Claim(
                f"{family}: {each.claim}",
                each.paper,
                measured,
                agrees,
                each.why,
                each.source,
                provenance=_provenance(quick=quick),
            )
        )
    return claims


def _mu_claims(quick: bool) -> list[Claim]:
    """Judge what Figure 2 is said to show."""
    found = mu_table(quick=quick)
    mus = np.array(_QUICK_MUS if quick else MUS)
    unfair, length = found.unfairness.mean(axis=1), found.makespan.mean(axis=1)
    further: dict[str, Any] = {
        "source": "section 7, Figure 2",
        "provenance": _provenance(quick=quick),
    }
    slopes = [float(np.corrcoef(mus, values)[0, 1]) for values in (unfair, length)]
    before, after = mus <= 0.7, mus >= 0.7
    words = []
    for values in (unfair, length):
        steps = [
            (values[part][-1] - values[part][0]) / (mus[part][-1] - mus[part][0])
            for part in (before, after)
        ]
        words.append(steps)
    return [
        Claim(
            "random: with mu, unfairness decreases and the average makespan increases",
            "opposite trends",
            f"{unfair[0]:.2f} to {unfair[-1]:.2f}, {length[0]:.0f} s to {length[-1]:.0f} s",
            slopes[0] < 0 < slopes[1],
            "correlations with mu are negative and positive",
            **further,
        ),
        Claim(
            "random: from mu = 0.7 on there is little gain in unfairness while makespans increase"
            " more quickly",
            "less gain, quicker increase",
            f"unfairness {words[0][0]:+.2f}, then {words[0][1]:+.2f} a unit of mu;"
            f" makespan {words[1][0]:+.0f} s, then {words[1][1]:+.0f} s",
            words[0][1] > words[0][0] and words[1][1] > words[1][0],
            "slopes from 0 to 0.7 and from 0.7 to 1",
            **further,
        ),
    ]


def _site_claims(_quick: bool) -> list[Claim]:
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
            "sums of Table 1",
            "section 2, Table 1",
        ),
        Claim(
            "the fastest processors of a site are faster than its slowest by",
            "20.2 %, 6.1 %, 36.8 %, 34.7 %",
            spread,
            spread == "20.2 %, 6.1 %, 36.8 %, 34.7 %",
            "from the speeds of Table 1",
            "section 2, Table 1",
        ),
        Claim(
            "eight slowdowns of 1 and two of 0.2 have an unfairness of",
            2.56,
            round(example, 6),
            abs(example - 2.56) < 1e-9,
            "the formula printed beside it has 0.1 for 0.2, which would give 2.76",
            "section 7",
        ),
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **{f"sharing, {family} graphs": partial(_family_claims, family) for family in FAMILIES},
    "weights of equal shares": _mu_claims,
    "sites": _site_claims,
}
