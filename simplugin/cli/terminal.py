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
from typer.core import TyperCommand, TyperGroup

from simplugin.core.errors import FileError, SimpluginError, shortened
from simplugin.core.formatting import EscapingStream
from simplugin.inputs.files import write

if TYPE_CHECKING:
    from simplugin.platforms import Platform

_INTERRUPTED = 130
# A shell's status of a command that a signal ended is this and the signal's number.
BY_SIGNAL = 128
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn an exception of simplugin into one message and exit status 1."""
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
            "simplugin: standard output was closed before the output was complete; read all of it,"
            " or redirect it to a file with > FILE",
            err=True,
        )
        raise typer.Exit(1) from None
    except (OSError, UnicodeError, RecursionError) as error:
        # A path or text that the operating system or a file cannot store.
        typer.echo(f"simplugin: {type(error).__name__}: {shortened(str(error))}", err=True)
        raise typer.Exit(1) from None


class _PlainHelp:
    """A command that shows ``--help`` without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option ``--help``."""
        option = super().get_help_option(ctx)  # type: ignore[misc] # of the command's class
        option.metavar = ""
        return option


class Command(_PlainHelp, TyperCommand):
    """A command."""


class Commands(_PlainHelp, TyperGroup):
    """A group of commands that turns errors into one message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names with escaped output."""
        ctx.color = True  # otherwise click removes sequences that are to be shown escaped
        with escaped_streams(), plain_errors():
            return super().invoke(ctx)


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Escape control characters in standard output and standard error."""
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
    """Return standard output for XML or CSV, escaped only if it is a terminal."""
    stream: TextIO | EscapingStream = sys.stdout
    if isinstance(stream, EscapingStream) and not stream.isatty():
        return stream.stream
    return sys.stdout


def group(text: str, name: str | None = None) -> typer.Typer:
    """Return a group of commands, which shows its help if the user names none."""
    return typer.Typer(
        name=name,
        cls=Commands,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        # An error ends in one message; a traceback is a defect of simplugin.
        pretty_exceptions_enable=False,
    )


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collect the numbers of stop signals instead of terminating.

    Signals that are ignored stay ignored: a shell sets Ctrl-C so for background programs, and
    nohup the hang-up of the terminal.
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


def relative_path(path: Path) -> str:
    """Return a path relative to the current directory if it is below, else absolute."""
    resolved = Path(os.path.realpath(path))  # also in circles of links
    here = Path.cwd()
    return str(resolved.relative_to(here) if resolved.is_relative_to(here) else resolved)


def warn_of_network(store: Path) -> None:
    """Warn on standard error if a store is on a network file system."""
    from simplugin.campaigns.store.schema import network_file_system

    if (kind := network_file_system(store)) is not None:
        sys.stderr.write(
            f"simplugin: {relative_path(store)} is on a network file system ({kind}), where SQLite"
            " can lose or damage it; move it to a local disk\n"
        )


def command_line() -> str:
    r"""Return the command line of this process for a comment in an XML file.

    XML comments must not contain two hyphens. The shell reads ``-\-site`` as ``--site``, so the
    command can still be copied.
    """
    return " ".join(map(_word, ["simplugin", *sys.argv[1:]]))


def _word(argument: str) -> str:
    """Write an argument for the shell without two hyphens in a row."""
    word = shlex.quote(argument)
    return re.sub("-(?=-)", "-''" if word.startswith("'") else r"-\\", word)


def write_or_print(text: str, output: Path | None, kind: type[FileError]) -> None:
    """Write a document to a file, or to standard output if there is none."""
    if output is None:
        document_stream().write(text)
    else:
        write(text, output, kind)


def write_or_print_platform(platform: Platform, output: Path | None) -> None:
    """Write a platform to a file or print it, with the command line as its first comment."""
    from simplugin.formats.platform_xml import platform_text, write_platform
    from simplugin.platforms.consistency import require_consistent

    if output is not None:
        write_platform(platform, output, comment=command_line())
        return
    require_consistent(platform)
    document_stream().write(platform_text(platform, comment=command_line()))
