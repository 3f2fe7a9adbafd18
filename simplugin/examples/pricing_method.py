"""A method of pricing: a market that moves requests cautiously towards their plans."""

from pathlib import Path

from simplugin.pricing import Market
from simplugin.scenarios import load_scenario, run_scenario


def cautious(*, caution: float = 0.4) -> Market:
    """Return the method that agents and price managers follow.

    It may also be a `Gradient`, with `Steps` of one's own, or an `AcceleratedMarket`.
    """
    return Market(relaxation=2 * (1 - caution))


def test_throughputs_are_those_of_the_fair_optimum():
    outcome = run_scenario(load_scenario(Path(__file__).with_suffix(".toml")))
    assert abs(outcome.row.gap) < 1e-4
    assert outcome.row["worst_error"] < 0.01
