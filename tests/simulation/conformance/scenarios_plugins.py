"""SimGrid's plug-ins: governors of processors, and energy where activities are suspended."""

from __future__ import annotations

from typing import Any

from conformance import ada, alone, bob, scenario
from xml_zones import zone_xml

from simplugin.simulation import SimGridOptions

IDLE, BUSY = 10.0, 100.0  # W
FAST, SLOW = 1e9, 2.5e8  # flop/s
WORK, START = 2e9, 1.05  # flop, s

THROTTLED = zone_xml('<host id="ada" speed="1Gf,500Mf,250Mf"/>')
WATTS = zone_xml(
    f'<host id="ada" speed="1Gf"><prop id="wattage_per_state" value="{IDLE}:{IDLE}:{BUSY}"/></host>'
)
LINK = zone_xml(f"""
    <host id="ada" speed="1Gf"><prop id="wattage_per_state" value="0:0:0"/></host>
    <host id="bob" speed="1Gf"><prop id="wattage_per_state" value="0:0:0"/></host>
    <link id="ab" bandwidth="1MBps" latency="0">
      <prop id="wattage_range" value="{IDLE}:{BUSY}"/>
    </link>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


async def start_late(me: Any) -> float:
    await me.sleep_for(START)
    await me.execute(WORK)
    return float(me.now)


# SimGrid 4.1 starts two governors on each host: the first resets what the second reads.
for governor, end in (
    ("performance", START + WORK / FAST),
    ("powersave", START + WORK / SLOW),
    ("ondemand", START + WORK / SLOW),
    ("conservative", START + WORK / SLOW),
):
    scenario(
        f"governor-{governor}",
        ada(start_late, gives=end),
        platform=THROTTLED,
        clock=end,
        options=SimGridOptions.linear(
            extra={"plugin": "host_dvfs", "plugin/dvfs/governor": governor}
        ),
    )


async def wait_for_ever(me: Any) -> None:
    await me.mailbox("nobody writes").get()


scenario(
    "governors-of-the-blocked",
    ada(wait_for_ever),
    platform=THROTTLED,
    wrong={"error": "DeadlockError", "clock": 0.0},
    options=SimGridOptions.linear(extra={"plugin": "host_dvfs"}),
    only="SimGrid does not notice a deadlock while governors run",
)


@alone([BUSY + IDLE, 2 * BUSY + IDLE], platform=WATTS, energy=[2 * BUSY + IDLE])
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
    return float(me.link_by_name("ab").energy)


async def forget(me: Any) -> None:
    await me.sleep_for(1.0)
    me.mailbox("box").put_detached(None, 1e6)


scenario(
    "energy-of-a-detached-put",
    ada(forget),
    bob(receive, gives=IDLE + BUSY),
    platform=LINK,
    energy=[0.0, 0.0],
)
