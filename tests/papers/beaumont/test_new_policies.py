import itertools
import math

import numpy as np
import pytest

from simplugin.bags.policies.price_negotiation import NegotiationParameters
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont import new_policies
from simplugin.papers.beaumont.comparisons import Loss, Ratios
from simplugin.papers.beaumont.instances import instance
from simplugin.simulation.simulate import DrawnOrder

SEED = 2008


def made(conditions, policy, lost, behind, undone=0):
    """Return a loss that is the same on two trees."""
    one, other = (Ratios(np.log([value] * 2), np.array([5, 10])) for value in (lost, behind))
    return Loss(conditions, policy, one, other, undone)


@pytest.fixture
def give(monkeypatch):
    """Replace losses by (lost, behind), by policy or by conditions and policy."""

    def given(values):
        def of(name, policy):
            return values.get(f"{name}: {policy}", values.get(policy, (1, 1)))

        def losses(numbers, policies, conditions):
            assert len(set(numbers)) == len(numbers)
            pairs = itertools.product(conditions, policies)
            return [made(*pair, *of(*pair)) for pair in pairs]

        monkeypatch.setattr(new_policies, "losses", losses)

    return given


def test_bars_are_those_of_means_and_worst_trees(fake, verdicts):
    def found(fair, *, quick=False):
        fake(fair)
        return new_policies.plain(quick=quick)

    def one(_reading, number, setting):
        return 1.0 if setting.policy == "lp" else 0.81 if number == 4 else 1.07

    few = found(one, quick=True)
    assert few["prices.worst"].value == pytest.approx(1 / 0.81)
    assert few["prices.mean"].value == pytest.approx((1 / 0.81 / 1.07**4) ** 0.2)
    assert few["prices.mean"].optimum == pytest.approx(1.0)
    # A few trees can refute a bar on the worst one, but not confirm it.
    assert set(verdicts("prices and lag", few).values()) <= {True, None}
    assert verdicts("prices and lag", few)["prices-worst"] is None
    assert all(verdicts("prices and lag", found(one)).values())
    for quick in (True, False):
        other = found(
            lambda _r, n, s: 1.0 if s.policy == "lp" else 0.79 if n == 4 else 1.04, quick=quick
        )
        agrees = verdicts("prices and lag", other)
        assert (agrees["prices-worst"], agrees["lag-worst"]) == (False, None if quick else True)
    # 0.123 stands for an execution that leaves tasks undone.
    undone = found(lambda _r, n, s: 0.12 if s.policy == "lp" else 0.123 if n == 4 else 0.13)
    assert set(verdicts("prices and lag", undone).values()) == {False}
    assert "1 executions left tasks undone" in undone["lag.mean"].note


def test_disturbances_are_measured_against_lp_under_the_same(fake, verdicts):
    plain = {"lp": 1.0, "prices": 1.02, "lag": 0.9}
    fake(lambda _r, _n, setting: plain[setting.policy] * (0.5 if setting.errors else 1))
    found = new_policies.errors(quick=True)
    assert found["prices.mean"].value == pytest.approx(1 / 1.02)
    assert found["lag.worst"].value == pytest.approx(1 / 0.9)
    # The full run has further disturbances, of which each may be the worst.
    assert set(verdicts("wrong measurements", found).values()) == {None}
    assert all(verdicts("wrong measurements", new_policies.errors(quick=False)).values())


def test_full_runs_compare_both_seeds_under_all_disturbances(fake, monkeypatch):
    monkeypatch.setattr(new_policies, "TREES", 2)

    def fair(_reading, number, setting):
        worse = bool(setting.lasting or setting.conditions == "one host slows") and number == 1
        return 0.5 if worse and setting.policy == "lag" else 1.0

    fake(fair)
    for experiment in (new_policies.errors, new_policies.changes):
        found = experiment(quick=False)
        assert found["lag.worst"].value == pytest.approx(2.0)
        assert found["lag.worst"].note.count("seed 4711") == 2


def test_ahead_of_the_rivals_in_other_readings(fake, verdicts):
    fake(lambda reading, _, s: 0.5 if (reading, s.policy) == ("C", "lag") else 1.0)
    found = new_policies.other_readings(quick=True)
    assert found["lag.over_rival"].value == pytest.approx(2)
    agrees = {"prices-other-readings": True, "lag-other-readings": False}
    assert verdicts("other readings", found) == agrees
    fake(lambda _r, n, s: (0.0 if s.policy == "prices" else 0.123) if n == 2 else 0.12)
    found = new_policies.other_readings(quick=True)
    assert {each.value for each in found.values()} == {math.inf}


