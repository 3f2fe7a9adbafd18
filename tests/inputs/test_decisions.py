"""Decisions of a user's code: valid numbers of any kind; others refused with name and rule."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import allocation_of, graph_of, scheduled, star

from simplugin.bags import BagPolicy, servable
from simplugin.bags import execute as distribute
from simplugin.bags.policy import NodePlan
from simplugin.core.errors import DeadlockError, WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.market.policies.negotiation import Agreement, BundleNegotiation, Call, negotiate
from simplugin.market.policies.shipped import PostingPeer, as_negotiation
from simplugin.platforms import Tree
from simplugin.platforms.graphs import Graph
from simplugin.pricing import deploy
from simplugin.pricing.iteration import iterate
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.shares import checked_shares
from simplugin.workloads import AlphaFair, Application, Bags, GraphSet


class Strange:
    """An object that no conversion takes."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array")


# No decision in the sense of any rule below, whatever its shape.
WRONG = [
    *(None, Strange(), object(), object, "1", b"1", "", {}, {1: 2}, {0, 1}, Decimal(1), 1j, 2 + 0j),
    *(np.nan, np.inf, -np.inf, -1, -0.5, 0.5, 1e300, 10**400, -(10**30), True, False, np.True_),
    *([None], ["1"], [True, False], [np.nan] * 2, [np.inf] * 2, [-1, 2], [0.5, 0.6], [1j, 0]),
    *([10**400, 1], [-(10**30), 1], [[0], [0, 1]], [[0, 1], [1, 0], [0, 0]], [0, 1, 2, 3, 4, 5, 6]),
    *(
        np.array(None),
        np.array("1"),
        np.array([1j, 2]),
        np.array([True, False]),
        np.ones((2, 2, 2)),
    ),
    *(np.array([np.nan, 1]), np.array([-1, 3]), np.array([2**63, 0], dtype=np.uint64)),
    *(
        np.datetime64("2026-01-01"),
        np.array(["a", "b"]),
        np.float64(0.25),
        np.array([], dtype=bool),
    ),
    *(range(9), iter([3]), lambda: 1, np.array([{}, {}]), [[], []], ((),), np.array([0.1, 0.2])),
]
GRAPHS = GraphSet((graph_of("g", [1e9, 1e9]),))
MULTI = star(2, 1)
SITE = MULTI.site()
TREE = Tree(("a", "b"), np.array([-1, 0]), np.full(2, 1e9), np.array([np.inf, 1e8]), np.zeros(2))
BAGS = Bags(("x", "y"), np.full(2, 1e9), np.full(2, 1e6), np.ones(2), np.full(2, 2))
VALUES, CAPS, Q = [3.0, 2.0], [2, 2], [0.9, 0.9]


def mapped(value, of):
    class Mine:
        def map_ready(self, _now, tasks):
            if of == "list":
                return value
            own = {"task": value} if of == "task" else {"processors": value}
            return [SimpleNamespace(**{"task": task, "processors": [0]} | own) for task in tasks]

        def started(self, task, date):
            pass

        finished = started

    execute(GRAPHS, SITE, decisions=Mine, platform=MULTI.platform())


def planned(value, field):
    right = scheduled(GRAPHS, SITE, [(0, (0,)), (1, (1,))])
    wrong = replace(right, **{field: value})
    execute(GRAPHS, SITE, decisions=wrong, platform=MULTI.platform())


def allocated(value, field):
    wrong = replace(allocation_of(GRAPHS.graphs[0], 1, 2), **{field: value})
    execute(GRAPHS, SITE, decisions=[wrong], platform=MULTI.platform())


def revised(value):
    how = {"decisions": [allocation_of(GRAPHS.graphs[0], 1, 2)], "platform": MULTI.platform()}
    execute(GRAPHS, SITE, revise=lambda *_: value, **how)


def served(value):
    distribute(TREE, BAGS, BagPolicy("mine", lambda _: value))


def first(state):
    return next(servable(state), None)


def tagged(value):
    distribute(TREE, BAGS, BagPolicy("mine", first, tag=lambda _: value))


def given_plans(value, field):
    right = NodePlan(((1.0, 1.0), (1.0, 1.0)))
    wrong = value if field == "plan" else replace(right, **{field: value})
    distribute(TREE, BAGS, BagPolicy("mine", first, plans=(wrong, NodePlan(((1.0, 1.0),)))))


def assigned(value, of):
    answer = {"both": value, "amounts": (value, 1.0), "price": ([1, 1], value)}[of]
    negotiate(as_negotiation(lambda *_: answer, "mine"), VALUES, 2, CAPS, Q)


