"""The child process of `resolve`: one engine, one platform, one answer on standard output."""

from __future__ import annotations

import itertools
import json
import locale
import math
import os
import sys
import time
from typing import Any


def main() -> None:
    """Read a question from standard input, answer it on standard output."""
    question = json.load(sys.stdin)
    # SimGrid compares names and reads numbers by the rules of the locale.
    locale.setlocale(locale.LC_ALL, "C")
    # Whatever SimGrid prints must not end up in the answer.
    answer_to = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    json.dump(_answer(question), answer_to)
    answer_to.close()
    # SimGrid's exit handlers may report actors that never ran.
    os._exit(0)


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """Load the platform and look at it."""
    try:
        from simplugin.simulation.threads import simgrid
    except ImportError as error:
        message = f"SimGrid's Python bindings cannot be imported ({error}); run: make install"
        return {"setup": message}
    # A platform file may ask for a trace of the simulation; there is none, so write no file.
    quiet = ["--log=root.thresh:critical", "--cfg=tracing:no"]
    arguments = ["resolve", *quiet, *question["options"]]
    try:
        engine = simgrid.Engine(arguments)
        begin, before = time.perf_counter(), _largest_memory()
        engine.load_platform(question["file"])
        # Routing tables are complete only once the zones are sealed, which running would do.
        engine.netzone_root.seal()
    except Exception as error:  # the bindings turn C++ exceptions into many Python ones
        return {"refused": str(error)}
    seconds, memory = time.perf_counter() - begin, _largest_memory() - before
    hosts = {host.name: host for host in engine.all_hosts}
    names = sorted(hosts)
    pairs = _pairs(names, question["pairs"])
    routes, lost = _routes(hosts, pairs, question.get("limit", math.inf))
    links = [link for link in engine.all_links if link.name != "__loopback__"]
    answer = {"seconds": seconds, "memory": memory, "routes": routes, "lost": lost}
    if question["described"]:
        answer["hosts"] = [_host(hosts[name]) for name in names]
        answer["links"] = sorted(map(_link, links))
    else:
        answer["hosts"] = [(host.core_count, host.speed) for host in hosts.values()]
        answer["links"] = [link.get_sharing_policy().name for link in links]
    return answer


def _largest_memory() -> float:
    """Return the most memory that this process had so far [byte]."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _host(host: Any) -> list[Any]:
    """Describe a host."""
    speeds = [host.pstate_speed(state) for state in range(host.pstate_count)]
    return [host.name, host.speed, host.core_count, speeds, dict(host.get_properties())]


def _link(link: Any) -> list[Any]:
    """Describe a link."""
    policy, properties = link.get_sharing_policy().name, dict(link.get_properties())
    return [link.name, link.bandwidth, link.latency, policy, properties]


def _pairs(names: list[str], wanted: list[list[str]] | int) -> list[list[str]]:
    """Return the pairs asked for, or so many spread evenly over all."""
    if not isinstance(wanted, int):
        return wanted
    count = len(names)
    total = count * (count - 1)
    if total <= wanted:
        return [list(pair) for pair in itertools.permutations(names, 2)]
    chosen = []
    for index in range(wanted):
        source, offset = divmod(index * total // wanted, count - 1)
        chosen.append([names[source], names[offset + (offset >= source)]])
    return chosen


def _routes(
    hosts: dict[str, Any], pairs: list[list[str]], limit: float
) -> tuple[list[Any], list[Any]]:
    """Resolve routes, for so many seconds at most.

    Each abort costs a process that is forked for the rest of the pairs.
    """
    routes: list[Any] = []
    lost: list[Any] = []
    end = time.monotonic() + limit
    at = 0
    while at < len(pairs):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w", encoding="utf-8") as stream:
                for source, destination in pairs[at:]:
                    if time.monotonic() > end:
                        break
                    json.dump(_route(hosts, source, destination), stream)
                    stream.write("\n")
                    stream.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as stream:
            for line in stream:
                links, latency, reason = json.loads(line)
                if reason is None:
                    routes.append([*pairs[at], links, latency])
                else:
                    lost.append([*pairs[at], reason])
                at += 1
        _, status = os.waitpid(child, 0)
        if status == 0:
            break  # all pairs, or as many as there was time for
        if at < len(pairs):
            lost.append([*pairs[at], "SimGrid aborts when asked for this route"])
            at += 1
    return routes, lost


def _route(hosts: dict[str, Any], source: str, destination: str) -> list[Any]:
    """Resolve one route: its links, its latency, or why there is none."""
    try:
        links, latency = hosts[source].route_to(hosts[destination])
    except KeyError as error:
        return [[], 0.0, f"there is no host {error}"]
    except Exception as error:  # the bindings turn C++ exceptions into many Python ones
        return [[], 0.0, str(error)]
    if not links and latency <= 0:
        return [[], 0.0, "there is no link between them"]
    return [[link.name for link in links], latency, None]


if __name__ == "__main__":
    main()
