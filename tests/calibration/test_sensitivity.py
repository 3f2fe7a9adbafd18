"""Sensitivity of metrics: known indices, intervals that cover, and real campaigns."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from simplugin import campaign
from simplugin.calibration.sensitivity import morris_estimates, sobol_estimates
from simplugin.campaigns import load_campaign, results
from simplugin.core.errors import ScenarioError, SimpluginError
from simplugin.scenarios.designs import Design, DesignTable

SPAN = {"low": -math.pi, "high": math.pi}
# Of Sobol's g function.
A = np.array([0.0, 1.0, 4.5, 9.0])
WEIGHTS = np.array([4.0, 2.0, 1.0])


def ishigami(x1, x2, x3):
    return np.sin(x1) + 7 * np.sin(x2) ** 2 + 0.1 * x3**4 * np.sin(x1)


def g(shares):
    return np.prod((abs(4 * shares - 2) + A) / (1 + A), axis=-1)


def known(name):
    """Return a function of shares, and its first-order and total indices."""
    if name == "ishigami":
        exact = [[0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]]
        return lambda u: ishigami(*np.moveaxis(np.pi * (2 * u - 1), -1, 0)), np.array(exact)
    if name == "linear":
        share = WEIGHTS**2 / sum(WEIGHTS**2)
        return lambda u: u @ WEIGHTS, np.array([share, share])
    # Sobol' (1993): V_i = 1 / 3 / (1 + a_i)^2, and V is the product of 1 + V_i, less 1.
    parts = 1 / 3 / (1 + A) ** 2
    total = np.prod(1 + parts) - 1
    return g, np.array([parts, parts * np.prod(1 + parts) / (1 + parts)]) / total


def designed(method, count, n_keys, **table):
    table = {"low": 0.0, "high": 1.0} | table
    return Design(
        method, count, {str(at): DesignTable(**{method: count}, **table) for at in range(n_keys)}
    )


@pytest.mark.parametrize("name", ["ishigami", "g", "linear"])
def test_indices_of_known_functions(name):
    function, exact = known(name)
    found = sobol_estimates(function(designed("sobol", 4096, exact.shape[1]).shares))
    np.testing.assert_allclose(found[..., 0], exact, atol=0.01)
    assert ((found[..., 1] <= exact) & (exact <= found[..., 2])).mean() >= 0.8


def test_intervals_of_sobol_indices_cover_in_repeated_draws():
    function, exact = known("g")
    rng, covered = np.random.default_rng(1), []
    for _ in range(100):
        points = np.repeat(rng.random((128, 1, 4)), 6, axis=1)
        points[:, 1] = rng.random((128, 4))
        for key in range(4):
            points[:, 2 + key, key] = points[:, 1, key]
        found = sobol_estimates(function(points))
        covered.append((found[..., 1] <= exact) & (exact <= found[..., 2]))
    assert np.mean(covered, axis=0).min() >= 0.85
    assert np.mean(covered) >= 0.9


def test_effects_of_trajectories():
    design = designed("morris", 50, 3)
    found = morris_estimates(design.shares @ WEIGHTS, design.reached())
    # A linear function has the same effect everywhere.
    np.testing.assert_allclose(found[:2], np.broadcast_to(WEIGHTS[:, None], (2, 3, 3)))
    np.testing.assert_allclose(found[2], 0, atol=1e-12)
    # Of whole numbers too, although values are rounded.
    whole = designed("morris", 20, 3, low=1, high=5, whole=True)
    values = np.reshape(np.transpose(whole.values()), whole.shares.shape)
    found = morris_estimates(values @ WEIGHTS, whole.reached())
    np.testing.assert_allclose(found[1, :, 0], 4 * WEIGHTS)
    # x1 * x2 on four levels: effects of x1 are the values of x2, uniform on the levels.
    product = designed("morris", 16_000, 2)
    found = morris_estimates(np.prod(product.shares, axis=-1), product.reached())
    levels = np.arange(4) / 3
    np.testing.assert_allclose(found[:, :, 0].T, [[0.5, 0.5, levels.std()]] * 2, atol=0.01)


def test_groups_seeds_and_incomplete_designs(tmp_path):
    def metrics(p):
        if p["fails"] and p["group"] == "b":
            raise ValueError("no such group")
        noise = p["seed"] * p["y"]
        lacks = p["group"] == "c" and p["x"] > 1
        return {"x": p["x"] + noise, "flat": 2.5, "odd": math.nan if lacks else p["y"]}

    def run(fails, **options):
        axis = {"sobol": 16, "low": 0.0, "high": 2.0}
        sweep = {"fails": [fails], "group": ["a", "b", "c"], "x": axis, "seed": [-1, 1], "y": axis}
        return campaign(metrics, sweep, store=tmp_path / "s.sqlite", jobs=2, **options)

    with pytest.warns(RuntimeWarning, match="failed"):
        done = run(True, keep_going=True)
    found = {each.title.split()[-1]: each for each in done.sensitivity()}
    # Seeds are averaged: the noise cancels.
    assert [line[1] for line in found["x"].lines] == ["a", "a", "c", "c"]
    assert found["x"].column("parameter") == ("x", "y", "x", "y")
    assert found["x"].column("total")[1::2] == pytest.approx((0, 0), abs=1e-12)
    assert found["flat"].lines == ()
    assert found["odd"].column("group") == ("a", "a")
    for metric, words in (
        ("x", "128 runs failed"),
        ("flat", "the same"),
        ("odd", "64 runs without"),
    ):
        assert words in found[metric].note
    with pytest.raises(SimpluginError, match="did you mean 'odd'"):
        done.sensitivity("od")
    stopped = iter([False] * 20)
    partly = run(False, stop=lambda: next(stopped, True))
    assert partly.summary.done < partly.summary.total
    assert all(not each.lines and "not done" in each.note for each in partly.sensitivity())


SCENARIO = """
title = "Ishigami"
campaign.store = "store.sqlite"
platform = { generator = "star", parameters = { workers = 1, speed = "1Gf", bandwidth = "1GBps" } }
workload = { kind = "actors", actors = [{ function = "lab:sleeper", host = "master" }] }
metrics = { y = { value = "sleeper", better = "less" } }
[sweep.workload.actors.0.args]
"""
LAB = """
from math import sin
async def sleeper(me, x1: float, x2: float, x3: float = 0.0):
    return sin(x1) + 7 * sin(x2) ** 2 + 0.1 * x3**4 * sin(x1)