def agreed(value, of):
    def scheduler(_n_peers, _m, _generator):
        yield value if of == "call" else Call((0, 1) if of != "peers" else value, ("post",))
        right = {"amounts": [1, 1], "price": 1.0, "payments": None}
        return (
            value
            if of == "agreement"
            else Agreement(**right | ({of: value} if of in right else {}))
        )

    negotiate(BundleNegotiation("mine", scheduler, PostingPeer), VALUES, 2, CAPS, Q)


def replied(value):
    def peer(*_):
        return SimpleNamespace(reply=lambda _message: value)

    def scheduler(_n_peers, _m, _generator):
        yield Call((0, 1), ("post",))
        return Agreement(np.array([1, 1]), 1.0)

    negotiate(BundleNegotiation("mine", scheduler, peer), VALUES, 2, CAPS, Q)


def iterated(value, field):
    graph = Graph.duplex(
        ["A", "B"], speed=np.ones(2), ends=np.array([(0, 1)]), bandwidth=np.ones(1)
    )
    sharing = deploy(graph, [Application("x", "A", flop=1.0, byte=1.0)])
    sizes = sharing.n_agents, sharing.n_hosts, sharing.n_links
    right = dict(zip(("rate", "host_price", "link_price"), map(np.ones, sizes), strict=True))
    state = SimpleNamespace(**right | {field: value})
    iterate(SimpleNamespace(start=lambda *_: state), sharing, AlphaFair(1.0), 0)


KINDS = {
    "shares": lambda value: checked_shares(value, 2, "policy 'mine'"),
    **{f"mapper: {of}": partial(mapped, of=of) for of in ("list", "task", "processors")},
    **{
        f"schedule: {field}": partial(planned, field=field)
        for field in ("cluster", "processor_start", "processor", "order", "start", "finish")
    },
    **{f"allocation: {field}": partial(allocated, field=field) for field in ("processors", "time")},
    "revision": revised,
    "choice": served,
    "tag": tagged,
    **{
        f"plans: {field}": partial(given_plans, field=field) for field in ("plan", "rates", "slots")
    },
    **{f"policy: {of}": partial(assigned, of=of) for of in ("both", "amounts", "price")},
    **{
        f"negotiation: {of}": partial(agreed, of=of)
        for of in ("call", "peers", "agreement", "amounts", "price", "payments")
    },
    "reply": replied,
    **{f"method: {field}": partial(iterated, field=field) for field in ("rate", "host_price")},
}
# Absent, empty, or no numbers at all, which these decisions may be.
RIGHT = {
    "revision": [{}],
    "negotiation: payments": [None],
    "negotiation: peers": [()],
    "reply": [((),)],
    "mapper: processors": [{0, 1}],
}


def consists_of_numbers(value):
    """True if all that a decision has in it are real finite numbers, and no truth values."""
    if isinstance(value, list | tuple | np.ndarray):
        return all(map(consists_of_numbers, value)) if np.shape(value) else False
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool) and -np.inf < value < np.inf


@settings(max_examples=300, derandomize=True)
@given(kind=st.sampled_from(sorted(KINDS)), at=st.integers(0, len(WRONG) - 1))
def test_a_wrong_decision_is_refused_and_never_fails_in_this_package(kind, at):
    value = WRONG[at]
    try:
        KINDS[kind](value)
    except WorkloadError:
        return
    except DeadlockError:
        # A policy that waits for ever is found by the simulation.
        right = (kind, value) == ("choice", None)
    else:
        right = any(value is each or value == each for each in RIGHT.get(kind, ()))
        right = right or consists_of_numbers(value) or np.shape(value) == (0,)
    assert right


RIGHT_NUMBERS = [
    [1, 0],
    (1, 0),
    np.array([1, 0]),
    np.array([1.0, 0.0]),
    [np.int64(1), np.float32(0)],
    np.array([1, 0], dtype=np.uint8),
    range(1, -1, -1),
]


@pytest.mark.parametrize("value", RIGHT_NUMBERS)
def test_right_numbers_may_be_of_any_kind(value):
    found = decided("it is", value, "two", (2,), whole=True, least=0, most=1)
    assert (found.dtype, found.tolist()) == (np.int64, [1, 0])


def test_a_refusal_names_who_what_and_the_rule():
    with pytest.raises(WorkloadError) as caught:
        decided("policy 'mine:f' gives shares", [np.float64(0.5), np.nan], "two numbers", (2,))
    assert str(caught.value) == (
        "policy 'mine:f' gives shares [0.5, nan], nan at 1; give two numbers"
    )
