"""What each algorithm of the paper's Table 1 comes to on the chosen site, beside what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.market.section5 import (
    ALGORITHMS,
    ALPHA,
    ORDERS,
    PAPER,
    RANDOM,
    RUNS,
    SETTINGS,
    best,
    rows,
)
from simplugin.market.section5_sites import SEED
from simplugin.market.section5_table_claims import QUICK_AVERAGED, SOURCE, provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simplugin.market.section5 import Row
    from simplugin.workloads.bundle_markets import Floats

# By how much figures may differ from the paper's, as a part of them.
_CLOSE = 0.1
# By how much parts of ISGBMAT's values may differ from the paper's.
_NEAR = {"benefit": 0.01, "completion": 0.05, "total": 0.05}


def figures(quick: bool) -> list[Claim]:
    """Return the three figures of each algorithm, class by class, beside the paper's."""
    runs = QUICK_AVERAGED if quick else RUNS
    found = {each.kind: rows(each, SEED, runs) for each in SETTINGS}
    most = {each.kind: best(each).benefit for each in SETTINGS}
    return [_row(name, {kind: table[name] for kind, table in found.items()}, most, runs)
            for name in ALGORITHMS]  # fmt: skip


def _row(name: str, ours: Mapping[str, Row], most: Mapping[str, float], runs: int) -> Claim:
    """Return a row of Table 1 beside ours of each class."""
    paper = PAPER[name]
    off = {
        kind: {metric: getattr(row, metric) / getattr(paper, metric) - 1 for metric in ORDERS}
        for kind, row in ours.items()
    }
    furthest = {kind: max(map(abs, each.values())) for kind, each in off.items()}
    nearest = min(furthest, key=furthest.__getitem__)
    close = [kind for kind, part in furthest.items() if part <= _CLOSE]
    said = ", ".join(f"{metric} {part:+.1%}" for metric, part in off[nearest].items())
    averaged = f"; mean of {runs} runs" if name in RANDOM else ""
    return Claim(
        f"{ALGORITHMS[name]}: global benefit, completion time and total time",
        _figures(paper),
        "; ".join(f"{kind} {_figures(row)}" for kind, row in ours.items()),
        bool(close),
        f"on the chosen site, which fits all that the paper tells of its own but is not it, alpha"
        f" {ALPHA:g}, no N_max{averaged}; benefit in G$ for a task an hour, times by Eq. (4)."
        f" Agrees if all three are within {_CLOSE:.0%} in some class (in"
        f" {', '.join(close) or 'none'}). Nearest are {nearest} tasks ({said}); the optimum is the"
        " largest benefit of these",
        SOURCE,
        optimum=most[nearest],
        provenance=provenance(1, seed=SEED, runs=runs, largest=dict(most)),
    )


def _figures(row: Row) -> str:
    """Return a row as the paper prints it."""
    return f"{row.benefit:.0f} G$, {_clock(row.completion)}, {_clock(row.total)}"


def _clock(seconds: float) -> str:
    """Return hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def ratios(quick: bool) -> list[Claim]:
    """Return each metric as a part of ISGBMAT's, beside the paper's."""
    runs = QUICK_AVERAGED if quick else RUNS
    found, shown = [], SETTINGS[0]
    for metric in ORDERS:
        least = _parts({"isgbmat": rows(shown, SEED, runs)["isgbmat"], "best": best(shown)}, metric)
        paper = _parts(PAPER, metric)
        ours = {each.kind: _parts(rows(each, SEED, runs), metric) for each in SETTINGS}
        off = {kind: float(np.max(np.abs(parts - paper))) for kind, parts in ours.items()}
        near = [kind for kind, most in off.items() if most <= _NEAR[metric]]
        found.append(
            Claim(
                f"{metric.capitalize()} of CM, Double Auction and Proportional Share, as parts of"
                " ISGBMAT's",
                _listed(paper),
                "; ".join(f"{kind} {_listed(parts)}" for kind, parts in ours.items()),
                bool(near),
                f"on the chosen site, which fits all that the paper tells but is not its own."
                f" Agrees if all three are within {_NEAR[metric]:g} in some class (in"
                f" {', '.join(near) or 'none'}). The slow peer's tasks of 800 s make it worse for"
                " computation-intensive tasks whenever a policy gives it its turn. The optimum is"
                f" the best that is possible for {shown.kind} tasks, in the same parts",
                SOURCE,
                optimum=float(least[0]),
                provenance=provenance(1, seed=SEED, runs=runs),
            )
        )
    return found


def _parts(table: Mapping[str, Row], metric: str) -> Floats:
    """Return a metric of all others over ISGBMAT's."""
    others = [row for name, row in table.items() if name != "isgbmat"]
    values = np.array([float(getattr(row, metric)) for row in others])
    return values / float(getattr(table["isgbmat"], metric))


def _listed(parts: Floats) -> str:
    """Return numbers as text."""
    return ", ".join(f"{part:.3f}" for part in parts)


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "Table 1, figures": figures,
    "Table 1, ratios": ratios,
}
