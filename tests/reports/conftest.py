"""Results of small simulations; drawing does not change them."""

import pytest

from simplugin import Host, Link, Platform, Route, SimGridOptions, Zone, simulate

PLATFORM = Platform(
    Zone(
        "lab",
        "Full",
        [Host("node-10", 1e9), Host("node-2", 2e9), Host("idle", 1e9), Link("wire", 1e8)],
        [Route("node-10", "node-2", ["wire"])],
    )
)


async def sender(me):
    both = [me.mailbox(name).put_async(None, 1e8, label="data") for name in ("one", "two")]
    await me.wait_all(both)
    await me.execute(1e9, label="report")


async def receiver(me, name, flops):
    await me.mailbox(name).get()
    await me.execute(flops, label=f"crunch {name}")
    late = me.exec_async(1e12)
    await me.sleep_for(1.0)
    late.cancel()


@pytest.fixture(scope="session")
def result():
    """Two transfers share a wire until 2 s, then two executions share a core."""
    actors = [
        ("node-10", sender),
        ("node-2", receiver, "one", 2e9),
        ("node-2", receiver, "two", 2e9),
    ]
    return simulate(PLATFORM, actors, options=SimGridOptions.linear())


@pytest.fixture(scope="session")
def nothing():
    """A simulation in which nothing happens."""

    async def idle(me):
        pass

    return simulate(PLATFORM, [("idle", idle)])
