"""Mistakes of users, and the messages about them: culprit, place and remedy on one line."""

import asyncio
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_trees import execute

from simplugin import Placement, SimGridOptions, simulate
from simplugin.bags import BagPolicy, servable
from simplugin.core.errors import (
    ActorError,
    DeadlockError,
    SimpluginError,
    WorkloadError,
)
from simplugin.platforms import (
    Cluster,
    DeployedActor,
    Deployment,
    Disk,
    Graph,
    Host,
    Link,
    Platform,
    Profile,
    Route,
    Tree,
    Zone,
)
from simplugin.workloads import Application, Bags, Bundle, TaskGraph

# Data classes whose quantities may be texts with units: calls with texts, and with numbers.
EQUAL: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (Host, ("h", "1Gf"), ("h", 1e9)),
    (Host, ("h", "1Gf", 1, ["500Mf", 0]), ("h", 1e9, 1, (5e8, 0))),
    (Link, ("l", "1Gbps", "50us"), ("l", 1.25e8, 50 * 1e-6)),
    (Disk, ("d", "1MBps", "2MBps"), ("d", 1e6, 2e6)),
    (Cluster, ("c", "0-3", "1Gf", "1GBps", "1ms"), ("c", "0-3", 1e9, 1e9, 1e-3)),
    (Profile, ("p", "0 1", "", "2h"), ("p", "0 1", "", 7200.0)),
    (DeployedActor, ("h", "f", (), "1m", "1h"), ("h", "f", (), 60.0, 3600.0)),
    (Application, ("a", "h", "1Gf", "1MB"), ("a", "h", 1e9, 1e6)),
    (Application, ("a", "h", 1, 1, 1, None, "1h", "2h"), ("a", "h", 1, 1, 1, None, 3600, 7200)),
    (
        TaskGraph,
        ("g", ("a", "b"), ["1Gf", 2], [0, 0], ["1MB", 0], [[0, 1]], ["1kB"]),
        ("g", ("a", "b"), [1e9, 2], [0, 0], [1e6, 0], [[0, 1]], [1e3]),
    ),
]


@pytest.mark.parametrize(("make", "texts", "numbers"), EQUAL)
def test_constructors_read_units_as_files_do(make, texts, numbers):
    assert make(*texts) == make(*numbers)


def test_arrays_and_options_read_units():
    tree = Tree(("a", "b"), [-1, 0], ["1Gf", 2], [math.inf, "1GBps"], [0, "1ms"])  # type: ignore[arg-type]
    assert [*tree.speed, *tree.bandwidth, *tree.latency] == [1e9, 2, math.inf, 1e9, 0, 1e-3]
    bags: Any = Bags(("a", "b"), ["1Gf", 2], "1MB", 1, 5)  # type: ignore[arg-type]
    assert [*bags.flop, *bags.byte] == [1e9, 2, 1e6, 1e6]
    bundle: Any = Bundle("b", 2, "1Gf", "1MB", "1h", ["1Gf", 2])  # type: ignore[arg-type]
    assert [bundle.flop, bundle.byte, bundle.release, *bundle.work] == [1e9, 1e6, 3600, 1e9, 2]
    texts: Any = {"tcp_gamma": "4MiB", "loopback_bandwidth": "1GBps", "loopback_latency": "1ms"}
    numbers: Any = dict(zip(texts, (4 * 2**20, 1e9, 1e-3), strict=True))
    assert SimGridOptions(**texts) == SimGridOptions(**numbers)


async def idle(me: Any) -> None:
    """Do nothing."""


