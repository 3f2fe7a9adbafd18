"""What section 7 says of the averages of its figures 2 to 5, and what section 8 says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.taskgraphs import section7_judgements as judge

if TYPE_CHECKING:
    from simplugin.taskgraphs.section7 import Averages


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper about one family of graphs.

    Attributes
    ----------
    key : str
        A short name.
    claim : str
        The sentence.
    paper : str
        Its number, or its order.
    source : str
        Section, figure.
    judge : callable
        ``(averages of the family, those of random graphs) -> (measured, agrees)``.
    why : str
        By what it agrees or not, and what explains a difference.
    """

    key: str
    claim: str
    paper: str
    source: str
    judge: Callable[[Averages, Averages], tuple[str, bool]]
    why: str


_BEND = (
    "slopes a unit of mu, of unfairness and of relative makespan: from PS, whose mu is 0, to there,"
    " and from there to ES, whose mu is 1; agrees if it is fairer there, what is gained beyond is"
    " less by a factor of 1.2 at least, and makespans grow 1.2 times as quickly at least, and by"
    " 0.05 a unit"
)

RANDOM: tuple[Statement, ...] = (
    Statement(
        "R1", "five strategies are fairer than S",
        "ES, the three WPS, PS-width", "section 7, Figure 3", judge.fairer_than_s,
        "sums of mean unfairness over all numbers of graphs are compared",
    ),
    Statement(
        "R2", "PS-cp and PS-work are less fair than S",
        "less fair", "section 7, Figure 3", judge.less_fair_than_s,
        "sums of mean unfairness are compared; such shares starve small graphs",
    ),
    Statement(
        "R3", "WPS-cp and PS-width are fairer than S by about",
        "16 %", "section 7, Figure 3", judge.gains("wps_cp", "ps_width", told=0.16),
        "within 8 points",
    ),
    Statement(
        "R4", "ES and WPS-work are fairer than S by up to",
        "36 %", "section 7, Figure 3", judge.gains("es", "wps_work", told=0.36),
        "over all numbers of graphs, as the gain that it is compared with; within 8 points",
    ),
    Statement(
        "R5", "the fairest strategy is",
        "WPS-width", "section 7, Figure 3", judge.fairest, "mean over numbers of graphs",
    ),
    Statement(
        "R6", "WPS-width is fairer than S by a factor, consistently from 4 to 10 graphs",
        "2", "section 7, Figure 3", judge.twice_as_fair,
        "2 or more within a factor of 1.2 at each number of graphs, and the greatest of them less"
        " than 1.44 times the least",
    ),
    Statement(
        "R7", "the least fair strategy is",
        "PS-work", "section 8", judge.least_fair,
        "mean over numbers of graphs; PS-cp starves small graphs much as PS-work does",
    ),
    Statement(
        "R8", "the two strategies with the shortest makespans are",
        "PS-cp and PS-work", "section 7, Figure 3", judge.two_shortest, "mean relative makespan",
    ),
    Statement(
        "R9", "the strategy with the shortest makespans is",
        "PS-work", "section 8", judge.shortest, "mean relative makespan",
    ),
    Statement(
        "R10", "the relative makespan of S grows with the number of graphs",
        "grows", "section 7, Figure 3", judge.grows("s"), "by 2, 4, 6, 8, 10 graphs",
    ),
    Statement(
        "R11", "the strategy with the longest makespans is",
        "PS-width", "section 7, Figure 3", judge.longest, "mean relative makespan",
    ),
    Statement(
        "R12", "the relative makespan of PS-width over that of WPS-cp is",
        "almost 2", "section 7, Figure 3", judge.times_as_long("ps_width", "wps_cp", 1.9),
        "within a factor of 1.2",
    ),
    Statement(
        "R13", "WPS-work is closer to the shortest makespan than S by",
        "4 to 15 %", "section 7, Figure 3", judge.closer("wps_work", "s", 0.04, 0.15),
        "points of relative makespan by number of graphs, within 3 points of that range",
    ),
    Statement(
        "R14", "relative makespans of ES are longer than those of S",
        "longer", "section 7, Figure 3", judge.longer("es", "s"), "mean relative makespan",
    ),
    Statement(
        "R15", "WPS-width is longer than the shortest by",
        "16 %", "section 7", judge.above_shortest("wps_width", 0.16), "within 8 points",
    ),
    Statement(
        "R16", "WPS-width is fairer than the strategy with the shortest makespans by",
        "55 %", "section 7", judge.fairer_than_shortest, "within 8 points",
    ),
    Statement(
        "R17", "unfairness grows with the number of graphs",
        "grows", "section 7, Figures 2 and 3", judge.unfairness_grows, "under each strategy",
    ),
    Statement(
        "R18", "makespans of WPS-width are competitive with those of S",
        "competitive", "section 7", judge.no_longer("wps_width", "s"), "no more than 5 % longer",
    ),
    Statement(
        "R19", "PS-width and WPS-cp lead to similar fairness: mean unfairness is",
        "similar", "section 7, Figure 3", judge.similarly_fair("ps_width", "wps_cp"),
        "mean over numbers of graphs; within a factor of 1.2 of each other",
    ),
    Statement(
        "R20", "WPS-work achieves a fairness similar to that of ES: mean unfairness is",
        "similar", "section 7, Figure 3", judge.similarly_fair("wps_work", "es"),
        "mean over numbers of graphs; within a factor of 1.2 of each other",
    ),
    Statement(
        "M1", "a mu of 0.5 is appropriate for WPS-cp: beyond it there is less gain in fairness,"
        " and makespans grow more quickly",
        "appropriate", "section 7", judge.bends_at(0.5, "ps_cp", "wps_cp"), _BEND,
    ),
)  # fmt: skip


