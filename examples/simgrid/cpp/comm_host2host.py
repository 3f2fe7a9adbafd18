"""Transfers between hosts on behalf of an actor elsewhere: SimGrid's ``comm-host2host``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, h1, h2, h3, h4):
    def tell(when):
        c12_state, c34_state = (
            f"{comm.state} (remaining: {comm.remaining:.2e} bytes)" for comm in (c12, c34)
        )
        me.log(f"{when}c12 is {c12_state}; c34 is {c34_state}")

    me.log(f"Send c12 with sendto_async({h1} -> {h2}), and c34 with sendto_init({h3} -> {h4})")
    c12 = me.sendto_async(h1, h2, 1.5e7)
    c34 = me.sendto_init(h3, h4, 1e7)
    me.sendto_init(h1, h2, 10000).detach()
    tell("After creation,  ")
    await me.sleep_for(1)
    tell("One sec later,   ")
    c34.start()
    tell("After c34->start,")
    await c12
    tell("After c12->wait, ")
    await c34
    tell("After c34->wait, ")
    await me.sendto_init(h1, h4, 100)


def main(examples: Path, platform: str):
    actor = ("Boivin", sender, "Tremblay", "Jupiter", "Fafard", "Ginette")
    result = simulate(platform, [actor])
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:.3f}")
