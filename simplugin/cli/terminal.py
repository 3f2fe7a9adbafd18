"""Messages, paths, signals and errors of the command on a terminal."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer
from typer.core import TyperGroup

from simplugin.core.errors import SimpluginError, shortened
from simplugin.core.formatting import EscapingStream

if TYPE_CHECKING:
    from simplugin.platforms import Platform

_INTERRUPTED = 130
# A shell's status of a command that a signal ended is this and the signal's number.
BY_SIGNAL = 128
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what simplugin raises into one message and exit status 1."""
    try:
        yield
        sys.stdout.flush()
    except SimpluginError as error:
        typer.echo(f"simplugin: {shortened(str(error))}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("simplugin: interrupted", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output closed it; Python must not report that at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.echo(
            "simplugin: standard output was closed before all was written; read it to its end, or"
            " write it to a file with > FILE",
            err=True,
        )
        raise typer.Exit(1) from None
    except (OSError, UnicodeError, RecursionError) as error:
        # A path or text that the system, or a file, cannot hold.
        typer.echo(f"simplugin: {type(error).__name__}: {shortened(str(error))}", err=True)
        raise typer.Exit(1) from None


class Commands(TyperGroup):
    """Commands whose errors end in one message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names; what is printed cannot steer the terminal."""
        ctx.color = True  # or click leaves out what is to be shown escaped
        with escaped_streams(), plain_errors():
            return super().invoke(ctx)


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Have what is written to standard output and standard error escaped."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast("TextIO", each if isinstance(each, EscapingStream) else EscapingStream(each))
        for each in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def document_stream() -> TextIO:
    """Return standard output for XML or CSV: as it is, unless a terminal shows it."""
    stream: TextIO | EscapingStream = sys.stdout
    if isinstance(stream, EscapingStream) and not stream.isatty():
        return stream.stream
    return sys.stdout


def group(text: str, **more: Any) -> typer.Typer:
    """Return a group of commands, which shows its help if none is named."""
    return typer.Typer(cls=Commands, help=text, no_args_is_help=True, add_completion=False, **more)


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Keep the numbers of the signals that ask to stop, instead of dying of them.

    A signal that is ignored stays so: shells have programs in the background ignore Ctrl-C, and
    nohup has them ignore the end of the terminal.
    """
    stopped: list[int] = []

    def keep(number: int, _: FrameType | None) -> None:
        stopped.append(number)

    previous = {
        each: signal.signal(each, keep)
        for each in _SIGNALS
        if signal.getsignal(each) != signal.SIG_IGN
    }
    try:
        yield stopped
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)


def short(path: Path) -> str:
    """Return a path as seen from here, if it is below."""
    resolved = Path(os.path.realpath(path))  # also in circles of links
    here = Path.cwd()
    return str(resolved.relative_to(here) if resolved.is_relative_to(here) else resolved)


def warn_of_network(store: Path) -> None:
    """Warn on standard error if a store is on a network file system."""
    from simplugin.campaigns.store.schema import network_file_system

    if (kind := network_file_system(store)) is not None:
        sys.stderr.write(
            f"simplugin: {short(store)} is on a network file system ({kind}), on which SQLite may"
            f" lose or damage it; keep it on a disk of this host\n"
        )


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
    """Write a platform to a file, or print it; its first comment is the command."""
    from simplugin.formats.platform_xml import platform_text, write_platform
    from simplugin.platforms.consistency import require_consistent

    if output is not None:
        write_platform(platform, output, comment=own_command())
        return
    require_consistent(platform)
    document_stream().write(platform_text(platform, comment=own_command()))
