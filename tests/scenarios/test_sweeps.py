"""Sweeps: which variations there are, in which order, and what is refused."""

import copy
import decimal
import itertools
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.inputs.messages import InvalidValueError
from simplugin.scenarios.ranges import Range
from simplugin.scenarios.sweeps import Axis, SweepError, variations_of

BASE = {
    "platform": {"generator": "star", "parameters": {"workers": 3}},
    "workload": {"kind": "bags", "applications": [{"count": 1}, {"count": 2}]},
    "scheduler": {"name": "a"},
}


def listed(sweep, variations=(), base=BASE):
    """What each position sets and has, one after the other."""
    found = variations_of(base, sweep, variations)
    points = [found.point(at) for at in range(found.total)]
    return [(found.varied(*point), found.scenario(point[1])) for point in points]


def refusal(sweep, variations=(), base=BASE):
    with pytest.raises(SweepError) as caught:
        variations_of(base, sweep, variations)
    problem = caught.value.problem
    return problem.path, problem.text, problem.remedy


@given(
    st.lists(st.integers(1, 4), max_size=4),
    st.lists(st.lists(st.integers(1, 3), max_size=2), max_size=3),
)
def test_positions_count_through_list_and_grid_the_last_key_fastest(grid, own_grids):
    # An independent expansion: nested loops over everything.
    def values(name, size):
        return [f"{name}:{at}" for at in range(size)]

    sweep = {f"g{at}": values(f"g{at}", size) for at, size in enumerate(grid)}
    variations = [
        {"which": number, "sweep": {f"o{at}": values(f"o{at}", n) for at, n in enumerate(sizes)}}
        for number, sizes in enumerate(own_grids)
    ]
    expected = []
    for variation in variations or [{"sweep": {}}]:
        axes = variation["sweep"] | sweep
        constant = {key: value for key, value in variation.items() if key != "sweep"}
        points = itertools.product(*axes.values())
        expected += [constant | dict(zip(axes, chosen, strict=True)) for chosen in points]
    found = listed(sweep, variations, {})
    assert [varied for varied, _ in found] == expected
    assert [document for _, document in found] == expected


def test_values_get_where_keys_say_and_the_scenario_stays_as_it_was():
    before = copy.deepcopy(BASE)
    sweep = {"workload.applications.1.count": [7]}
    sweep |= {"platform": {"parameters": {"workers": np.arange(5, 7)}}}
    sweep |= {"simulation.options.network_model": ("CM02",)}
    (varied, _), (_, second) = listed(sweep)
    first, _, last = sweep
    assert list(varied.items()) == [(first, 7), ("platform.parameters.workers", 5), (last, "CM02")]
    assert type(varied["platform.parameters.workers"]) is int
    assert second == before | {
        "workload": {"kind": "bags", "applications": [{"count": 1}, {"count": 7}]},
        "platform": {"generator": "star", "parameters": {"workers": 6}},
        "simulation": {"options": {"network_model": "CM02"}},
    }
    assert before == BASE


def test_names_with_dots_are_found_where_the_scenario_has_them():
    base = {"parents": {"n1.lille": "n0"}}
    document = listed({"parents": {"n1.lille": ["x"], "n2.lille": ["y"]}}, (), base)[0][1]
    assert document == {"parents": {"n1.lille": "x", "n2": {"lille": "y"}}}


def test_tables_are_values_too_and_are_told_key_by_key():
    tables = [{"name": "b", "parameters": {"mu": 0.5}}, {"name": "c"}]
    first, second = listed({"scheduler": tables})
    assert first[0] == {"scheduler.name": "b", "scheduler.parameters.mu": 0.5}
    assert (first[1]["scheduler"], second[1]["scheduler"]) == tuple(tables)


def test_variations_have_names_and_sweeps_of_their_own():
    quick = {"name": "quick", "scheduler.name": "b"}
    other = {"scheduler": {"name": "c"}, "sweep": {"scheduler.parameters.mu": [0.1, 0.2]}}
    found = listed({"simulation.seed": {"from": 0, "to": 1}}, [quick, other])
    assert [varied["variation"] for varied, _ in found] == ["quick"] * 2 + ["2"] * 4
    mus = [varied.get("scheduler.parameters.mu") for varied, _ in found]
    assert mus == [None, None, 0.1, 0.1, 0.2, 0.2]
    assert found[5][1]["scheduler"] == {"name": "c", "parameters": {"mu": 0.2}}


def test_a_billion_variations_need_no_memory_and_are_had_at_once():
    sweep = {
        "a": {"from": 1, "to": 10**9},
        "b": {"from": 0.0, "to": 1.0, "step": 1e-9},
        "c": {"from": 1.0, "to": 2.0, "count": 10**9, "scale": "log"},
    }
    tracemalloc.start()
    found = variations_of({}, sweep, ())
    last = found.varied(*found.point(found.total - 1))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200_000
    assert found.total == 10**9 * (10**9 + 1) * 10**9
    assert last == {"a": 10**9, "b": 1.0, "c": 2.0}
    with pytest.raises(IndexError, match=r"\d"):
        found.point(found.total)


