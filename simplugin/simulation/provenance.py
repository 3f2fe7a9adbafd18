"""What makes a simulation what it is, so that it can be had again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError, SimpluginError
from simplugin.simulation.canonical import digest
from simplugin.simulation.protocol import ActorJob

# What `repr` writes to the last bit.
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
# Attributes of hosts, links, clusters and traces that name a profile file.
_PROFILE_FILE = re.compile(rb"""\b(?:\w+_file|file)\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)')""")


def platform_hash(platform: str) -> str:
    """Return the SHA-256 of a platform file and of the profile files that it names.

    Raises
    ------
    PlatformError
        It cannot be read.
    """
    path = Path(platform)
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise PlatformError(f"cannot be read: {reason}", file=platform) from error
    total = sha256(content)
    for match in _PROFILE_FILE.finditer(content):
        profile = path.parent / (match[1] or match[2]).decode("utf-8", "replace")
        try:
            total.update(b"\0" + profile.read_bytes())
        except OSError:  # SimGrid looks in other places too, and says so if it finds nothing
            total.update(b"\0missing")
    return total.hexdigest()


def content_hash(
    platform_sha256: str, actors: Sequence[ActorJob], choices: dict[str, Any]
) -> str | None:
    """Return the SHA-256 of everything that determines the outcome.

    Functions count by their byte code, defaults and closures, not by what they call. None if a
    function or an argument has no canonical bytes.
    """
    total = sha256(repr((platform_sha256, sorted(choices.items()))).encode())
    functions: dict[int, str] = {}
    try:
        for each in actors:
            if id(each.function) not in functions:
                functions[id(each.function)] = digest(each.function)
            total.update(_actor_text(each, functions[id(each.function)]).encode())
    except (SimpluginError, RecursionError):
        return None
    return total.hexdigest()


def _actor_text(actor: ActorJob, function: str) -> str:
    """Write an actor down; its arguments by their digest, unless they are plain."""
    plain = all(type(argument) in _PLAIN for argument in actor.args)
    return repr(
        (
            function,
            actor.args if plain else digest(actor.args),
            actor.host,
            actor.name,
            actor.start_time,
            actor.kill_time,
            actor.restart,
            actor.daemon,
            sorted(actor.properties.items()),
        )
    )


def simplugin_version() -> str:
    """Return this package's version; "unknown" if it runs without having been installed."""
    try:
        return version("simplugin")
    except PackageNotFoundError:
        return "unknown"