def test_parts_that_are_worth_nothing_disagree(fake, verdicts):
    worth = {"filter_links": 0.98, "crowding": 0.9, "refuses": 0.9, "window": 1.0, "lead": 0.9}
    fake(lambda _r, _n, s: worth.get(next(iter(dict(s.parameters)), None), 1.0))
    found = new_policies.ablations(quick=True)
    assert verdicts("part by part", found) == {"prices-parts": True, "lag-parts": False}
    # A part is worth something if trees have no throughput without it.
    fake(lambda _r, number, s: float(not s.parameters or number != 2))
    found = new_policies.ablations(quick=True)
    assert {each.value for each in found.values()} == {math.inf}


def test_conditions_hold_ours_against_lp(give):
    give({"prices": (1.25, 0.99), "hosts fail: lag": (0.8, 1.16)})
    found = new_policies.conditions(new_policies.FAILING, quick=True)
    assert (found["prices"].value, found["lag"].value) == pytest.approx((0.99, 1.16))
    # Throughput over 1.25 is 20 % less.
    assert "prices 20.0% (at most 20.0%), lag -25.0% (at most -25.0%)" in found["prices"].note


@pytest.mark.parametrize(("lost", "undone"), [(1.0, 1), (math.inf, 0)])
def test_a_policy_that_fails_somewhere_is_infinitely_behind(monkeypatch, lost, undone):
    found = [made("x", "prices", lost, 0.9, undone), made("x", "lag", 1.0, 0.9)]
    monkeypatch.setattr(new_policies, "losses", lambda *_: found)
    values = new_policies.conditions(new_policies.FAILING, quick=False)
    assert (values["prices"].value, values["lag"].value) == (math.inf, pytest.approx(0.9))


def test_measured_rates_agree_where_lp_loses_less_with_them(give, verdicts):
    for known, unknown, agrees in ((1.1, 1.3, True), (1.3, 1.1, False), (math.inf, 1.1, False)):
        give({"lp": (known, 1.0), "lp, unmeasured": (unknown, 1.0)})
        found = new_policies.measured_rates(quick=True)
        assert verdicts("measured rates", found) == {"measured-rates": agrees}
    give({"lp": (1.25, 1.0), "lp, unmeasured": (2.0, 1.0)})
    assert new_policies.measured_rates(quick=True)["unmeasured"].value == pytest.approx(1.25 / 2)


@pytest.mark.parametrize(
    ("calm", "loaded", "agrees"), [(1.0, 0.8, True), (0.8, 0.85, False), (1.2, 1.1, False)]
)
def test_replanning_must_gain_more_than_where_nothing_changes(give, verdicts, calm, loaded, agrees):
    policies = ("data_centric", "prices")
    values = {f"plain: {policy}": (1.0, calm) for policy in policies}
    values |= {f"load comes: {policy}": (1.0, loaded) for policy in policies}
    values |= {f"others transfer: {policy}": (1.0, 0.5) for policy in policies}
    values |= {f"availability: {policy}": (1.0, 0.5) for policy in policies}
    give(values)
    found = new_policies.replanning(quick=False)
    assert set(verdicts("replanning", found).values()) == {agrees}
    assert f"{1 / loaded - 1:+.1%}" in found["prices"].note
    assert found["prices"].value == pytest.approx(min(1 / loaded, calm / loaded))
    # The full run has further changes.
    few = verdicts("replanning", new_policies.replanning(quick=True))
    assert set(few.values()) == {None if agrees else False}


def test_actors_negotiate_the_optimum():
    tree, bags = instance("B", SEED, 2)
    found = new_policies.negotiated(tree, bags, NegotiationParameters(rent=0.0))
    assert found.fair == pytest.approx(steady_state(tree, bags).fair, rel=1e-9)
    # Each round has a message down and one up for each link, of more than its headers.
    assert found.bytes_sent > found.rounds * 2 * (tree.n_hosts - 1) * 40
    assert found.duration > 0


def test_violations_are_counted(monkeypatch):
    found = {(6, "lag"): ["x"]}
    monkeypatch.setattr(new_policies, "violations_of", lambda _r, *run: found.get(run, []))
    for quick, trees in ((True, 3), (False, 20)):
        violations = new_policies.traces(quick=quick)["violations"]
        runs = trees * len(new_policies.POLICIES)
        assert (violations.value, violations.note) == (1, f"{runs} runs; lag, tree 6: x")


def test_the_port_is_shared_in_any_order():
    # A transfer whose receiver is not there yet cannot be suspended.
    with DrawnOrder(0):
        assert new_policies.violations_of("C", 6, "bcs") == []
