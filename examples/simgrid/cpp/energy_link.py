"""The energy of a link: SimGrid's ``energy-link``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def sender(me, flows, size):
    me.log(f"Send {size} bytes, in {flows} flows")
    await me.sleep_for(10)
    await me.wait_all([me.mailbox("message").put_async(flow, size) for flow in range(flows)])
    me.log("sender done.")


async def receiver(me, flows):
    me.log(f"Receiving {flows} flows ...")
    await me.wait_all([me.mailbox("message").get_async() for _ in range(flows)])
    me.log("receiver done.")


def main(examples: Path, platform: str, flows: str = "1", size: str = "25000"):
    print("[0.000000] Activating the SimGrid link energy plugin")
    result = simulate(
        platform,
        [("MyHost1", sender, int(flows), int(size)), ("MyHost2", receiver, int(flows))],
        options=SimGridOptions(network_model="CM02", crosstraffic=False),
        energy=True,
    )
    links = dict(zip(result.links.name, result.links.energy, strict=True))
    print(f"[{result.clock:.6f}] Total energy over all links: {sum(links.values()):f}")
    print(f"[{result.clock:.6f}] Energy consumption of link 'bus': {links['bus']:f} Joules")
