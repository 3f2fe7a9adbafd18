"""A message between two stations of a Wi-Fi zone: SimGrid's ``energy-wifi``."""

from pathlib import Path

from simplugin import Placement, SimGridOptions, simulate


async def sender(me, receiver):
    me.link_by_name("AP1").set_host_wifi_rate(me.host, 0)
    await me.sleep_until(5)
    size = 6750000
    me.log(f"SENDING 1 msg of size {size} to {receiver}")
    await me.mailbox(receiver).put("message", size)
    me.log("finished sending")


async def receiver(me, name):
    me.link_by_name("AP1").set_host_wifi_rate(me.host, 0)
    me.log(f"RECEIVING on mb {name}")
    await me.mailbox(name).get()
    me.log("received all messages")


def main(examples: Path, platform: str):
    actors = [
        Placement("Station 1", sender, ("MailBoxRCV",), name="act0"),
        Placement("Station 2", receiver, ("MailBoxRCV",), name="act1"),
    ]
    options = SimGridOptions(
        network_model="CM02", crosstraffic=False, extra={"plugin": "link_energy_wifi"}
    )
    simulate(platform, actors, options=options)
