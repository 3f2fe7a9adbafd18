"""Load of links as measured by a plug-in: SimGrid's ``plugin-link-load``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def sender(me, box, size):
    await me.mailbox(box).put(42, size)


async def receiver(me, box):
    await me.mailbox(box).get()


async def load_test(me):
    for box, pause in (("1", 1), ("2", 10), ("3", 3)):
        await me.sleep_for(pause)
        size = 1_000_000_000
        me.log(f"Launching the transfer of {size} bytes")
        me.spawn(sender, box, size, host="node-0.simgrid.org")
        me.spawn(receiver, box, host="node-1.simgrid.org")


async def monitor(me):
    def tell(name, link):
        figures = link.figures
        loads = [figures[f"{which}_load"] for which in ("average", "least", "most")]
        numbers = ", ".join(f"{number:g}" for number in (figures["bytes"], *loads))
        me.log(f"{name} link load (cum, avg, min, max): ({numbers})")

    backbone = me.link_by_name("cluster0_backbone")
    links = {
        "Host0_UP": me.link_by_name("cluster0_link_0_UP"),
        "Host1_UP": me.link_by_name("cluster0_link_1_DOWN"),
    }
    me.log("Tracking desired links")
    tell("Backbone", backbone)
    while me.now < 5:
        await me.sleep_for(1)
        tell("Backbone", backbone)
    me.log("Untracking the backbone link")
    for name, link in links.items():
        tell(name, link)

    me.log("Now resetting and probing host links each second.")
    while me.now < 29:
        for link in links.values():
            link.reset_figures()
        await me.sleep_for(1)
        for name, link in links.items():
            tell(name, link)


def main(examples: Path, platform: str):
    result = simulate(
        platform,
        [("node-42.simgrid.org", load_test), ("node-51.simgrid.org", monitor)],
        options=SimGridOptions(extra={"plugin": "link_load"}),
    )
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:.2f}")
