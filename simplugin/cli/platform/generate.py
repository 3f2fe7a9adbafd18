"""``simplugin platform generate``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from simplugin.cli.ending import plain_errors


def generate(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Of a generator, see --list; or module:function."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Its parameters: TOML values, or texts such as 2Gf without quotes.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of its draws.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write there; without, print."),
    ] = None,
    listed: Annotated[
        bool,
        typer.Option("--list", help="List all generators, or tell everything about NAME."),
    ] = False,
) -> None:
    """Generate a platform: a topology, a random graph, a site, anything that has a generator."""
    from simplugin.cli.platform.writing import put, uncollected
    from simplugin.errors import PlatformError
    from simplugin.scenarios.generators.calls import generator_called
    from simplugin.scenarios.importing import importable

    with plain_errors(), importable(Path.cwd()):
        if listed:
            typer.echo(_everything_about(name) if name else _list())
            return
        if name is None:
            raise PlatformError("no generator is named", remedy="give one that --list shows")
        parameters = _parameters(settings or [])
        generator = generator_called(name)
        if seed is not None:
            if "seed" in parameters:
                raise PlatformError(
                    "the seed is given twice", remedy="give --seed or seed=, not both"
                )
            if "seed" not in generator.parameters and not generator.takes_anything:
                raise PlatformError(
                    f"generator {name!r} draws nothing: it has no seed", remedy="leave out --seed"
                )
            parameters["seed"] = seed
        with uncollected():
            put(generator.platform(parameters), output)


def _list() -> str:
    """Return all generators, each with a line and its parameters."""
    from simplugin.scenarios.generators import GENERATORS
    from simplugin.scenarios.generators.calls import generator_called

    entries = []
    for name in GENERATORS:
        generator = generator_called(name)
        line = generator.documentation.partition("\n")[0]
        entries.append(f"{name}: {line}\n    {generator.usage()}")
    return "\n".join(entries)


def _everything_about(name: str) -> str:
    """Return what a generator takes, and its documentation."""
    from simplugin.scenarios.generators.calls import generator_called

    generator = generator_called(name)
    return f"{name}: {generator.usage()}\n\n{generator.documentation}".rstrip()


def _parameters(settings: list[str]) -> dict[str, Any]:
    """Read settings: values as TOML has them, bare words as texts."""
    from simplugin.errors import PlatformError

    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key, text = key.strip(), text.strip()
        if not equals or not key.isidentifier():
            raise PlatformError(f"{setting!r} sets no parameter", remedy="write KEY=VALUE")
        if key in parameters:
            raise PlatformError(f"parameter {key!r} is given twice", remedy="give it once")
        parameters[key] = _value(key, text)
    return parameters


def _value(key: str, text: str) -> Any:
    """Read one value."""
    from simplugin.errors import PlatformError

    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        # What starts as TOML does was meant as TOML.
        if text and text[0] not in "[{\"'":
            return text
        raise PlatformError(
            f"{key}={text} is not a TOML value: {error}",
            remedy='give e.g. 12, true, 2Gf, [4,4] or {law="uniform",low="1Gf",high="2Gf"}',
        ) from None
    # A line break in the text may begin another key.
    return document["value"] if len(document) == 1 else text
