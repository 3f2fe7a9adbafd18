"""A file that goes from host to host in pieces: SimGrid's ``app-chainsend``."""

from pathlib import Path

from simplugin import simulate

PIECE, BUILD, HEADER = 65536, 40, 1


async def broadcaster(me, hosts, pieces):
    names = [f"node-{number}.simgrid.org" for number in range(1, hosts + 1)]
    for name, following in zip(names, [*names[1:], None], strict=True):
        await me.mailbox(name).put((following, pieces), BUILD)
    first = me.mailbox(names[0])
    await me.wait_all([first.put_async(None, HEADER + PIECE) for _ in range(pieces)])


async def peer(me):
    start, box = me.now, me.mailbox(me.host.name)
    following, pieces = await box.get()
    sends = []
    for _ in range(pieces):
        piece = await box.get()
        if following is not None:
            sends.append(me.mailbox(following).put_async(piece, HEADER + PIECE))
    await me.wait_all(sends)

    duration, received = me.now - start, pieces * PIECE
    me.log(
        f"### {duration:f} {received} bytes (Avg {received / 1024 / 1024 / duration:f} MB/s);"
        " copy finished (simulated)."
    )


def main(examples: Path, platform: str):
    peers = [(f"node-{number}.simgrid.org", peer) for number in range(1, 9)]
    result = simulate(platform, [("node-0.simgrid.org", broadcaster, 8, 256), *peers])
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:e}")
