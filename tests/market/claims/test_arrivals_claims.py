"""What is said of bundles over time: measured as said, and judged so that it can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.claims import Claim
from simplugin.market import arrivals_claims
from simplugin.market.arrivals_claims import FIGURES, LIFETIMES, PARTS, QUICK_PIECES
from simplugin.market.lcg_arrivals import Arrivals, arrivals
from simplugin.market.model import Terms, completion_times
from simplugin.market.section5_sites import chosen_site
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundles import Bundle


@pytest.fixture(scope="module")
def claims() -> dict[str, list[Claim]]:
    return {name: part(True) for name, part in PARTS.items()}


def test_every_claim_says_what_it_stands_on(claims: dict[str, list[Claim]]) -> None:
    everything = [claim for part in claims.values() for claim in part]
    assert len({claim.claim for claim in everything}) == len(everything) == 11
    for claim in everything:
        assert "agrees" in claim.why
        assert claim.provenance
        assert claim.source
    disagreeing = [claim.claim for claim in everything if not claim.agrees]
    assert disagreeing == [claim.claim for claim in claims["real bundles"]]


def test_benefits_of_pieces(claims: dict[str, list[Claim]]) -> None:
    kept, reset = claims["cut bundles"]
    times = completion_times(chosen_site(), Bundle.of_class("computation"), 0.005)
    values = Terms().values(times)
    expected = []
    for pieces in QUICK_PIECES:
        counts = [len(part) for part in np.array_split(np.arange(1000), pieces)]
        best = [largest_benefit(values, count, count, 0.99).benefit for count in counts]
        expected.append(f"{pieces}: {sum(best):.0f} G$")
    assert reset.measured == ", ".join(expected)
    assert kept.optimum == pytest.approx(largest_benefit(values, 1000, 1000, 0.99).benefit)


def test_responses_are_those_of_the_runs(claims: dict[str, list[Claim]]) -> None:
    said = claims["lifetimes of counters"][1].measured
    mean = {
        name: arrivals(2, 0.5, LIFETIMES[name]).response.mean() / 3600
        for name in ("reset", "1 day", "kept")
    }
    assert said == "mean response " + ", ".join(f"{name} {h:.1f} h" for name, h in mean.items())


def fake(**changes: float) -> Arrivals:
    ones = np.ones(149)
    made = Arrivals(
        changes.get("benefit", 1.0),
        ones * changes.get("response", 1.0),
        ones * changes.get("completion", 1.0),
        ones,
        changes.get("fairness", 0.5),
        0.5,
    )
    return replace(made)


def run_with(monkeypatch: pytest.MonkeyPatch, by_counters: dict[object, Arrivals]) -> None:
    def found(
        seed: int, load: float, counters: object, negotiation: str = "optimum", sizes: object = None
    ) -> Arrivals:
        del seed, load
        return by_counters.get((negotiation, sizes), by_counters.get(counters, fake()))

    monkeypatch.setattr(arrivals_claims, "arrivals", found)


DAY = LIFETIMES["1 day"]
BETTER = {
    "reset": fake(benefit=3, response=4, fairness=0.2),
    DAY: fake(benefit=2, response=2, fairness=0.8),
    "kept": fake(benefit=1, response=3, fairness=0.7),
    ("proportional_share", None): fake(response=1),
}
JUDGED = {
    "as it is": ({}, [True, True, True, True]),
    "benefit": ({"kept": fake(benefit=2.5, response=3, fairness=0.7)}, [False, True, True, True]),
    "kept sooner": ({"kept": fake(benefit=1, response=1.5)}, [True, False, True, True]),
    "reset fairer": (
        {"reset": fake(benefit=3, response=4, fairness=0.75)},
        [True, True, False, True],
    ),
    "shares later": ({("proportional_share", None): fake(response=2.5)}, [True, True, True, False]),
}


@pytest.mark.parametrize("case", JUDGED)
def test_lifetimes_are_judged(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, agrees = JUDGED[case]
    run_with(monkeypatch, {**BETTER, **changes})
    assert [claim.agrees for claim in arrivals_claims.lifetimes(True)] == agrees


@pytest.mark.parametrize(
    ("completion", "drawn", "agrees"),
    [(1.0, 1.2, [True, True]), (1.0, 0.9, [True, False]), (1.001, 1.2, [False, True])],
)
def test_sizes_are_judged(
    completion: float, drawn: float, agrees: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {DAY: fake(completion=completion), ("optimum", 2): fake(completion=drawn)}
    run_with(monkeypatch, runs)
    assert [claim.agrees for claim in arrivals_claims.sizes(True)] == agrees


def test_loads_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arrivals_claims.loads(True) == []
    run_with(monkeypatch, BETTER)
    assert [claim.agrees for claim in arrivals_claims.loads(False)] == [True]
    run_with(monkeypatch, {**BETTER, "reset": fake(response=1)})
    assert [claim.agrees for claim in arrivals_claims.loads(False)] == [False]


def test_the_figure_shows_all_bundles() -> None:
    (figure,) = FIGURES["arrivals"](True)
    assert len(figure.series) == 4
    for hours, part in figure.series.values():
        assert np.all(np.diff(hours) >= 0)
        assert len(hours) == len(part) == 149
        assert part[-1] == 1
