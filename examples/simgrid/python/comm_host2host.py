"""Transfers between hosts on behalf of an actor elsewhere: SimGrid's ``comm-host2host``."""

from pathlib import Path

from simplugin import simulate

STEPS = {
    "python": (
        "After creation,",
        "One sec later,",
        "After c34.start(),",
        "After c12.wait(),",
        "After c34.wait(),",
    ),
    "cpp": (
        "After creation,  ",
        "One sec later,   ",
        "After c34->start,",
        "After c12->wait, ",
        "After c34->wait, ",
    ),
}


async def sender(me, steps, h1, h2, h3, h4):
    def tell():
        c12_state, c34_state = (
            f"{comm.state} (remaining: {comm.remaining:.2e} bytes)" for comm in (c12, c34)
        )
        me.log(f"{next(steps)} c12 is {c12_state}; c34 is {c34_state}")

    me.log(f"Send c12 with sendto_async({h1} -> {h2}), and c34 with sendto_init({h3} -> {h4})")
    c12 = me.sendto_async(h1, h2, 1.5e7)
    c34 = me.sendto_init(h3, h4, 1e7)
    me.sendto_init(h1, h2, 10000).detach()
    tell()
    await me.sleep_for(1)
    tell()
    c34.start()
    tell()
    await c12
    tell()
    await c34
    tell()
    await me.sendto_init(h1, h4, 100)


def main(examples: Path, platform: str, *, language: str):
    steps = iter(STEPS[language])
    actor = ("Boivin", sender, steps, "Tremblay", "Jupiter", "Fafard", "Ginette")
    result = simulate(platform, [actor])
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:.3f}")
