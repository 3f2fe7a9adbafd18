"""Arguments and options of commands, and those that several commands have."""

from __future__ import annotations

from typing import Any

import typer


def argument(metavar: str, text: str) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text)


def option(text: str, metavar: str | None = None, names: str = "", **more: Any) -> Any:
    """Return an option that takes a value; without names it is called as its parameter."""
    return typer.Option(*names.split(), metavar=metavar, help=text, **more)


def flag(name: str, text: str) -> Any:
    """Return an option that is given or not."""
    return typer.Option(name, help=text)


def output_option(metavar: str, text: str) -> Any:
    """Return the option --output."""
    return typer.Option("-o", "--output", metavar=metavar, help=text)


def json_option(instead_of: str) -> Any:
    """Return the option --json."""
    return typer.Option("--json", help=f"Print one JSON object instead of {instead_of}.")


def seed_option(text: str) -> Any:
    """Return the option --seed."""
    return typer.Option("--seed", min=0, help=text)


def jobs_option(text: str) -> Any:
    """Return the option --jobs."""
    return typer.Option("--jobs", "-j", min=1, help=f"{text}; by default one a core.")


def scheduler_option(text: str) -> Any:
    """Return the option --scheduler."""
    return typer.Option("--scheduler", metavar="ADDRESS", help=text)


def trust_option() -> Any:
    """Return the option --trust."""
    text = "Let files name functions of this module, wherever it is; repeatable."
    return typer.Option("--trust", metavar="MODULE", help=text)


def warnings_option() -> Any:
    """Return the option --warnings."""
    return typer.Option("--warnings", help="Tell each warning, not only how many there are.")
