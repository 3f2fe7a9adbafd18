"""SimGrid's plug-ins: governors of processors, and energy where activities are suspended."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import platform

from simplugin.simulation import Placement, SimGridOptions

IDLE, BUSY = 10.0, 100.0  # W
FAST, SLOW = 1e9, 2.5e8  # flop/s
WORK, START = 2e9, 1.05  # flop, s

THROTTLED = platform('<host id="ada" speed="1Gf,500Mf,250Mf"/>')
WATTS = platform(
    f'<host id="ada" speed="1Gf"><prop id="wattage_per_state" value="{IDLE}:{IDLE}:{BUSY}"/></host>'
)
LINK = platform(f"""
    <host id="ada" speed="1Gf"><prop id="wattage_per_state" value="0:0:0"/></host>
    <host id="bob" speed="1Gf"><prop id="wattage_per_state" value="0:0:0"/></host>
    <link id="ab" bandwidth="1MBps" latency="0">
      <prop id="wattage_range" value="{IDLE}:{BUSY}"/>
    </link>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


async def work(me: Any) -> float:
    await me.sleep_for(START)
    await me.execute(WORK)
    return me.now


async def wait_for_ever(me: Any) -> None:
    await me.mailbox("nobody writes").get()


async def interrupt(me: Any) -> list[float]:
    execution = me.exec_async(2e9)
    await me.sleep_for(1.0)
    execution.suspend()
    await me.sleep_for(1.0)
    asleep = me.host.energy
    execution.resume()
    await execution
    return [asleep, me.host.energy]


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return me.link_by_name("ab").energy


async def forget(me: Any) -> None:
    await me.sleep_for(1.0)
    me.mailbox("box").put_detached(None, 1e6)


def governed(governor: str, end: float) -> Scenario:
    """Return a scenario in which a host is idle first and then works."""
    options = SimGridOptions.linear(extra={"plugin": "host_dvfs", "plugin/dvfs/governor": governor})
    actors = (Placement("ada", work, name="work"),)
    return Scenario(f"governor-{governor}", THROTTLED, actors, {"work": end}, end, options)


# SimGrid 4.1 starts two governors on each host: the first resets what the second reads.
SCENARIOS = [
    governed("performance", START + WORK / FAST),
    governed("powersave", START + WORK / SLOW),
    governed("ondemand", START + WORK / SLOW),
    governed("conservative", START + WORK / SLOW),
    Scenario(
        "governors-of-the-blocked",
        THROTTLED,
        (Placement("ada", wait_for_ever, name="lonely"),),
        {"error": "DeadlockError", "clock": 0.0},
        0.0,
        SimGridOptions.linear(extra={"plugin": "host_dvfs"}),
        only="SimGrid does not notice a deadlock while governors run",
    ),
    Scenario(
        "energy-while-suspended",
        WATTS,
        (Placement("ada", interrupt, name="interrupt"),),
        {"interrupt": [BUSY + IDLE, 2 * BUSY + IDLE]},
        energy=True,
    ),
    Scenario(
        "energy-of-a-detached-put",
        LINK,
        (Placement("ada", forget, name="forget"), Placement("bob", receive, name="receive")),
        {"forget": None, "receive": IDLE + BUSY},
        energy=True,
    ),
]
