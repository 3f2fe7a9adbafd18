from simplugin.bags import (
    past_claims,
)

SEED = 2008


def test_bars_of_our_policies(fake):
    fake(lambda _r, number, setting: 1.0 if number or setting.policy == "lp" else 1 / 1.2)
    prices, lag = past_claims.own(SEED, quick=True)
    assert not prices.agrees
    assert lag.agrees
    fake(lambda _r, number, s: 1.0 if s.policy == "lp" else 0.81 if number == 4 else 1.04)
    prices, _ = past_claims.own(SEED, quick=True)
    assert prices.agrees
    assert prices.measured == "0.992, worst 1.23"
    fake(lambda _r, number, s: 1.0 if s.policy == "lp" else 0.79 if number == 4 else 1.04)
    assert not past_claims.own(SEED, quick=True)[0].agrees


def test_tasks_left_undone_disagree(fake):
    fake(lambda _r, number, s: 0.12 if s.policy == "lp" else 0.123 if number == 4 else 0.13)
    prices, lag = past_claims.own(SEED, quick=True)
    assert not prices.agrees
    assert not lag.agrees
    assert "1 executions left tasks undone" in lag.why


def test_disturbances_are_measured_against_lp_under_the_same(fake):
    def fair(_reading, _number, setting):
        return {"lp": 1.0, "prices": 1.02, "lag": 0.9}[setting.policy] * (
            0.5 if setting.errors else 1
        )

    fake(fair)
    prices, lag = past_claims.PARTS["prices and lag, errors"](True)
    assert prices.measured == "0.980, worst 0.98"
    assert lag.measured == "1.111, worst 1.11"
    assert prices.agrees
    assert lag.agrees
    assert "by -50.0% in the mean" in prices.why


def test_policies_ahead_of_those_of_the_paper_in_other_readings(fake):
    fake(lambda reading, _, s: 0.5 if (reading, s.policy) == ("C", "lag") else 1.0)
    prices, lag = past_claims.other_readings(quick=True)
    assert prices.agrees
    assert not lag.agrees
    assert lag.measured == "B 1.000, C 2.000, D 1.000"


def test_parts_that_are_worth_nothing_disagree(fake):
    worth = {"sift": 0.98, "crowding": 1.1, "refuses": 0.9, "window": 1.0}
    fake(lambda _r, _n, s: worth.get(next(iter(dict(s.parameters)), None), 1.0))
    claims = past_claims.PARTS["prices, part by part"](True)
    claims += past_claims.PARTS["lag, part by part"](True)
    by_words = {claim.claim.split(",")[0]: claim.agrees for claim in claims}
    assert by_words == {
        "Without the link filter": True,
        "Without the price of a crowded subtree": False,
        "Without refusals": True,
        "Without the bound on a child's stock": False,
        "Without the bound on leads": False,
    }


def test_a_part_is_worth_something_if_trees_freeze_without_it(fake):
    fake(lambda _r, number, s: float(not s.parameters or number != 2))
    assert all(claim.agrees for claim in past_claims.PARTS["lag, part by part"](True))


def test_being_ahead_needs_a_throughput_and_all_tasks(fake):
    fake(lambda _r, number, s: 0.0 if (number, s.policy) == (2, "prices") else 1.0)
    prices, lag = past_claims.other_readings(quick=True)
    assert not prices.agrees
    assert "(3 without)" in prices.why
    assert lag.agrees
    # 0.123 stands for an execution that leaves tasks undone.
    fake(lambda _r, number, s: 0.123 if (number, s.policy) == (2, "lag") else 0.12)
    prices, lag = past_claims.other_readings(quick=True)
    assert prices.agrees
    assert not lag.agrees
