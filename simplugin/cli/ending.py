"""How the command ends when something is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from simplugin.errors import SimpluginError

_INTERRUPTED = 130


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what simplugin raises into one message and exit status 1."""
    try:
        yield
    except SimpluginError as error:
        typer.echo(f"simplugin: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("simplugin: interrupted", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read our output had enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