A_HOST = Host("h", 1e9)
TREE = Tree(("r", "c"), [-1, 0], [1e9, 1e9], [math.inf, 1e8], [0.0, 0.0])  # type: ignore[arg-type]
TASKS = Bags(("x",), 1e9, 1e6, 1.0, 3)  # type: ignore[arg-type]
FCFS = BagPolicy("fcfs", lambda state: next(servable(state), None))
WRONG: list[tuple[Callable[[Any], Any], Any, str, str]] = [
    # constructor of the wrong value, the value, the field in the message, the remedy in it
    (lambda v: Host("h", v), [1], "speed of host 'h'", "'1.5Gf'"),
    (lambda v: Host("h", v), None, "speed of host 'h'", "'1.5Gf'"),
    (lambda v: Host("h", v), True, "speed of host 'h'", "'1.5Gf'"),
    (lambda v: Host("h", v), "1GHz", "speed of host 'h'", "'1.5Gf'"),
    (lambda v: Host("h", v), "-1Gf", "speed of host 'h'", "positive"),
    (lambda v: Host("h", 1, v), "4", "cores of host 'h'", "give int"),
    (lambda v: Host("h", 1, 1, v), "1Gf", "further speeds of host 'h'", "tuple"),
    (lambda v: Host("h", 1, 1, [v]), "fast", "further speeds of host 'h'", "'1.5Gf'"),
    (lambda v: Host("h", 1, pstate=v), "0", "pstate of host 'h'", "whole number"),
    (lambda v: Host("h", 1, coordinates=v), 3, "coordinates of host 'h'", "tuple"),
    (lambda v: Host("h", 1, disks=[v]), ("d", 1), "disks of host 'h'", "give Disk"),
    (lambda v: Host("h", 1, properties=v), ["a"], "properties of host 'h'", "dict"),
    (lambda v: Link("l", v), "1gbps", "bandwidth of link 'l'", "did you mean"),
    (lambda v: Link("l", 1, v), "50 us", "latency of link 'l'", "did you mean 'us'"),
    (lambda v: Link("l", 1, 0, v), ["SHARED"], "sharing policy of link 'l'", "choose"),
    (lambda v: Route("a", "b", v), None, "links of the route from 'a' to 'b'", "tuple"),
    (lambda v: Route("a", "b", [v]), 7, "links of the route from 'a' to 'b'", "LinkUse | str"),
    (lambda v: Route("a", "b", "l", symmetrical=v), "no", "symmetrical of the route", "true or"),
    (lambda v: Zone("z", v), None, "routing of zone 'z'", "give str"),
    (lambda v: Zone("z", "Full", [v]), "h", "elements of zone 'z'", "Host"),
    (lambda v: Zone("z", "Full", v), 5, "elements of zone 'z'", "Host"),
    (lambda v: Zone("z", "Full", [], [v]), ("a", "b"), "routes of zone 'z'", "Route"),
    (lambda v: Platform(v), A_HOST, "elements of the platform", "Zone"),
    (lambda v: Platform([v]), A_HOST, "elements of the platform", "Zone"),  # type: ignore[arg-type]
    (lambda v: Platform(v), "small.xml", "elements of the platform", "Zone"),
    (lambda v: Platform((), config=v), "x", "config of the platform", "Config"),
    (lambda v: Profile("p", "0 1", period=v), "2 hours", "period of profile 'p'", "'h'"),
    (lambda v: DeployedActor("h", "f", v), "abc", "arguments of actor 'f'", "tuple"),
    (lambda v: DeployedActor("h", "f", (), v), "soon", "start time of actor 'f'", "'50us'"),
    (lambda v: Deployment(v), "a", "actors of the deployment", "DeployedActor"),
    (lambda v: Placement("h", idle, start_time=v), "soon", "'idle' on 'h': start_time", "'50us'"),
    (lambda v: SimGridOptions(loopback_bandwidth=v), "10Gb", "loopback_bandwidth", "'125MBps'"),
    (lambda v: SimGridOptions(extra=v), [1], "extra", "dict"),
    (lambda v: SimGridOptions(network_model=v), ["CM02"], "network_model", "'CM02'"),
    (lambda v: Placement("h", idle, properties=v), 5, "'idle': properties", "dict"),
    (lambda v: execute(TREE, v, FCFS), "b", "bags", "Bags"),
    (lambda v: execute(v, TASKS, FCFS), 1, "tree", "Tree"),
    (lambda v: execute(TREE, TASKS, FCFS, buffer=v), "ten", "buffer", "whole"),
    (lambda v: Tree(("a",), [-1], [v], [math.inf], [0]), "fast", "speed[0]", "'1.5Gf'"),  # type: ignore[arg-type]
    (lambda v: Tree(v, [-1], [1], [math.inf], [0]), [1], "hosts", "give str"),  # type: ignore[arg-type]
    (lambda v: Graph(("a",), [1], [v], [0], [1], [0]), 0.5, "source", "whole numbers"),  # type: ignore[arg-type]
    (lambda v: Application("a", "h", v, 1), None, "flop of application 'a'", "'1.5Gf'"),
    (lambda v: Application("a", "h", 1, v), "big", "byte of application 'a'", "'4MiB'"),
    (lambda v: Application("a", "h", 1, 1, v), "2", "weight of application 'a'", "number"),
    (lambda v: Application("a", "h", 1, 1, count=v), 1.5, "count of application 'a'", "whole"),
    (lambda v: Application("a", v, 1, 1), None, "master", "text"),
    (lambda v: Bags(v, 1, 1, 1, 1), "ab", "names", "tuple"),  # type: ignore[arg-type]
    (lambda v: Bags(("a", "b"), v, 1, 1, 1), ["1Gf", "2X"], "flop[1]", "'1.5Gf'"),  # type: ignore[arg-type]
    (lambda v: Bags(("a", "b"), v, 1, 1, 1), [1, 2, 3], "flop", "each of 2"),  # type: ignore[arg-type]
    (lambda v: Bundle("b", 1, v, 1), [1], "flop of bundle 'b'", "'1.5Gf'"),
]


