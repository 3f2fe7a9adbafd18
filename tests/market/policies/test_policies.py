import importlib.util
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES, policy_called
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.counters import kept_parts, serve
from simplugin.workloads.random_markets import random_market

EXACT = ("optimum", "isgbmat", "double_auction_marginal", "bisection", "median", "secant")
ENDING = [name for name in POLICIES if name != "isgbmat_printed"]


@pytest.mark.parametrize("name", ENDING)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), own_rates=st.booleans())
def test_every_policy_places_all_tasks_under_the_caps(name, seed, own_rates):
    drawn = random_market(seed, most_tasks=300, own_rates=own_rates)
    amounts, price = POLICIES[name](*drawn.arguments)
    assert amounts.dtype == np.int64
    drawn.check(amounts)
    assert np.isfinite(price)
    assert price > 0
    best = largest_benefit(*drawn.arguments)
    benefit = drawn.benefit(amounts)
    assert benefit <= best.benefit * (1 + 1e-9)
    if name in EXACT:
        assert benefit == pytest.approx(best.benefit, rel=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_refuses_too_small_caps(name):
    with pytest.raises(InfeasibleError, match=r"1000 tasks cannot be placed: .*m > n N_max"):
        POLICIES[name](np.arange(1.0, 13.0), 1000, 83, 0.99)


def decisions():
    """Decisions of policies and negotiations in markets where many tasks are equal."""
    draws = np.random.default_rng(0)
    for _ in range(15):
        n_peers, m = draws.integers(2, 6), int(draws.integers(1, 30))
        q = float(draws.choice([0.5, 0.75, 0.9, 0.99]))
        first = np.full(n_peers, draws.choice([0.1, 0.75, 1.0, 3.0, 7.0]))
        values = first * q ** draws.integers(0, 4, n_peers)
        for name in ENDING:
            yield POLICIES[name](values, m, m, q)[0].tolist()
        for negotiation in NEGOTIATIONS.values():
            agreed = negotiate(negotiation, values, m, m, q)
            yield agreed.amounts.tolist(), agreed.rounds
        for counters in ("kept", 10.0):
            parts = kept_parts(counters, [0.0, 3.0])
            yield [best.amounts.tolist() for _, best in serve([first] * 2, [m, m], q, parts)]


def test_decisions_do_not_depend_on_last_bits_of_the_c_library(monkeypatch):
    # Other CPUs and libraries round transcendental functions otherwise.
    def other(function):
        def changed(x):
            exact = np.asarray(function(x), dtype=np.float64)
            bits = np.asarray(x, dtype=np.float64).view(np.int64)
            towards = np.where((bits ^ (bits >> 7)) % 3 == 0, np.inf, -np.inf)
            found = np.where(exact == np.round(exact), exact, np.nextafter(exact, towards))
            return found if np.ndim(x) else found.item()

        return changed

    expected = list(decisions())
    for module in (math, np):
        for name in ("exp", "expm1", "log"):
            monkeypatch.setattr(module, name, other(getattr(module, name)))
    assert math.log(3.0) != np.log.__closure__[0].cell_contents(3.0)
    assert list(decisions()) == expected


def test_a_policy_by_its_name(tmp_path, monkeypatch):
    assert policy_called("isgbmat") is POLICIES["isgbmat"]
    assert policy_called("simplugin.market.policies.shipped:optimum") is POLICIES["optimum"]
    with pytest.raises(WorkloadError, match="no policy is called 'isgb'; give 'module:function'"):
        policy_called("isgb")
    with pytest.raises(WorkloadError, match="cannot be loaded"):
        policy_called("simplugin.market.policies.shipped:nothing")
    (tmp_path / "all_to_one.py").write_text(
        "import numpy as np\n"
        "def first(values, m, caps, q):\n"
        "    return np.array([m] + [0] * (len(values) - 1)), 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.util.find_spec("all_to_one")
    assert policy_called("all_to_one:first")((1.0, 2.0), 5, 5, 0.9)[0].tolist() == [5, 0]
