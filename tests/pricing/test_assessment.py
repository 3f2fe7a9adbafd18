from dataclasses import dataclass, replace

import numpy as np
import pytest

from simplugin.platforms.graphs import Graph
from simplugin.pricing.assessment import PricingAssessment
from simplugin.pricing.deployment import deploy
from simplugin.pricing.iteration import Trajectory
from simplugin.workloads import AlphaFair, Application

GRAPH = Graph.duplex("ab", np.array([1e9, 3e9]), np.array([(0, 1)]), np.array([1e6]))
SHARING = deploy(
    GRAPH, [Application("x", "a", 1e6, 10.0), Application("y", "b", 2e6, 0.0, weight=2.0)]
)


@dataclass(frozen=True)
class Optimum:
    """Assessments, with made-up numbers."""

    throughput: np.ndarray
    host_price: np.ndarray
    link_price: np.ndarray
    objective: float
    gap: float = 0.0


BEST = np.array([2000.0, 1000.0])
OPTIMUM = Optimum(BEST, np.array([1e-9, 2e-9]), np.zeros(2), float(np.log(2000) + 2 * np.log(1000)))
# Agents are x at a, y at b, x at b, y at a.
LAST = np.array([600.0, 900.0, 1200.0, 100.0])
ERRORS = np.array([1.0, 0.2, 0.04, 0.03, 0.02, 0.1, 0.008, 0.001])


def trajectory():
    """Throughputs that are too low by `ERRORS`, and prices that double."""
    rounds = len(ERRORS)
    doubling = 2.0 ** np.arange(rounds)[:, None]
    throughput, overload = BEST * (1 - ERRORS)[:, None], np.zeros(rounds)
    prices = doubling * np.array([1e-9, 5e-9]), doubling * np.array([3e-3, 0.0])
    date, sent = np.arange(rounds) * 0.5, np.arange(rounds) * 100.0
    return Trajectory(throughput, overload, LAST, *prices, date, 1e4, sent=sent)


TOLD = PricingAssessment(SHARING, AlphaFair(), trajectory(), OPTIMUM)


def test_rounds_count_to_the_end():
    metrics = {metric.name: metric.value for metric in TOLD.metrics()}
    # Round 2 is within 5 %, but round 5 is not.
    assert metrics["rounds_to_5_percent"] == 6
    assert metrics["rounds_to_1_percent"] == 6
    assert metrics["rounds_to_half_percent"] == 7
    assert (metrics["seconds_to_1_percent"], metrics["bytes_to_1_percent"]) == (3.0, 600.0)
    assert metrics["rounds_to_millionth"] is metrics["seconds_to_millionth"] is None
    assert metrics["worst_error"] == pytest.approx(0.001)
    assert metrics["rounds"] == 7
    assert metrics["objective"] == pytest.approx(np.log(1998) + 2 * np.log(999))
    assert TOLD.best.sense == "max"
    assert TOLD.best.gap(metrics["objective"]) == pytest.approx(0.003 / 21.416, rel=1e-2)


def test_convergence_has_dates():
    listing = TOLD.listings()[3]
    lines = [line for line in listing.lines if line[0] == "every throughput"]
    assert lines == [
        ("every throughput", "5 %", 6, 3.0, 600.0),
        ("every throughput", "1 %", 6, 3.0, 600.0),
        ("every throughput", "0.5 %", 7, 3.5, 700.0),
        ("every throughput", "0.0001 %", None, None, None),
    ]


def test_pure_iterations_have_no_dates_and_late_ones_no_rounds():
    events_then = replace(TOLD, trajectory=replace(trajectory(), date=np.full(len(ERRORS), np.nan)))
    assert set(events_then.listings()[3].column("date")) == {None}
    far = replace(TOLD, optimum=replace(OPTIMUM, throughput=2 * BEST))
    assert far.listings()[3].lines[0] == ("every throughput", "5 %", None, None, None)


def test_resources_that_are_worth_most_come_first():
    _, hosts, links, _ = TOLD.listings(most=1)
    [(name, capacity, load, price, best)] = hosts.lines
    # y asks 1.8e9 flop/s of b, x 1.2e9.
    assert (name, capacity, load) == ("b", 3e9, pytest.approx(1.0))
    assert price == pytest.approx(5e-9 * 2**7 * 1e9)
    assert best == pytest.approx(2.0)
    assert hosts.note == "and 1 more"
    # x sends 1200 tasks of 10 bytes; y's need none, so the way back is idle.
    [(name, capacity, load, price, best)] = links.lines
    assert (name, load, links.note) == ("a->b", pytest.approx(0.012), "")


def test_gaps():
    found = TOLD.listings()[0]
    assert found.column("gap") == pytest.approx((0.001, 0.001))
    none = replace(TOLD, optimum=replace(OPTIMUM, throughput=np.array([0.0, 1000.0])))
    assert none.listings()[0].column("gap")[0] is None
    assert list(none.figures()[1].series) == ["y"]


def test_the_objective_of_a_round_that_overloads_lies_below_the_optimum():
    # Twice the optimum everywhere: nothing that fits is better than that.
    reached, overload = np.tile(2 * BEST, (len(ERRORS), 1)), np.ones(len(ERRORS))
    double = replace(TOLD.trajectory, throughput=reached, overload=overload)
    objective = replace(TOLD, trajectory=double).figures()[0].series["objective"][1]
    best = float(TOLD.utility.objective(BEST, TOLD.sharing.weight))
    assert objective == pytest.approx(np.full(len(ERRORS), best))


def test_an_objective_of_zero_has_no_relative_error():
    events_then = replace(TOLD, optimum=replace(OPTIMUM, objective=0.0))
    assert list(events_then.errors) == ["every throughput", "overload"]


def test_figures():
    objective, throughputs, overload, prices = TOLD.figures()
    assert objective.lines == {"optimum": OPTIMUM.objective}
    assert overload.series["overload"][1] is TOLD.trajectory.overload
    assert throughputs.series["x"][1] == pytest.approx(1 - ERRORS)
    # Worth 384000, 1920, 128 and 0 at the end.
    assert list(prices.series) == ["a->b", "b", "a", "b->a"]
    assert prices.series["b"][1][0] == pytest.approx(15.0)