@pytest.mark.parametrize(("make", "value", "field", "remedy"), WRONG)
def test_a_wrong_value_is_refused_with_field_and_remedy(make, value, field, remedy):
    with pytest.raises(SimpluginError) as caught:
        make(value)
    message = str(caught.value)
    assert field in message
    assert remedy in message
    assert "\n" not in message
    for each in np.ravel(value).tolist()[-1:] if not isinstance(value, Host) else ():
        assert str(each) in message


async def swaps(me: Any) -> None:
    await me.mailbox("b").put(1e6, "x")


async def sleeps(_: Any) -> None:
    await asyncio.sleep(1)


async def yields(_: Any) -> None:
    await asyncio.sleep(0)


async def gathers(me: Any) -> None:
    await asyncio.gather(me.sleep_for(1), me.sleep_for(2))


async def divides(me: Any) -> None:
    await me.sleep_for(1)
    raise ZeroDivisionError


async def refused(me: Any) -> None:
    await me.execute("much")


PLATFORM = Platform(Zone("z", "Full", (A_HOST,)))


FAILING_ACTORS = [
    (swaps, "size, the argument after the payload, must be a number, not 'x'"),
    (sleeps, "me.sleep_for"),
    (yields, "me.sleep_for"),
    (gathers, "me.wait_all"),
    (divides, "ZeroDivisionError"),
    (refused, "flops must be a number, not 'much'"),
]


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
@pytest.mark.parametrize(("function", "message"), FAILING_ACTORS)
def test_an_actor_that_fails_is_named_with_its_line_only(function, message, back_end):
    with pytest.raises(ActorError) as caught:
        simulate(PLATFORM, [("h", function)], back_end=back_end)
    first, text = function.__code__.co_firstlineno, str(caught.value)
    assert message in caught.value.summary
    files = re.findall(r'File "(.*)", line (\d+)|(\S+\.py):(\d+): ', text)
    last = max(line for *_, line in function.__code__.co_lines() if line)
    assert {each[0] or each[2] for each in files} == {__file__}
    assert all(first < int(each[1] or each[3]) <= last for each in files)


def test_an_async_generator_is_no_actor():
    async def generates(_: Any) -> Any:
        yield 1

    with pytest.raises(SimpluginError, match=rf"{__file__}:\d+: .*async generator.*`await`"):
        Placement("h", generates)


@pytest.mark.parametrize("failures", [False, True])
@pytest.mark.parametrize("choice", [(7, 0), (0, 5), (-1, 0), (0, 0, 0), 1, "x", None])
def test_a_wrong_policy_is_named(choice, failures):
    with pytest.raises(SimpluginError) as caught:
        execute(TREE, TASKS, BagPolicy("mine", lambda _: choice), failures=failures)
    assert isinstance(caught.value, WorkloadError | DeadlockError)
    first, *rest = str(caught.value).splitlines()
    assert "policy 'mine'" in first
    assert "servable(state)" in first
    assert not rest or isinstance(caught.value, DeadlockError)


@pytest.mark.parametrize("policy", [lambda _: None, "lag"])
def test_what_is_no_policy_is_refused(policy):
    with pytest.raises(SimpluginError, match="give a BagPolicy"):
        execute(TREE, TASKS, policy)
