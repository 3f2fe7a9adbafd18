"""Mailboxes: rendezvous, sharing of links, rates, detached puts, time limits."""

from __future__ import annotations

from typing import Any

from conformance import ada, attempt, bob, cyd, receive, returns, scenario, send, tried
from worlds import AB, AB_LATENCY, AC, AC_LATENCY, BC, BC_LATENCY, DUPLEX, LOOPBACK, PLAIN, ab, ac

from simplugin.core.errors import TimeoutException
from simplugin.simulation import SimGridOptions

# ---- rendezvous ---------------------------------------------------------------------------------

for name, size, sent, received in (
    ("receiver_waits", 1e6, 2.0, 0.0),
    ("sender_waits", 2e6, 0.5, 3.0),
    ("nobody_waits", 3e6, 1.0, 1.0),
    ("send_nothing", 0.0, 1.0, 0.0),
    ("send_one_byte", 1.0, 1.0, 0.0),
):
    end = max(sent, received) + ab(size)
    scenario(
        name,
        ada(send, size, sent, gives=(None, end)),
        bob(receive, received, gives=("send", end)),
        clock=end,
    )


PAYLOADS = (None, 17, {"deep": [1, (2, 3)]}, 1.5)


async def receive_many(me: Any, count: int) -> list[Any]:
    return [await receive(me) for _ in range(count)]


@returns(
    None,
    beside=[bob(receive_many, 4, gives=[(p, (i + 1) * ab(1000)) for i, p in enumerate(PAYLOADS)])],
)
async def send_objects(me: Any) -> None:
    for payload in PAYLOADS:
        await me.mailbox("box").put(payload, 1000)


@returns(0.0, beside=[bob(receive_many, 3, gives=[(i, (i + 1) * ab(1e6)) for i in range(3)])])
async def detached_puts_in_order(me: Any) -> float:
    for number in range(3):
        me.mailbox("box").put_detached(number, 1e6, label=f"no {number}")
    return float(me.now)


# One after the other, each paying the latency.
scenario(
    "crowd",
    bob(receive_many, 50, gives=[(f"actor{i}", (i + 1) * AB_LATENCY) for i in range(50)]),
    *(ada(send, 0, name=f"actor{i}", gives=(None, (i + 1) * AB_LATENCY)) for i in range(50)),
)


async def receive_while_computing(me: Any) -> list[Any]:
    transfer = me.mailbox("box").get_async()
    await me.execute(1e9)
    return [me.now, await tried(me, transfer), transfer.result]


@returns(
    [2.0, 2.0, 0.0, ab(1e6), None],
    beside=[bob(receive_while_computing, gives=[0.5, ("data", ab(1e6)), "data"])],
)
async def send_while_computing(me: Any) -> list[Any]:
    transfer = me.mailbox("box").put_async("data", 1e6)
    await me.execute(2e9)
    computed = me.now
    await transfer
    return [computed, me.now, transfer.start_time, transfer.finish_time, transfer.result]


@returns(
    [True, 0, "box", False, 1, True, True, False, "STARTED", (None, 0.5 + ab(1e6))],
    beside=[bob(receive, 0.5, gives=("hello", 0.5 + ab(1e6)))],
)
async def look_into_a_mailbox(me: Any) -> list[Any]:
    box = me.mailbox("box")
    seen = [box.empty, box.size, box.name]
    put = box.put_async("hello", 1e6)
    seen += [box.empty, box.size, box.listen()]
    await me.sleep_for(1)
    return [*seen, box.empty, box.listen(), put.state, await tried(me, put)]


@returns(["me", 5e9 / LOOPBACK])
async def message_to_itself(me: Any) -> list[Any]:
    put = me.mailbox("box").put_async("me", 5e9)
    got = await me.mailbox("box").get()
    await put
    return [got, me.now]


@returns((None, 2 + ac(1e6)), on=bob, beside=[ada(receive, 2.0, gives=("moved", 2 + ac(1e6)))])
async def move_before_the_transfer(me: Any) -> Any:
    put = me.mailbox("box").put_async("moved", 1e6)
    me.set_host("cyd")
    return await tried(me, put)


# ---- shared links and models --------------------------------------------------------------------