FFT: tuple[Statement, ...] = (
    Statement(
        "F1", "unfairness is lower than with random graphs",
        "lower", "section 7, Figure 4", judge.less_unfair(),
        "each strategy with itself; agrees if lower under three in four of them at least",
    ),
    Statement(
        "F2", "the second fairest strategy is",
        "PS-width", "section 7, Figure 4", judge.second_fairest, "mean over numbers of graphs",
    ),
    Statement(
        "F3", "PS-width leads to shorter schedules than WPS-width",
        "shorter", "section 7, Figure 4", judge.longer("wps_width", "ps_width"),
        "relative makespans of WPS-width against those of PS-width",
    ),
    Statement(
        "F4", "schedules of ES with 10 graphs are longer than the shortest, up to",
        "twice", "section 7, Figure 4", judge.at_most_twice, "within a factor of 1.2",
    ),
    Statement(
        "F5", "WPS-work is the third fairest up to 8 graphs",
        "third", "section 7, Figure 4", judge.third_fairest, "mean unfairness up to 8 graphs",
    ),
    Statement(
        "F6", "the fairest strategy is",
        "WPS-width", "section 7, Figure 4", judge.fairest,
        "mean over numbers of graphs; WPS-width and WPS-work are close, and contention of"
        " redistributions, which plans do not see, decides between them",
    ),
    Statement(
        "F7", "S is more competitive in makespan than with random graphs",
        "more competitive", "section 7, Figure 4", judge.more_competitive, "mean relative makespan",
    ),
    Statement(
        "F8", "with 10 graphs WPS-work becomes less fair, and PS-width is fairer",
        "fairer", "section 7, Figure 4", judge.rather_ps_width,
        "unfairness with 10 graphs, PS-width's against WPS-work's; up to 8 WPS-work has to be the"
        " fairer of the two, or among the three fairest of all and no longer with 10",
    ),
    Statement(
        "F9", "makespans of WPS-work are competitive with those of S, up to 8 graphs",
        "competitive", "section 7, Figure 4", judge.no_longer("wps_work", "s", up_to=8),
        "mean relative makespan up to 8 graphs; no more than 5 % longer",
    ),
    Statement(
        "F10", "strategies are ranked almost the same as with random graphs, by unfairness and by"
        " makespan",
        "almost", "section 7, Figure 4", judge.same_ranking,
        "rank correlations of means, 0.7 each at least",
    ),
    Statement(
        "M2", "a mu of 0.5 is appropriate for WPS-cp: beyond it there is less gain in fairness,"
        " and makespans grow more quickly",
        "appropriate", "section 7", judge.bends_at(0.5, "ps_cp", "wps_cp"), _BEND,
    ),
    Statement(
        "M3", "a mu of 0.7 is appropriate for WPS-work: beyond it there is less gain in fairness,"
        " and makespans grow more quickly",
        "appropriate", "section 7", judge.bends_at(0.7, "ps_work", "wps_work"), _BEND,
    ),
    Statement(
        "FC1", "WPS-width is fairer than S",
        "fairer", "section 7, conclusions", judge.fairer("wps_width", "s"), "mean unfairness",
    ),
    Statement(
        "FC2", "makespans of WPS-width are comparable to those of S",
        "comparable", "section 7, conclusions", judge.no_longer("wps_width", "s"),
        "no more than 5 % longer",
    ),
    Statement(
        "FC3", "the least fair strategy is",
        "PS-work", "section 7, conclusions", judge.least_fair, "mean over numbers of graphs",
    ),
    Statement(
        "FC4", "the strategy with the shortest makespans is",
        "PS-work", "section 7, conclusions", judge.shortest, "mean relative makespan",
    ),
)  # fmt: skip


