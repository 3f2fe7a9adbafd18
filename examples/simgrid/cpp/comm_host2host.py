"""Transfers between hosts on behalf of an actor elsewhere: SimGrid's ``comm-host2host``."""

from pathlib import Path

from simplugin import simulate


def describe(comm):
    return f"{comm.state} (remaining: {comm.remaining:.2e} bytes)" if comm else "not started"


async def sender(me, h1, h2, h3, h4):
    def tell(when, c34):
        me.log(f"{when}c12 is {describe(c12)}; c34 is {describe(c34)}")

    me.log(f"Send c12 with sendto_async({h1} -> {h2}), and c34 with sendto_init({h3} -> {h4})")
    c12 = me.sendto_async(h1, h2, 1.5e7)
    me.sendto_async(h1, h2, 10000)
    tell("After creation,  ", None)
    await me.sleep_for(1)
    tell("One sec later,   ", None)
    c34 = me.sendto_async(h3, h4, 1e7)
    tell("After c34->start,", c34)
    await c12
    tell("After c12->wait, ", c34)
    await c34
    tell("After c34->wait, ", c34)
    await me.sendto(h1, h4, 100)


def main(examples: Path, platform: str):
    actor = ("Boivin", sender, "Tremblay", "Jupiter", "Fafard", "Ginette")
    result = simulate(platform, [actor])
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:.3f}")
