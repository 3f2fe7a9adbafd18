"""Reads and writes of disks; the platforms and dates of SimGrid's examples ``io-*``."""

from __future__ import annotations

from typing import Any

from conformance import ada, attempt, bob, returns, scenario, tried
from worlds import READ, WRITE
from xml_zones import zone_xml

from simplugin.simulation import Callbacks

DISKS = zone_xml("""
    <host id="ada" speed="1Gf">
      <disk id="Disk2" read_bw="200MBps" write_bw="80MBps"/>
      <disk id="Disk1" read_bw="100MBps" write_bw="40MBps"><prop id="size" value="500GiB"/></disk>
    </host>
    <host id="bob" speed="1Gf"><disk id="Disk1" read_bw="200MBps" write_bw="80MBps"/></host>
    <host id="cyd" speed="1Gf"/>
    <link id="ab" bandwidth="1MBps" latency="0"/>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


# io-disk-raw
@returns(
    [[("Disk1", 1e8, 4e7), ("Disk2", 2e8, 8e7)], {"size": "500GiB"}, 0.01, 0.012, 0.022, 0.042],
    platform=DISKS,
)
async def disk_raw(me: Any) -> list[Any]:
    disks = me.host.disks
    seen: list[Any] = [[(each.name, each.read_bandwidth, each.write_bandwidth) for each in disks]]
    seen.append(disks[0].properties)
    for operation in (disks[0].write(4e5), disks[0].read(2e5), disks[1].write(8e5)):
        await operation
        seen.append(me.now)
    disks[0].write_bandwidth = 2e7
    await disks[0].write(400_000.9, label="slow")
    return [*seen, me.now]


@returns(
    [0.4, 0.4, 1.0],
    platform=DISKS,
    callbacks=Callbacks(
        disk_read_sharing={"ada:Disk1": lambda capacity, count: capacity / max(count, 1)},
        disk_write_sharing={"ada:Disk1": lambda capacity, _: capacity / 2},
    ),
)
async def nonlinear_sharing_of_disks(me: Any) -> list[Any]:
    disk = me.host.disks[0]
    operations = [disk.read_async(1e7), disk.read_async(1e7), disk.write_async(2e7)]
    await me.wait_all(operations)
    return [each.finish_time for each in operations]


# io-async
async def read_late(me: Any) -> Any:
    await me.sleep_for(0.2)
    return await tried(me, me.host.disks[0].read(2e7))


async def write_with_limit(me: Any) -> Any:
    write = me.host.disks[0].write_async(5e7)
    return await tried(me, write.wait(0.5), write)


async def change_my_mind(me: Any) -> Any:
    await me.sleep_for(0.5)
    write = me.host.disks[0].write_async(5e7)
    await me.sleep_for(0.5)
    write.cancel()
    return [write.state, await tried(me, write)]


async def monitor(me: Any) -> Any:
    await me.sleep_for(1)
    write = me.host.disks[0].write_async(5e7)
    dates = []
    while not write.test():
        dates.append(me.now)
        await me.sleep_for(0.2)
    return [*dates, me.now, write.finish_time]


scenario(
    "disk_async",
    ada(read_late, gives=(None, 0.4)),
    bob(write_with_limit, gives=("TimeoutException", 0.5, True, "STARTED")),
    bob(change_my_mind, gives=["CANCELED", ("CancelException", 1.0)]),
    bob(monitor, gives=[1.0, 1.2, 1.4, 1.6, 1.8, 1.625]),
    platform=DISKS,
    clock=1.8,
)


# io-priority: two thirds of the bandwidth go to the privileged one.
async def write_twice(me: Any) -> list[float]:
    disk, dates = me.host.disks[0], []
    for _ in range(2):
        await disk.write(4e6)
        dates.append(me.now)
    return dates


async def write_with_priority(me: Any) -> list[float]:
    disk = me.host.disks[0]
    await disk.write(4e6, priority=2)
    dates = [me.now]
    await me.sleep_for(0.05)
    write = disk.write_async(4e6)
    await me.sleep_for(0.1)
    dates += [me.now, write.remaining]
    write.priority = 2
    await write
    return [*dates, me.now]


scenario(
    "disk_priority",
    ada(write_twice, gives=[0.2, 0.4]),
    ada(write_with_priority, gives=[0.15, 0.3, 2e6, 0.375]),
    platform=DISKS,
)


scenario(
    "disk_with_priorities",
    *(
        ada(
            attempt,
            lambda me, priority=priority: me.host.disks[0].write(4e6, priority=priority),
            name=f"priority{priority}",
            gives=(None, end),
        )
        for priority, end in ((1, 0.2), (2, 0.15))
    ),
    platform=DISKS,
)


# Reads and writes together have the larger bandwidth: each half of it, until writes have less.
@returns([0.0, 3e6 / (READ - WRITE), 0.08 + 5e5 / READ])
async def disk_shared(me: Any) -> list[float]:
    disk = me.host.disks[0]
    await disk.read(0)
    dates = [me.now]
    operations = [disk.read_async(3e6), disk.write_async(3.2e6), disk.write_async(0)]
    await operations[0]
    dates.append(me.now)
    await me.wait_all(operations)
    await disk.read(5e5)
    return [*dates, me.now]


@returns([2e7 / WRITE, 1.5, 4e7 / WRITE + 1])
async def suspend_a_write(me: Any) -> list[float]:
    write = me.host.disks[0].write_async(4e7)
    await me.sleep_for(0.5)
    seen = [write.remaining / WRITE]
    write.suspend()
    await me.sleep_for(1)
    seen.append(me.now)
    write.resume()
    await write
    return [*seen, me.now]


# A C++ actor that waits for a disk that fails is killed.
async def fail(me: Any, switch: str) -> None:
    await me.sleep_for(0.5)
    ada = me.host_by_name("ada")
    failing = ada if switch == "host" else ada.disks[0]
    failing.turn_off()
    await me.sleep_for(0.5)
    failing.turn_on()


async def use_elsewhere(me: Any) -> list[Any]:
    disk = me.host_by_name("ada").disks[0]
    write = disk.write_async(4e7)
    seen = [await tried(me, write, write), disk.is_on, await tried(me, disk.read(1))]
    await me.sleep_for(1)
    return [*seen, disk.is_on, await tried(me, disk.write(4e7))]


for switch in ("disk", "host"):
    scenario(
        f"disk_failure_by_{switch}",
        bob(fail, switch),
        bob(
            use_elsewhere,
            gives=[
                ("StorageFailureException", 0.5, True, "FAILED"),
                *(False, ("StorageFailureException", 0.5), True, (None, 2.5)),
            ],
        ),
        platform=DISKS,
    )


async def come_after(me: Any) -> float:
    await me.sleep_for(0.5)
    await me.host.disks[0].write(4e7)
    return float(me.now)


# What an actor reads and writes ends with it.
@returns(None, beside=[ada(come_after, gives=1.5)], clock=1.5)
async def leave(me: Any) -> None:
    me.host.disks[0].write_async(1e9)
    await me.sleep_for(0.5)
