"""Commands, their arguments and options, and those that several commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from simplugin.cli.terminal import Command


def add_command(app: typer.Typer) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds a function to a group of commands.

    A parameter with a data class as its type stands for a group of options, one for each field.
    The fields are annotated as parameters of commands are.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:
        """Add the function as a command."""
        hints = get_type_hints(function, include_extras=True)
        groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
        parameters = []
        for each in inspect.signature(function).parameters.values():
            if each.name not in groups:
                parameters.append(each.replace(annotation=hints[each.name]))
                continue
            kinds = get_type_hints(groups[each.name], include_extras=True)
            parameters += [
                each.replace(name=field.name, default=field.default, annotation=kinds[field.name])
                for field in fields(groups[each.name])
            ]

        @functools.wraps(function)
        def call(**given: Any) -> None:
            """Call the function with its groups of options as data classes."""
            for name, kind in groups.items():
                values = {field.name: given.pop(field.name) for field in fields(kind)}
                given[name] = kind(**values)
            function(**given)

        keyword = inspect.Parameter.KEYWORD_ONLY
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # typer reads it
            [each.replace(kind=keyword) for each in parameters]
        )
        app.command(cls=Command)(call)
        return function

    return add


def argument(metavar: str, text: str) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text)


def option(text: str, metavar: str | None = None, names: str = "", **more: Any) -> Any:
    """Return an option with a value; its default name is that of its parameter."""
    return typer.Option(*names.split(), metavar=metavar, help=text, **more)


def flag(name: str, text: str, callback: Callable[[bool], None] | None = None) -> Any:
    """Return an option without a value; a callback handles it before all other options."""
    return typer.Option(
        name, metavar="", help=text, callback=callback, is_eager=callback is not None
    )


def output_option(metavar: str, text: str) -> Any:
    """Return the option --output."""
    return option(text, metavar, "-o --output")


def json_option(instead_of: str) -> Any:
    """Return the option --json."""
    return flag("--json", f"Print one JSON object instead of {instead_of}.")


def seed_option(text: str) -> Any:
    """Return the option --seed."""
    return typer.Option("--seed", min=0, help=text)


def jobs_option(text: str) -> Any:
    """Return the option --jobs."""
    return typer.Option("--jobs", "-j", min=1, help=f"{text}; by default one for each core.")


def scheduler_option(text: str) -> Any:
    """Return the option --scheduler."""
    return option(text, "ADDRESS", "--scheduler")


Trust = Annotated[
    list[str] | None,
    option(
        "Also allow functions of this module, wherever it is installed; repeatable.",
        "MODULE",
        "--trust",
    ),
]
AllWarnings = Annotated[bool, flag("--warnings", "Print each warning instead of their number.")]