STRASSEN: tuple[Statement, ...] = (
    Statement(
        "T1", "PS-width and WPS-width lead to exactly the schedules of ES",
        "exactly", "section 7", judge.same_schedules,
        "all graphs have the same width, so that it holds by construction. It would fail if shapes"
        " differed, if shares by width were rounded to other allocations than 1 / n gives, or if"
        " the same allocations were executed in two ways",
    ),
    Statement(
        "T2", "WPS-work is less fair than ES by around",
        "25 %", "section 7, Figure 5", judge.less_fair_than_es,
        "within 8 points; it depends on what an addition costs",
    ),
    Statement(
        "T3", "makespans of WPS-work are shorter than those of ES by around",
        "35 %", "section 7, Figure 5", judge.shorter_than_es, "within 8 points",
    ),
    Statement(
        "T4", "WPS-work is the best trade-off: strategies both fairer and shorter are",
        "none", "section 8", judge.best_trade,
        "means over numbers of graphs; agrees if there is none. Others may be as good a trade-off:"
        " those than which none is both fairer and shorter either are named",
    ),
    Statement(
        "T5", "unfairness is lower than with random graphs",
        "improved", "section 7, Figure 5", judge.less_unfair("ps_width", "wps_width"),
        "each strategy with itself, but for those by width, which the text leaves out; agrees if"
        " lower under three in four of them at least",
    ),
    Statement(
        "M4", "a mu of 0.5 is appropriate for WPS-cp: beyond it there is less gain in fairness,"
        " and makespans grow more quickly",
        "appropriate", "section 7", judge.bends_at(0.5, "ps_cp", "wps_cp"), _BEND,
    ),
    Statement(
        "M5", "a mu of 0.7 is appropriate for WPS-work: beyond it there is less gain in fairness,"
        " and makespans grow more quickly",
        "appropriate", "section 7", judge.bends_at(0.7, "ps_work", "wps_work"), _BEND,
    ),
    Statement(
        "TC1", "WPS-width is fairer than S",
        "fairer", "section 7, conclusions", judge.fairer("wps_width", "s"), "mean unfairness",
    ),
    Statement(
        "TC2", "makespans of WPS-width are comparable to those of S",
        "comparable", "section 7, conclusions", judge.no_longer("wps_width", "s"),
        "no more than 5 % longer",
    ),
    Statement(
        "TC3", "the least fair strategy is",
        "PS-work", "section 7, conclusions", judge.least_fair, "mean over numbers of graphs",
    ),
    Statement(
        "TC4", "the strategy with the shortest makespans is",
        "PS-work", "section 7, conclusions", judge.shortest, "mean relative makespan",
    ),
)  # fmt: skip

STATEMENTS: Mapping[str, tuple[Statement, ...]] = {
    "random": RANDOM,
    "fft": FFT,
    "strassen": STRASSEN,
}
