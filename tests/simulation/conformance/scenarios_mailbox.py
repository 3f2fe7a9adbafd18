"""Mailboxes: rendezvous, sharing of links, rates, detached puts, time limits."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import AB, AB_LATENCY, AC, AC_LATENCY, DUPLEX, LOOPBACK, PLAIN, ab, ac, bc

from simplugin.errors import NetworkFailureException, TimeoutException
from simplugin.simulation import Placement, SimGridOptions


async def send(me: Any, size: float, delay: float = 0.0, box: str = "box") -> float:
    await me.sleep_for(delay)
    await me.mailbox(box).put(("from", me.name), size)
    return me.now


async def receive(me: Any, delay: float = 0.0, box: str = "box") -> Any:
    await me.sleep_for(delay)
    payload = await me.mailbox(box).get()
    return payload, me.now


async def send_slowly(me: Any) -> float:
    await me.mailbox("box").put(None, 1e6, rate=AB / 4)
    return me.now


async def send_objects(me: Any) -> None:
    for payload in (None, 17, {"deep": [1, (2, 3)]}, 1.5):
        await me.mailbox("box").put(payload, 1000)


async def receive_objects(me: Any) -> list[Any]:
    return [await me.mailbox("box").get() for _ in range(4)]


async def send_detached(me: Any) -> float:
    for number in range(3):
        me.mailbox("box").put_detached(number, 1e6, label=f"no {number}")
    return me.now


async def receive_three(me: Any) -> list[Any]:
    return [(await me.mailbox("box").get(), me.now) for _ in range(3)]


async def send_while_computing(me: Any) -> list[Any]:
    transfer = me.mailbox("box").put_async("data", 1e6)
    await me.execute(2e9)
    computed = me.now
    await transfer
    return [computed, me.now, transfer.start_time, transfer.finish_time, transfer.result]


async def receive_while_computing(me: Any) -> list[Any]:
    transfer = me.mailbox("box").get_async()
    await me.execute(1e9)
    computed = me.now
    return [computed, await transfer, me.now, transfer.result]


async def half_way(me: Any) -> list[Any]:
    await me.sleep_for(AB_LATENCY + 0.25)
    return [me.link_by_name("ab").load, me.link_by_name("ac").load]


async def watch_put(me: Any) -> list[Any]:
    transfer = me.mailbox("box").put_async("data", 1e6)
    waiting = transfer.remaining
    await me.sleep_for(1 + AB_LATENCY + 0.25)
    return [waiting, transfer.remaining, transfer.state]


async def give_up_sending(me: Any) -> list[Any]:
    box = me.mailbox("box")
    try:
        await box.put("unwanted", 1e6, timeout=1.5)
    except TimeoutException as error:
        return [me.now, box.empty, box.listen(), error.activity.state]
    return []


async def give_up_receiving(me: Any) -> list[Any]:
    box = me.mailbox("box")
    try:
        await box.get(timeout=2.5)
    except TimeoutException:
        return [me.now, box.empty]
    return []


async def give_up_in_the_middle(me: Any) -> float:
    try:
        await me.mailbox("box").put("long", 1e6, timeout=0.5)
    except TimeoutException:
        return me.now
    return -1.0


async def receive_or_fail(me: Any) -> list[Any]:
    try:
        await me.mailbox("box").get()
    except NetworkFailureException as error:
        return [me.now, error.activity.state]
    return []


async def send_just_in_time(me: Any) -> float:
    await me.mailbox("box").put("on time", 1e6, timeout=AB_LATENCY + 1e6 / AB)
    return me.now


async def look_into(me: Any) -> list[Any]:
    box = me.mailbox("box")
    seen = [box.empty, box.listen(), box.name]
    put = box.put_async("hello", 1e6)
    seen += [box.empty, box.listen()]
    await me.sleep_for(1)
    seen += [box.empty, box.listen(), put.state]
    await put
    return [*seen, me.now]


async def receive_at_half(me: Any) -> Any:
    await me.sleep_for(0.5)
    return await me.mailbox("box").get()


async def to_itself(me: Any) -> list[Any]:
    put = me.mailbox("box").put_async("me", 5e9)
    got = await me.mailbox("box").get()
    await put
    return [got, me.now]


async def move_before_start(me: Any) -> float:
    put = me.mailbox("box").put_async("moved", 1e6)
    me.set_host("cyd")
    await put
    return me.now


def pair(name: str, size: float, early: float, late: float, who_waits: str) -> Scenario:
    """Return a rendezvous in which one comes later than the other."""
    sender, receiver = (early, late) if who_waits == "sender" else (late, early)
    end = late + ab(size)
    return Scenario(
        name,
        PLAIN,
        (Placement("ada", send, (size, sender)), Placement("bob", receive, (receiver,))),
        {"send": end, "receive": (("from", "send"), end)},
        end,
    )


def two_flows(name: str, first: float, second: float) -> Scenario:
    """Return two transfers that share a link from the start."""
    short, long = sorted((first, second))
    ends = {short: AB_LATENCY + 2 * short / AB, long: AB_LATENCY + (short + long) / AB}
    return Scenario(
        name,
        PLAIN,
        (
            Placement("ada", send, (first, 0.0, "x"), name="first"),
            Placement("ada", send, (second, 0.0, "y"), name="second"),
            Placement("bob", receive, (0.0, "x"), name="get_first"),
            Placement("bob", receive, (0.0, "y"), name="get_second"),
        ),
        {
            "first": ends[first],
            "second": ends[second],
            "get_first": (("from", "first"), ends[first]),
            "get_second": (("from", "second"), ends[second]),
        },
    )


def crossing(name: str, platform: str, seconds: float) -> Scenario:
    """Return transfers in opposite directions."""
    end = AB_LATENCY + seconds
    return Scenario(
        name,
        platform,
        (
            Placement("ada", send, (1e6, 0.0, "x"), name="there"),
            Placement("bob", send, (1e6, 0.0, "y"), name="back"),
            Placement("bob", receive, (0.0, "x"), name="at_bob"),
            Placement("ada", receive, (0.0, "y"), name="at_ada"),
        ),
        {
            "there": end,
            "back": end,
            "at_bob": (("from", "there"), end),
            "at_ada": (("from", "back"), end),
        },
    )


def one(name: str, sender: Any, receiver: Any, expected: dict[str, Any], **more: Any) -> Scenario:
    """Return a scenario of one actor on ada and one on bob."""
    actors = (Placement("ada", sender), Placement("bob", receiver))
    return Scenario(name, PLAIN, actors, expected, **more)


SCENARIOS = [
    pair("receiver_waits", 1e6, 0.0, 2.0, "receiver"),
    pair("sender_waits", 2e6, 0.5, 3.0, "sender"),
    pair("nobody_waits", 3e6, 1.0, 1.0, "sender"),
    pair("send_nothing", 0.0, 0.0, 1.0, "receiver"),
    pair("send_one_byte", 1.0, 0.0, 1.0, "receiver"),
    two_flows("share_a_link_alike", 1e6, 1e6),
    two_flows("share_a_link", 1e6, 3e6),
    crossing("shared_directions", PLAIN, 2e6 / AB),
    crossing("split_duplex", DUPLEX, 1e6 / AB),
    Scenario(
        "route_of_two_links",
        PLAIN,
        (Placement("bob", send, (1e6,)), Placement("cyd", receive)),
        {"send": bc(1e6), "receive": (("from", "send"), bc(1e6))},
    ),
    Scenario(
        "defaults_of_LV08",
        DUPLEX,
        (Placement("ada", send, (1e6,)), Placement("bob", receive)),
        # Latency times 13.01; 97 % of the bandwidth, of which acknowledgements go back apart.
        {
            "send": 13.01 * AB_LATENCY + 1e6 / (0.97 * AB),
            "receive": (("from", "send"), 13.01 * AB_LATENCY + 1e6 / (0.97 * AB)),
        },
        options=SimGridOptions(),
    ),
    Scenario(
        "tcp_window",
        DUPLEX,
        (Placement("ada", send, (1e6,)), Placement("bob", receive)),
        # A window of 100 kB allows 400 kB/s at this latency.
        {
            "send": AB_LATENCY + 1e6 / (1e5 / (2 * AB_LATENCY)),
            "receive": (("from", "send"), AB_LATENCY + 1e6 / (1e5 / (2 * AB_LATENCY))),
        },
        options=SimGridOptions(network_model="CM02", tcp_gamma=1e5, crosstraffic=False),
    ),
    one(
        "limited_rate",
        send_slowly,
        receive,
        {
            "send_slowly": AB_LATENCY + 1e6 / (AB / 4),
            "receive": (None, AB_LATENCY + 1e6 / (AB / 4)),
        },
    ),
    one(
        "payloads",
        send_objects,
        receive_objects,
        {"send_objects": None, "receive_objects": [None, 17, {"deep": [1, (2, 3)]}, 1.5]},
        clock=4 * ab(1000),
    ),
    one(
        "detached_puts_in_order",
        send_detached,
        receive_three,
        {"send_detached": 0.0, "receive_three": [(i, (i + 1) * ab(1e6)) for i in range(3)]},
    ),
    one(
        "asynchronous_ends",
        send_while_computing,
        receive_while_computing,
        {
            "send_while_computing": [2.0, 2.0, 0.0, ab(1e6), None],
            "receive_while_computing": [0.5, "data", ab(1e6), "data"],
        },
    ),
    Scenario(
        "load_of_links",
        PLAIN,
        (Placement("ada", send, (1e6,)), Placement("bob", receive), Placement("cyd", half_way)),
        {
            "send": ab(1e6),
            "receive": (("from", "send"), ab(1e6)),
            "half_way": [AB, 0.0],
        },
    ),
    Scenario(
        "remaining_bytes",
        PLAIN,
        (Placement("ada", watch_put), Placement("bob", receive_or_fail, name="get", start_time=1)),
        # The sender ends before the transfer does, which ends the transfer.
        {
            "watch_put": [1e6, 1e6 - 0.25 * AB, "STARTED"],
            "get": [1 + AB_LATENCY + 0.25, "FAILED"],
        },
    ),
    Scenario(
        "give_up_sending",
        PLAIN,
        (Placement("ada", give_up_sending),),
        {"give_up_sending": [1.5, True, False, "CANCELED"]},
    ),
    Scenario(
        "give_up_receiving",
        PLAIN,
        (Placement("ada", give_up_receiving),),
        {"give_up_receiving": [2.5, True]},
    ),
    one(
        "give_up_in_the_middle",
        give_up_in_the_middle,
        receive_or_fail,
        {"give_up_in_the_middle": 0.5, "receive_or_fail": [0.5, "FAILED"]},
    ),
    one(
        "time_limit_at_the_end",
        send_just_in_time,
        receive,
        {"send_just_in_time": ab(1e6), "receive": ("on time", ab(1e6))},
    ),
    one(
        "look_into_a_mailbox",
        look_into,
        receive_at_half,
        {
            "look_into": [
                *[True, False, "box"],
                *[False, True],
                *[True, False, "STARTED"],
                0.5 + ab(1e6),
            ],
            "receive_at_half": "hello",
        },
    ),
    Scenario(
        "message_to_itself",
        PLAIN,
        (Placement("ada", to_itself),),
        {"to_itself": ["me", 5e9 / LOOPBACK]},
    ),
    Scenario(
        "move_before_the_transfer",
        PLAIN,
        (Placement("bob", move_before_start), Placement("ada", receive, (2.0,))),
        {"move_before_start": 2 + ac(1e6), "receive": ("moved", 2 + ac(1e6))},
    ),
    Scenario(
        "unequal_latencies",
        PLAIN,
        (
            Placement("ada", send, (1e6, 0.0, "x"), name="near"),
            Placement("ada", send, (1e6, 0.0, "y"), name="far"),
            Placement("bob", receive, (0.0, "x"), name="at_bob"),
            Placement("cyd", receive, (0.0, "y"), name="at_cyd"),
        ),
        {
            "near": ab(1e6),
            "far": AC_LATENCY + 1e6 / AC,
            "at_bob": (("from", "near"), ab(1e6)),
            "at_cyd": (("from", "far"), ac(1e6)),
        },
    ),
]
