"""SimGrid's plug-ins: governors of processors, and energy where activities are suspended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance import ada, attempt, bob, returns, scenario
from naming import raises_naming
from xml_zones import zone_xml

from simplugin.core.errors import SimpluginError
from simplugin.simulation import SimGridOptions

IDLE, BUSY = 10.0, 100.0  # W
FAST, SLOW = 1e9, 2.5e8  # flop/s
LINEAR, DVFS = SimGridOptions.linear(), {"plugin": "host_dvfs"}
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
        options=replace(LINEAR, extra=DVFS | {"plugin/dvfs/governor": governor}),
    )


scenario(
    "governors-of-the-blocked",
    ada(attempt, lambda me: me.mailbox("nobody writes").get()),
    platform=THROTTLED,
    wrong={"error": "DeadlockError", "clock": 0.0},
    options=replace(LINEAR, extra=DVFS),
)


@returns([BUSY + IDLE, 2 * BUSY + IDLE], platform=WATTS, energy=[2 * BUSY + IDLE])
async def interrupt(me: Any) -> list[float]:
    execution = me.exec_async(2e9)
    await me.sleep_for(1.0)
    execution.suspend()
    await me.sleep_for(1.0)
    asleep = me.host.energy
    execution.resume()
    await execution
    return [asleep, me.host.energy]


async def forget(me: Any) -> None:
    await me.sleep_for(1.0)
    me.mailbox("box").put_detached(None, 1e6)


@returns(IDLE + BUSY, on=bob, beside=[ada(forget)], platform=LINK, energy=[0.0, 0.0])
async def energy_of_a_detached_put(me: Any) -> float:
    await me.mailbox("box").get()
    return float(me.link_by_name("ab").energy)


# ---- load ---------------------------------------------------------------------------------------

loaded = replace(LINEAR, extra={"plugin": "host_load,link_load"})
THREE_SPEEDS = LINK.replace('id="ada" speed="1Gf"', 'id="ada" speed="100Mf,50Mf,20Mf" core="4"')


# The figures of SimGrid's example plugin-host-load: of 4.8e9 flop that were possible, 2e8 are done.
@returns(
    [[0.0, 0.0], [2e8 / 4.8e9, 2e8], [3e8 / 5.2e9, 3e8], [0.0, 0.0], 20.0],
    platform=THREE_SPEEDS,
    options=loaded,
)
async def figures_of_a_host(me: Any) -> list[Any]:
    host, seen = me.host, []

    def look() -> None:
        seen.append([host.figures[name] for name in ("average_load", "flops")])

    await me.sleep_for(10.0)
    look()
    execution = me.exec_async(2e8)
    await me.sleep_for(0.5)
    host.pstate = 2
    await execution
    look()
    host.pstate = 1
    await me.execute(1e8)
    look()
    host.reset_figures()
    look()
    return [*seen, me.now]


@returns(
    [[1e6, 1e6, 5e5, 0.0, 1e6], [5e5, 1e6, 1e6, 1e6]],
    platform=LINK,
    options=loaded,
)
async def figures_of_a_link(me: Any) -> list[Any]:
    link, names = me.link_by_name("ab"), ("bytes", "average_load", "least_load", "most_load")
    await me.sleep_for(1.0)
    transfer = me.sendto_async("ada", "bob", 2e6)
    await me.sleep_for(1.0)
    seen = [link.load, *(link.figures[name] for name in names)]
    link.reset_figures()
    await me.sleep_for(0.5)
    again = [link.figures[name] for name in names]
    await transfer
    return [seen, again]


@returns(None, options=SimGridOptions(cpu_optim="TI"), platform=WATTS)
async def loads_that_are_unknown(me: Any) -> None:
    with raises_naming(SimpluginError, "cpu/optim"):
        _ = me.host.load
    with raises_naming(SimpluginError, "host_load"):
        _ = me.host.figures