def numbers_of(table):
    return Range.model_validate(table).numbers


STEPS = st.decimals("0.001", 5, places=3)


@given(st.decimals(-100, 100, places=3), STEPS | STEPS.map(lambda step: -step), st.integers(0, 200))
def test_decimal_steps_do_not_drift_and_reach_the_end(first, step, gaps):
    last = first + gaps * step
    numbers = numbers_of({"from": float(first), "to": float(last), "step": float(step)})
    # Python's own decimal arithmetic, which is exact here.
    assert list(numbers) == [float(first + at * step) for at in range(gaps + 1)]


def test_ranges_are_of_integers_where_they_can_be():
    def kinds(start, **table):
        values = list(numbers_of({"from": start} | table))
        return values, {type(each) for each in values}

    assert kinds(start=1, to=4) == ([1, 2, 3, 4], {int})
    assert kinds(start=9, to=1, step=-4) == ([9, 5, 1], {int})
    assert kinds(start=1, to=6, step=2) == ([1, 3, 5], {int})
    assert kinds(start=0, to=1, step=0.25) == ([0.0, 0.25, 0.5, 0.75, 1.0], {float})
    assert kinds(start=10, to=40, count=4) == ([10, 20, 30, 40], {int})
    assert kinds(start=0, to=1, count=3) == ([0.0, 0.5, 1.0], {float})
    assert kinds(start=1, to=1000, count=4, scale="log") == ([1, 10, 100, 1000], {int})
    assert kinds(start=16, to=81, count=5, scale="log") == ([16, 24, 36, 54, 81], {int})
    assert kinds(start=1, to=4, count=10, scale="log")[1] == {float}
    # The step is a third, rounded up: its last multiple is the end all the same.
    thirds = list(numbers_of({"from": 0.0, "to": 1.0, "step": 0.33333333333333337}))
    assert (len(thirds), thirds[-1]) == (4, 1.0)
    values = list(numbers_of({"from": 1e-3, "to": 7e4, "count": 9, "scale": "log"}))
    assert (values[0], values[-1]) == (1e-3, 7e4)
    np.testing.assert_allclose(values, np.geomspace(1e-3, 7e4, 9), rtol=1e-13)


WRONG_RANGES = [
    ({"from": 1}, "platform.seed.to' is missing"),
    ({"from": 1, "to": 5, "stepp": 2}, "seed.stepp'"),
    ({"from": 1, "to": float("nan"), "step": 1.0}, "to is nan"),
    ({"from": True, "to": "5"}, "from is True"),
    ({"from": 5, "to": 1}, "no steps of 1 lead from 5 to 1"),
    ({"from": 1, "to": 5, "step": 0}, "no steps of 0"),
    ({"from": 0.0, "to": 5}, "needs a step"),
    ({"from": 0, "to": 5, "step": 1, "count": 3}, "step excludes count"),
    ({"from": 0, "to": 5, "count": 1}, "count is 1"),
    ({"from": 5, "to": 5, "count": 3}, "from 5 to 5"),
    ({"from": 0, "to": 5, "count": 3, "scale": "log"}, "logarithmic"),
    ({"from": 1, "to": 5, "scale": "log"}, "scale goes with count"),
    ({"from": 0.0, "to": 1e300, "step": 1e-300}, "more numbers than can be counted"),
]


@pytest.mark.parametrize(("table", "words"), WRONG_RANGES)
def test_ranges_that_make_no_sense_are_refused(table, words):
    path, message, remedy = refusal({"platform.seed": table})
    assert path[:2] == ("sweep", "platform.seed")
    assert "sweep.platform.seed" in message
    assert words in message
    assert remedy


WRONG_SWEEPS = [
    ({"workload.applications.2.count": [1]}, "no '2'"),
    ({"workload.applications.-1.count": [1]}, "no '-1'"),
    ({"scheduler.name.first": [1]}, "scheduler.name is 'a'"),
    ({"platform..seed": [1]}, "empty part"),
    ({"platform.seed": range(0)}, "no values"),
    ({"platform.seed": "123"}, "sweep.platform.seed is '123'"),
    ({"platform": {}}, "sweep.platform is {}"),
    ({"platform.seed": [1], "platform": {"seed": [2]}}, "sets platform.seed again"),
    ({"scheduler.name": ["x"], "scheduler": [{"name": "y"}]}, "sets scheduler.name again"),
]


@pytest.mark.parametrize(("sweep", "words"), WRONG_SWEEPS)
def test_sweeps_that_lead_nowhere_are_refused(sweep, words):
    path, message, remedy = refusal(sweep)
    assert words in message
    assert remedy
    assert path[0] == "sweep"


