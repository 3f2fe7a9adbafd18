"""Stations of a Wi-Fi zone at different rates: SimGrid's ``network-wifi``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def sender(me, level):
    me.link_by_name("AP1").set_host_wifi_rate(me.host, level)
    me.log("Send a message to the other station.")
    await me.mailbox("mailbox").put("message", 1e7)
    me.log("Done.")


async def receiver(me, level):
    me.link_by_name("AP1").set_host_wifi_rate(me.host, level)
    me.log("Wait for a message.")
    await me.mailbox("mailbox").get()
    me.log("Done.")


def main(examples: Path, platform: str):
    actors = [("Station 1", sender, 1), ("Station 2", receiver, 0)]
    simulate(platform, actors, options=SimGridOptions(network_model="CM02"))
