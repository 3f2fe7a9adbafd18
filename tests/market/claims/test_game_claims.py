"""Claims on peers that answer each other's reports, from invented games and from a few real."""

from types import SimpleNamespace

import pytest

from simplugin.market import game_claims
from simplugin.market.mechanisms import uniform


@pytest.fixture
def played(monkeypatch):
    """Let all games end alike."""

    def given(end="settled", anarchy=1.0, revenue=9.0):
        one = SimpleNamespace(ended=end, anarchy=anarchy, revenue=revenue)
        monkeypatch.setattr(game_claims, "GAMES", 5)
        monkeypatch.setattr(game_claims, "game", lambda _seed: (one, 10.0))
        return game_claims.games(False)

    return given


@pytest.mark.parametrize(("end", "agrees"), [("settled", True), ("cycle", False), ("open", False)])
def test_games_are_judged_by_their_ends(played, end, agrees):
    assert played(end)[0].agrees == agrees


@pytest.mark.parametrize(
    ("anarchy", "revenue", "more", "little"),
    [
        (1.01, 9.0, True, True),
        (1.2, 9.0, False, False),
        (1.2, 5.0, True, False),
        (1.0, 10.0, False, True),
    ],
)
def test_what_games_cost_is_judged_by_income_and_benefit(played, anarchy, revenue, more, little):
    _, income, benefit = played(anarchy=anarchy, revenue=revenue)
    assert (income.agrees, benefit.agrees) == (more, little)
    assert f"income loses {1 - revenue / 10:.1%} on average" in income.measured
    assert f"{1 - 1 / anarchy:.1%} at most" in benefit.measured


def test_one_bad_game_is_enough(monkeypatch):
    monkeypatch.setattr(game_claims, "GAMES", 5)
    games = iter([1.0, 1.0, 1.06, 1.0, 1.0])
    found = [(SimpleNamespace(ended="settled", anarchy=x, revenue=9.0), 10.0) for x in games]
    left = iter(found)
    monkeypatch.setattr(game_claims, "game", lambda _seed: next(left))
    settle, income, benefit = game_claims.games(False)
    assert settle.agrees
    assert income.agrees
    assert not benefit.agrees
    assert "it costs more in 1 of 5 markets, 5.7% at most" in benefit.measured


def test_few_games_say_nothing_of_costs():
    # Their verdicts would be those of five markets; see the one below that is far from the optimum.
    assert [claim.claim for claim in game_claims.games(True)] == [
        "Peers that answer each other's reports under one price settle"
    ]


def test_quick_verdicts_are_those_of_more_games(monkeypatch):
    monkeypatch.setattr(game_claims, "GAMES", 25)
    many = {claim.claim: claim.agrees for claim in game_claims.games(False)}
    for claim in game_claims.games(True):
        assert many[claim.claim] == claim.agrees


def test_a_peer_that_reports_too_little_leaves_tasks_to_slow_ones():
    # The first peer is 16 times as fast as the one that gets its tasks.
    found, truth = game_claims.game(70)
    assert found.anarchy > 1.15
    honest = uniform(found.truth)
    worst = min(found.settlements, key=lambda each: found.truth.benefit(each.amounts))
    moved = worst.amounts - honest.amounts
    loser, winner = moved.argmin(), moved.argmax()
    assert found.truth.values[loser] > 10 * found.truth.values[winner]
    assert truth == pytest.approx(honest.revenue)
