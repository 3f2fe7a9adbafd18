"""A small message and a large one back, in several models: SimGrid's ``comm-pingpong``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def pinger(me, inbox, outbox):
    me.log(f"Ping from mailbox {inbox} to mailbox {outbox}")
    await me.mailbox(outbox).put(me.now, 1)

    sent = await me.mailbox(inbox).get()
    me.log("Payload received : large communication (bandwidth bound)")
    me.log(f"Pong time (bandwidth bound): {me.now - sent:.3f}")


async def ponger(me, inbox, outbox, digits):
    me.log(f"Pong from mailbox {inbox} to mailbox {outbox}")
    sent = await me.mailbox(inbox).get()
    me.log("Payload received : small communication (latency bound)")
    me.log(f"Ping time (latency bound) {me.now - sent:.{digits}f}")

    me.log(f"payload = {me.now:.3f}")
    await me.mailbox(outbox).put(me.now, 1e9)


def main(examples: Path, platform: str, *_: str, settings: dict[str, str], language: str):
    one, two = "Mailbox 1", "Mailbox 2"
    result = simulate(
        platform,
        [
            ("Tremblay", pinger, one, two),
            ("Jupiter", ponger, two, one, 3 if language == "python" else 6),
        ],
        options=SimGridOptions(
            cpu_model=settings.get("cpu/model"),
            network_model=settings.get("network/model"),
            network_optim=settings.get("network/optim"),
        ),
    )
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:.3f}")