def test_variations_that_make_no_sense_are_refused():
    twice = refusal({"scheduler.name": ["x"]}, [{"scheduler.name": "y"}])
    assert twice[0] == ("sweep", "scheduler.name")
    assert "variations.0.scheduler.name does already" in twice[2]
    own = refusal({}, [{"seed": 1, "sweep": {"seed": [2]}}])
    assert own[0] == ("variations", 0, "sweep", "seed")
    assert "have the name 'a'" in refusal({}, [{"name": "a"}, {"name": "a"}])[1]
    assert refusal({}, [{}, {"workload.applications.5": 1}])[0][:2] == ("variations", 1)


@pytest.mark.parametrize(("first", "last"), [(1e-300, 1e300), (1e300, 1e-300), (5e-324, 1.0)])
def test_logarithmic_ranges_beyond_what_a_ratio_can_be(first, last):
    numbers = numbers_of({"from": first, "to": last, "count": 7, "scale": "log"})
    with decimal.localcontext(decimal.Context(prec=40)):
        start, gap = Decimal(first).ln(), (Decimal(last).ln() - Decimal(first).ln()) / 6
        exact = [float((start + at * gap).exp()) for at in range(7)]
    assert [numbers[at] for at in range(7)] == pytest.approx(exact, rel=1e-12)


@given(st.lists(st.integers() | st.floats(allow_nan=False), min_size=1, unique=True))
def test_of_a_list_at_most_so_many_numbers_are_checked(values):
    axis = variations_of(BASE, {"x": values}, ()).grid[0]
    some = list(axis.checked_values())
    assert len(some) == min(len(values), 200)
    assert all(values[at] == value for at, value in some)
    long = Axis(("x",), [*range(1000), "a", *range(1000, 1000 + len(values)), "b"], ("x",))
    chosen = [value for _, value in long.checked_values()]
    assert len(chosen) == 202
    assert {"a", "b", 0, 999 + len(values)} <= set(chosen)
    numbers = [each for each in chosen if not isinstance(each, str)]
    gaps = {after - before for before, after in itertools.pairwise(numbers)}
    assert max(gaps) - min(gaps) <= 1


NAMED = {"workload": {"actors": [{"name": "a", "x": 0}, {"x": 0}, {"name": "b.c"}]}}


@pytest.mark.parametrize(
    ("key", "position"),
    [("workload.actors.a.x", 0), ("workload.actors.1.x", 1), ('workload.actors."b.c".x', 2)],
)
def test_tables_of_arrays_are_found_by_their_names(key, position):
    sweep = {"workload": {"actors": {"b.c": {"x": [5]}}}} if "b.c" in key else {key: [5]}
    [(varied, document)] = listed(sweep, base=NAMED)
    assert document["workload"]["actors"][position]["x"] == 5
    # The column is called as the key is written.
    assert varied == {key.replace('"', ""): 5}


def test_names_that_are_not_there_or_not_unique():
    assert (
        "positions are 0 to 2, its names a, b.c"
        in refusal({"workload.actors.d.x": [1]}, base=NAMED)[2]
    )
    twice = {"workload": {"actors": [{"name": "a"}, {"name": "a"}]}}
    assert "2 tables with the name 'a'" in refusal({"workload.actors.a.x": [1]}, base=twice)[1]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_one_run_is_selected_for_each_combination(sizes, data):
    sweep = {f"g{at}": [f"{at}:{step}" for step in range(n)] for at, n in enumerate(sizes)}
    variations = data.draw(
        st.sampled_from([(), ({"v": 1}, {"v": 2, "sweep": {"o": [7, 8]}}, {"v": 1})])
    )
    found = variations_of({}, sweep, variations)
    every = [found.varied(*found.point(at)) for at in range(found.total)]
    keys = sorted({key for varied in every for key in varied})
    each = data.draw(st.lists(st.sampled_from(keys), unique=True))
    others = [key for key in sweep if key not in each]
    where = {
        key: data.draw(st.sampled_from(sweep[key])) for key in others if data.draw(st.booleans())
    }
    # An independent choice: all runs with these values, and the first of whatever else is swept.
    usual = {key: values[0] for key, values in {**sweep, "o": [7, 8]}.items() if key not in each}
    wanted = usual | where
    expected = {}
    for at, varied in enumerate(every):
        if all(varied.get(key, value) == value for key, value in wanted.items()):
            expected.setdefault(tuple(varied.get(key) for key in each), at)
    assert found.selected(each, where) == set(expected.values())


WRONG_SELECTIONS = [
    ("platform.sed", {}, "did you mean 'platform.seed'"),
    ("scheduler.name", {"platform.seed": 7}, "no run has platform.seed = 7"),
    ("platform.seed", {}, "more than 10,000 runs"),
]


@pytest.mark.parametrize(("each", "where", "told"), WRONG_SELECTIONS)
def test_selections_of_nothing_or_too_much(each, where, told):
    count = 20_000 if "more" in told else 3
    sweep = {"platform.seed": {"from": 1, "to": count}, "scheduler.name": ["a", "b"]}
    with pytest.raises(InvalidValueError) as caught:
        variations_of(BASE, sweep, ()).selected([each], where)
    assert told in f"{caught.value.message}; {caught.value.remedy}"
