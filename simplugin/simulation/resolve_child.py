"""What a simulation's process says about a platform instead of simulating; see `resolve`."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

from simplugin.errors import SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.failures import platform_error
from simplugin.simulation.protocol import Settings


def answer(settings: Settings) -> dict[str, Any]:
    """Load the platform and look at it.

    Raises
    ------
    PlatformError
        SimGrid refuses an option or the platform.
    """
    question = settings.question or {}
    try:
        _driver.setup(settings.arguments, 0, False, 0)
        begin, before = time.perf_counter(), _largest_memory()
        _driver.load_platform(settings.platform)
        _driver.seal()
    except Exception as error:
        raise platform_error(str(error), settings.platform) from None
    found: dict[str, Any] = {
        "seconds": time.perf_counter() - begin,
        "memory": _largest_memory() - before,
        "routes": [],
        "lost": [],
    }
    hosts = {host.name: host for host in _driver.hosts()}
    names = sorted(hosts)
    end = time.monotonic() + question["limit"]
    for source, destination in _pairs(names, question["pairs"]):
        if time.monotonic() > end:
            break
        try:
            links, latency = _driver.route(source, destination)
        except SimpluginError as error:
            found["lost"].append((source, destination, str(error)))
            continue
        passed = tuple(link.name for link in links)
        found["routes"].append((source, destination, passed, latency))
    links = [link for link in _driver.links() if link.name != "__loopback__"]
    if question["described"]:
        found["hosts"] = [_host(hosts[name]) for name in names]
        found["links"] = sorted(map(_link, links))
    else:
        found["hosts"] = [(host.cores, host.speed) for host in hosts.values()]
        found["links"] = [link.sharing_policy for link in links]
    return found


def _largest_memory() -> float:
    """Return the most memory that this process had so far [byte]."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _host(host: Any) -> tuple[Any, ...]:
    """Describe a host."""
    speeds = tuple(host.pstate_speed(state) for state in range(host.pstate_count))
    return host.name, host.speed, host.cores, speeds, host.properties


def _link(link: Any) -> tuple[Any, ...]:
    """Describe a link."""
    return link.name, link.bandwidth, link.latency, link.sharing_policy, link.properties


def _pairs(names: list[str], wanted: list[tuple[str, str]] | int) -> list[tuple[str, str]]:
    """Return the pairs asked for, or so many spread evenly over all."""
    if not isinstance(wanted, int):
        return wanted
    count = len(names)
    total = count * (count - 1)
    if total <= wanted:
        return list(itertools.permutations(names, 2))
    chosen = []
    for index in range(wanted):
        source, offset = divmod(index * total // wanted, count - 1)
        chosen.append((names[source], names[offset + (offset >= source)]))
    return chosen