"""


def test_a_campaign_of_a_scenario(tmp_path, simplugin):
    """Indices are those that scipy computes from the exported points and the function."""
    file = tmp_path / "study.toml"
    line = "{ sobol = 8, low = -3.14159265359, high = 3.14159265359 }\n"
    (tmp_path / "lab.py").write_text(LAB)
    file.write_text(SCENARIO + "".join(f"x{at} = {line}" for at in (1, 2, 3)))
    simplugin("campaign", "run", file, "-j", "2", status=0)
    told = simplugin("campaign", "sensitivity", file, "--metric", "y", "--json", status=0)
    (table,) = json.loads(told.stdout)
    frame = results(tmp_path / "store.sqlite")
    points = frame[[f"workload.actors.0.args.x{at}" for at in (1, 2, 3)]].to_numpy()
    values = ishigami(*points.T)
    np.testing.assert_allclose(frame["y"], values)
    first, second, *mixed = values.reshape(8, 5).T
    answers = {"f_A": [first], "f_B": [second], "f_AB": np.reshape(mixed, (3, 1, 8))}
    exact = stats.sobol_indices(func={key: np.array(each) for key, each in answers.items()}, n=8)
    by_key = {each[0][-1]: each for each in table["lines"]}
    for at in range(3):
        assert by_key[f"{at + 1}"][1] == pytest.approx(exact.first_order[at], abs=1e-9)
        assert by_key[f"{at + 1}"][4] == pytest.approx(exact.total_order[at], abs=1e-9)
    simplugin("report", file, "-o", tmp_path / "page", status=0)
    assert (tmp_path / "page/figures/sensitivity-of-y.pdf").exists()
    assert not list((tmp_path / "page/figures").glob("*-over-*"))
    file.write_text(file.read_text().replace("x2 = { sobol = 8", "x2 = { sobol = 9"))
    with pytest.raises(ScenarioError) as caught:
        load_campaign(file)
    assert caught.value.line == 9
