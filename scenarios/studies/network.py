"""A link between two hosts, and transfer times as a ping-pong program measures them.

    python scenarios/studies/network.py > scenarios/studies/network.csv

The times follow from known parameters, with a relative error of 3 % (standard deviation) each.
"""

import random

from simplugin.platforms import Host, Link, LinkUse, Platform, Route, Zone

LATENCY, BANDWIDTH = 60e-6, 125e6
# Beyond this size [byte] a message waits for its receiver, as in MPI.
LARGE = 65536
LATENCY_FACTORS, BANDWIDTH_FACTORS = (1.0, 4.0), (0.55, 0.93)
SIZES = [1, 16, 100, 500, 1000, 2000, 4000, 8000, 12000, 20000, 30000, 40000, 60000]
SIZES += [70000, 80000, 100000, 150000, 250000, 500000, 1000000, 2000000, 4000000, 16000000]


def link(latency=LATENCY, bandwidth=BANDWIDTH):
    """Return two hosts and a link; units are s and byte/s."""
    elements = (Host("a", 1e9), Host("b", 1e9), Link("link", bandwidth, latency))
    return Platform((Zone("pair", "Full", elements, (Route("a", "b", (LinkUse("link"),)),)),))


async def send(me, size):
    """Send a message of some bytes."""
    await me.mailbox("b").put(None, size)


async def receive(me):
    """Receive it."""
    await me.mailbox("b").get()


def duration(size):
    """Return the transfer time with the known parameters [s]."""
    large = size > LARGE
    return LATENCY * LATENCY_FACTORS[large] + size / (BANDWIDTH * BANDWIDTH_FACTORS[large])


def main(seed=0):
    """Print the table."""
    draws = random.Random(seed)
    print("bytes,seconds")
    for size in SIZES:
        print(f"{size},{duration(size) * (1 + draws.gauss(0, 0.03)):.4g}")


if __name__ == "__main__":
    main()
