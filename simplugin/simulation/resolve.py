"""What SimGrid makes of a platform: its hosts, its links and the routes between hosts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.errors import CrashError, PlatformError, SetupError, WallClockLimitError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Platform

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

_PARSE_ERROR = re.compile(r"Parse error at (?P<file>.+?):(?P<line>\d+): (?P<message>.*)", re.DOTALL)
_LOG_PLACE = re.compile(r"^\[ *[\d.]+\] (?:\S+:\d+: )?\[[^\]]*\] ")


@dataclass(frozen=True, slots=True)
class ResolvedHost:
    """A host as SimGrid has it.

    Attributes
    ----------
    name : str
        Its name.
    speed : float
        Of each core in the power state it starts in [flop/s].
    cores : int
        How many cores it has.
    speeds : tuple of float
        Of each core in each power state [flop/s].
    properties : mapping of str to str
        Its properties.
    """

    name: str
    speed: float
    cores: int
    speeds: tuple[float, ...]
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link as SimGrid has it; a split-duplex link is two of them.

    Attributes
    ----------
    name : str
        Its name.
    bandwidth : float
        What it carries at most [byte/s].
    latency : float
        How long a byte takes through it [s].
    sharing_policy : str
        ``SHARED``, ``FATPIPE`` or ``WIFI``.
    properties : mapping of str to str
        Its properties.
    """

    name: str
    bandwidth: float
    latency: float
    sharing_policy: str
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ResolvedRoute:
    """The way from a host to another.

    Attributes
    ----------
    source, destination : str
        The hosts.
    links : tuple of str
        Names of the links, in the order in which they are passed.
    latency : float
        Of the whole way [s].
    """

    source: str
    destination: str
    links: tuple[str, ...]
    latency: float


@dataclass(frozen=True, slots=True)
class ResolvedPlatform:
    """A platform as SimGrid has it.

    Attributes
    ----------
    hosts : tuple of ResolvedHost
        All hosts, by name.
    links : tuple of ResolvedLink
        All links, by name; SimGrid's own loopback link left out.
    routes : tuple of ResolvedRoute
        Of the pairs asked for, in their order.
    unreachable : tuple of (source, destination, reason)
        The pairs asked for that have no route, and what SimGrid says about it.
    """

    hosts: tuple[ResolvedHost, ...]
    links: tuple[ResolvedLink, ...]
    routes: tuple[ResolvedRoute, ...] = ()
    unreachable: tuple[tuple[str, str, str], ...] = ()


def resolve(
    platform: Platform | str | os.PathLike[str],
    pairs: Iterable[tuple[str, str]] | int = (),
    *,
    options: Sequence[str] = (),
    wall_limit: float = 600.0,
) -> ResolvedPlatform:
    """Ask SimGrid itself, in a child process, what a platform comes to.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    pairs : iterable of (source, destination), or int
        Hosts to give the routes between; a number for as many pairs, spread evenly over all,
        or all if there are no more.
    options : sequence of str
        SimGrid command-line options, for instance ``--cfg=network/model:CM02``.
    wall_limit : float
        How long SimGrid may take [s of real time].

    Returns
    -------
    ResolvedPlatform
        Hosts, links, and the routes asked for.

    Raises
    ------
    PlatformError
        SimGrid refuses the platform; with SimGrid's own message, and file and line where it
        gives them.
    CrashError
        SimGrid crashed without a word.
    SetupError
        SimGrid's Python bindings cannot be imported.
    WallClockLimitError
        SimGrid took too long.
    """
    question = {
        "options": list(options),
        "pairs": pairs if isinstance(pairs, int) else [list(pair) for pair in pairs],
    }
    return _resolved(ask(platform, question, wall_limit))


def ask(
    platform: Platform | str | os.PathLike[str], question: dict[str, Any], wall_limit: float
) -> dict[str, Any]:
    """Ask the child process about a platform or its file; raise as `resolve` does."""
    if not isinstance(platform, Platform):
        return _said({**question, "file": str(Path(platform).absolute())}, wall_limit)
    with tempfile.TemporaryDirectory(prefix="simplugin-") as directory:
        path = Path(directory) / "platform.xml"
        write_platform(platform, path)
        return _said({**question, "file": str(path)}, wall_limit)


def _said(question: dict[str, Any], wall_limit: float) -> dict[str, Any]:
    """Run the child and return what it says."""
    # As a script, since it needs SimGrid and nothing of this package.
    command = [sys.executable, "-P", str(Path(__file__).with_name("resolve_child.py"))]
    with tempfile.TemporaryFile() as stderr:
        try:
            done = subprocess.run(
                command,
                input=json.dumps(question).encode(),
                stdout=subprocess.PIPE,
                stderr=stderr,
                timeout=wall_limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            error = WallClockLimitError(f"SimGrid took more than {wall_limit:g} s to load it")
            error.limit = wall_limit
            raise error from None
        stderr.seek(0)
        said = stderr.read().decode(errors="replace")
    if done.returncode != 0 or not done.stdout:
        raise _crash(question["file"], done.returncode, said)
    said_back: dict[str, Any] = json.loads(done.stdout)
    if "setup" in said_back:
        raise SetupError(said_back["setup"])
    if "refused" in said_back:
        raise _refusal(question["file"], said_back["refused"])
    return said_back


def _resolved(answer: dict[str, Any]) -> ResolvedPlatform:
    """Build the data classes from the child's answer."""
    return ResolvedPlatform(
        tuple(
            ResolvedHost(name, speed, cores, tuple(speeds), properties)
            for name, speed, cores, speeds, properties in answer["hosts"]
        ),
        tuple(ResolvedLink(*link) for link in answer["links"]),
        tuple(
            ResolvedRoute(source, destination, tuple(links), latency)
            for source, destination, links, latency in answer["routes"]
        ),
        tuple((source, destination, reason) for source, destination, reason in answer["lost"]),
    )


def _refusal(file: str, message: str) -> PlatformError:
    """Return SimGrid's objection with file and line where it gives them."""
    match = _PARSE_ERROR.fullmatch(message.strip())
    if match is None:
        return PlatformError(f"SimGrid refuses it: {message.strip()}", file=file)
    return PlatformError(
        f"SimGrid refuses it: {match['message'].strip()}",
        file=match["file"],
        line=int(match["line"]),
    )


def _crash(file: str, code: int, said: str) -> PlatformError | CrashError:
    """Return what an aborted child meant."""
    for line in said.splitlines():
        if "/CRITICAL]" in line:
            return _refusal(file, _LOG_PLACE.sub("", line))
    error = CrashError(f"SimGrid crashed while loading {file}:\n{said[-2000:]}".rstrip())
    error.signal = -code if code < 0 else None
    error.exit_code = code if code >= 0 else None
    error.stderr = said[-10000:]
    return error
