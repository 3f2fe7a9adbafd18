"""Commands made of functions: parameters are arguments and options, docstrings their help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args

import typer
from rich.markup import escape

from simplugin.cli.terminal import Command

# Options that are not called as their parameters are.
_NAMES = {
    "output": "-o --output",
    "jobs": "-j --jobs",
    "as_json": "--json",
    "as_csv": "--csv",
    "imports": "--import",
    "listed": "--list",
    "master": "-m --master",
    "workers": "-w --workers",
    "function": "-f --function",
    "worker_function": "-F --worker-function",
    "argument": "-a --argument",
    "worker_argument": "-A --worker-argument",
    "tree": "-t --tree",
    "application": "-n --application",
}
# Placeholder and help of parameters that several commands have, unless they document their own.
_SHARED = {
    "as_json": ("", "Print one JSON object instead of text."),
    "campaign": ("N", "Number of the campaign; by default that of the file, or the latest."),
    "imports": ("", "Import the named modules and check signatures."),
    "jobs": ("", "Number of runs in parallel; by default one for each core."),
    "output": ("FILE", "The platform file; by default it is printed."),
    "place": ("STORE|CAMPAIGN.toml", "A store, or the file of a campaign that has one."),
    "scheduler": ("ADDRESS", "Address of a running Dask cluster: tcp://..."),
    "seed": ("", "Seed of the draws."),
    "store": ("FILE", "Store of the results; by default the one that the campaign names."),
    "trust": (
        "MODULE",
        "Also allow functions of this module, wherever it is installed; repeatable.",
    ),
    "warnings": ("", "Print each warning instead of their number."),
}

Jobs = Annotated[int | None, typer.Option(min=1)]
Seed = Annotated[int | None, typer.Option(min=0)]

_SECTION = re.compile(r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=^[^\n]+\n-{3,}\n|\Z)", re.M | re.S)
_ENTRY = re.compile(r"^(\S[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)*)", re.M)


def documented(thing: Any) -> dict[str, tuple[str, str]]:
    """Return type and description of each parameter or attribute in a docstring."""
    found: dict[str, tuple[str, str]] = {}
    for section in _SECTION.findall(inspect.cleandoc(thing.__doc__ or "") + "\n"):
        for head, text in _ENTRY.findall(section):
            names, _, kind = head.partition(" : ")
            for name in names.split(","):
                found[name.strip("* ")] = kind, " ".join(text.split())
    return found


def add_command(app: typer.Typer, function: Callable[..., None]) -> None:
    """Add a function to a group of commands.

    Its positional parameters are arguments, its keyword-only ones options. A keyword-only data
    class as the type of a parameter stands for a group of options, one for each field. Their help
    is in the sections Parameters and Attributes of the docstrings, with the placeholder of a value
    as its type.
    """
    parameters = inspect.signature(function, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
    }

    def call(**given: Any) -> None:
        """Call the function with its groups of options as data classes."""
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        function(**given)

    call.__signature__ = inspect.Signature([*_parameters(function)])  # type: ignore[attr-defined] # typer reads it
    text, *_ = _SECTION.split(inspect.cleandoc(function.__doc__ or "") + "\n")
    # The terminal, not the source, breaks the lines of paragraphs.
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", text)
    app.command(function.__name__, cls=Command, help=escape(text))(call)


def _parameters(of: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the arguments and options of a function, those of data classes in their places."""
    helps = _SHARED | documented(of)
    for name, each in inspect.signature(of, eval_str=True).parameters.items():
        if is_dataclass(each.annotation):
            yield from _parameters(each.annotation)  # type: ignore[arg-type] # a class
            continue
        kind, *given = get_args(each.annotation) if _is_annotated(each) else (each.annotation,)
        is_option = each.kind is each.KEYWORD_ONLY
        info = copy(given[0]) if given else typer.Option() if is_option else typer.Argument()
        placeholder, words = helps[name]
        info.help = escape(words)
        info.metavar = placeholder or ("" if kind is bool else None)
        if is_option:
            usual = "--" + name.strip("_").replace("_", "-")
            info.param_decls = _NAMES.get(name, usual).split()
        yield each.replace(kind=each.KEYWORD_ONLY, annotation=Annotated[kind, info])


def _is_annotated(parameter: inspect.Parameter) -> bool:
    """Return True if a type has more to say about an option."""
    return hasattr(parameter.annotation, "__metadata__")
