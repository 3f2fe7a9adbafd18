"""What the commands that make a platform have in common: the command as text, and where it goes."""

from __future__ import annotations

import gc
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from simplugin.platforms import Platform


def own_command() -> str:
    r"""Return the command line by which this was started, for a comment in what it writes.

    XML comments must not hold two hyphens. The shell reads ``-\-site`` as ``--site``, so that the
    command can still be copied.
    """
    return " ".join(map(_word, ["simplugin", *sys.argv[1:]]))


def _word(argument: str) -> str:
    """Write an argument for the shell without two hyphens in a row."""
    word = shlex.quote(argument)
    return re.sub("-(?=-)", "-''" if word.startswith("'") else r"-\\", word)


def put(platform: Platform, output: Path | None) -> None:
    """Write a platform to a file, or print it; the command stands in its first comment."""
    from simplugin.formats.platform_xml import platform_text, write_platform
    from simplugin.platforms.consistency import require_consistent

    if output is not None:
        write_platform(platform, output, comment=own_command())
        return
    require_consistent(platform)
    typer.echo(platform_text(platform, comment=own_command()), nl=False)


@contextmanager
def uncollected() -> Iterator[None]:
    """Do something without the garbage collector, which would look at all parts again and again.

    It takes a sixth of the time of 100,000 hosts, and finds nothing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