def flows(name: str, *each: tuple[Any, Any, float, float], **more: Any) -> None:
    """Add transfers that start together: source, destination, bytes, expected end [s]."""
    roles = []
    for number, (source, destination, size, end) in enumerate(each):
        sender, box = f"flow{number}", f"box{number}"
        roles.append(source(send, size, 0.0, box, name=sender, gives=(None, end)))
        roles.append(destination(receive, 0.0, box, name=box, gives=(sender, end)))
    scenario(name, *roles, **more)


flows(
    "share_a_link",
    (ada, bob, 1e6, AB_LATENCY + 2e6 / AB),
    (ada, bob, 3e6, AB_LATENCY + 4e6 / AB),
)
for name, platform, seconds in (
    ("shared_directions", PLAIN, 2e6 / AB),
    ("split_duplex", DUPLEX, 1e6 / AB),
):
    end = AB_LATENCY + seconds
    flows(name, (ada, bob, 1e6, end), (bob, ada, 1e6, end), platform=platform)
flows(
    "unequal_latencies",
    (ada, bob, 1e6, AB_LATENCY + 1e6 / AB),
    (ada, cyd, 1e6, AC_LATENCY + 1e6 / AC),
)
flows("route_of_two_links", (bob, cyd, 1e6, BC_LATENCY + 1e6 / BC))
# Latency times 13.01; 97 % of the bandwidth, of which acknowledgements go back apart.
flows(
    "defaults_of_LV08",
    (ada, bob, 1e6, 13.01 * AB_LATENCY + 1e6 / (0.97 * AB)),
    platform=DUPLEX,
    options=SimGridOptions(),
)
# A window of 100 kB allows 400 kB/s at this latency.
flows(
    "tcp_window",
    (ada, bob, 1e6, AB_LATENCY + 1e6 / (1e5 / (2 * AB_LATENCY))),
    platform=DUPLEX,
    options=SimGridOptions(network_model="CM02", tcp_gamma=1e5, crosstraffic=False),
)


scenario(
    "limited_rate",
    ada(
        attempt,
        lambda me: me.mailbox("box").put("slow", 1e6, rate=AB / 4),
        gives=(None, AB_LATENCY + 1e6 / (AB / 4)),
    ),
    bob(receive, gives=("slow", AB_LATENCY + 1e6 / (AB / 4))),
)


@returns(
    [AB, 0.0],
    on=cyd,
    beside=[ada(send, gives=(None, ab(1e6))), bob(receive, gives=("send", ab(1e6)))],
)
async def load_of_links(me: Any) -> list[Any]:
    await me.sleep_for(AB_LATENCY + 0.25)
    return [me.link_by_name("ab").load, me.link_by_name("ac").load]


# The sender ends before the transfer does, which ends the transfer.
@returns(
    [1e6, 1e6 - 0.25 * AB, "STARTED"],
    beside=[bob(receive, 1, gives=("NetworkFailureException", 1 + AB_LATENCY + 0.25))],
)
async def remaining_bytes(me: Any) -> list[Any]:
    transfer = me.mailbox("box").put_async("data", 1e6)
    waiting = transfer.remaining
    await me.sleep_for(1 + AB_LATENCY + 0.25)
    return [waiting, transfer.remaining, transfer.state]


# ---- time limits --------------------------------------------------------------------------------


@returns([1.5, True, False, "CANCELED"])
async def give_up_sending(me: Any) -> list[Any]:
    box = me.mailbox("box")
    try:
        await box.put("unwanted", 1e6, timeout=1.5)
    except TimeoutException as error:
        return [me.now, box.empty, box.listen(), error.activity.state]
    return []


@returns([("TimeoutException", 2.5), True])
async def give_up_receiving(me: Any) -> list[Any]:
    box = me.mailbox("box")
    return [await tried(me, box.get(timeout=2.5)), box.empty]


async def send_within(me: Any, limit: float) -> Any:
    return await tried(me, me.mailbox("box").put("data", 1e6, timeout=limit))


for limit, sent, received in (
    (0.5, ("TimeoutException", 0.5), ("NetworkFailureException", 0.5)),
    (ab(1e6), (None, ab(1e6)), ("data", ab(1e6))),
):
    scenario(
        f"put_within_{limit}", ada(send_within, limit, gives=sent), bob(receive, gives=received)
    )
