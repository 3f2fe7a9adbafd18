"""Options that several commands have."""

from __future__ import annotations

from typing import Any

import typer


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
