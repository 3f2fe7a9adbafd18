#!/usr/bin/env python3
"""Compare the public methods of SimGrid's s4u with its Python bindings and with simplugin's actors.

    .venv/bin/python tools/simgrid_coverage.py --write

Methods are read from SimGrid's headers, bindings and actors from their modules;
``simgrid_coverage.toml`` says what has another name here, and what is left out.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import simplugin.simulation.api as actors
from simgrid_release import CHECKOUT

TABLE = CHECKOUT / "docs/simgrid/coverage.md"
_NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PREFIX = re.compile(r"^(get|set|is)_")
_HEAD = """\
# What actors have of SimGrid's s4u

Made by `tools/simgrid_coverage.py --write` from the headers of SimGrid, its Python bindings and the
protocols of `simplugin.simulation.api`, with the names in `tools/simgrid_coverage.toml`. Signals
(`on_...`) are not counted: `Callbacks`, `simulation()` and the trace stand for them. Of {total}
methods {bound} are in the bindings and {ours} in simplugin.

| class | methods | in the bindings | in simplugin |
| --- | ---: | ---: | ---: |
"""


def classes(text: str) -> Iterator[tuple[str, str]]:
    """Return the name and the body of each class of a header."""
    for pattern in (r"/\*.*?\*/", r"//[^\n]*", r"^\s*#[^\n]*(\\\n[^\n]*)*$"):
        text = re.sub(pattern, "", text, flags=re.DOTALL | re.MULTILINE)
    for match in re.finditer(r"\bclass\s+(?:XBT_PUBLIC\s+)?(\w+)[^;{]*\{", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match[1], text[match.end() : end - 1]


def methods(body: str) -> set[str]:
    """Return the names of the public methods in the body of a class."""
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", ";", body)
    parts = re.split(r"\b(public|protected|private)\s*:(?!:)", body)
    public = [text for kind, text in zip(parts[1::2], parts[2::2], strict=True) if kind == "public"]
    found = set()
    for line in ";".join(public).split(";"):
        while re.search(r"<[^<>]*>", line):
            line = re.sub(r"<[^<>]*>", "", line)
        match = re.search(r"(~?\b[a-z]\w*)\s*\(", line)
        if match and not re.search(r"DEPRECATED|friend|using|~|operator", line):
            found.add(match[1])
    return {name for name in found - {"explicit", "get_cname"} if not name.startswith("on_")}


def named(table: str, name: str) -> str:
    """Return the entry of a table for a method, empty if there is none."""
    found: dict[str, str] = _NAMES[table]
    return next((text for pattern, text in found.items() if fnmatchcase(name, pattern)), "")


def is_bound(bindings: Any, name: str, method: str) -> bool:
    """Return True if the Python bindings have a method."""
    places = [getattr(bindings, name, None)]
    if name == "Actor":
        places.append(bindings.this_actor)
    elif name in ("Comm", "Exec", "Io"):
        places.append(bindings.Activity)
    words = {method, _PREFIX.sub("", method)}
    return any(word in dir(place) for place in places if place is not None for word in words)


def ours(name: str, method: str) -> str:
    """Return what simplugin has for a method, empty if nothing."""
    if text := named("names", f"{name}.{method}"):
        return "" if text == "-" else text
    protocol = getattr(actors, _NAMES["classes"].get(name, ""), None)
    words = (method, _PREFIX.sub("", method))
    return next((word for word in words if word in dir(protocol)), "")


def table(include: Path, bindings: Any) -> str:
    """Return the page."""
    lines, sums = [], [0, 0, 0]
    without: set[str] = set()
    for header in sorted(include.glob("simgrid/s4u/*.hpp")):
        for name, body in classes(header.read_text(encoding="utf-8")):
            found = sorted(methods(body))
            found = [each for each in found if not named("left_out", f"{name}.{each}")]
            missing = [each for each in found if not ours(name, each)]
            bound = sum(is_bound(bindings, name, each) for each in found)
            if found:
                counts = (len(found), bound, len(found) - len(missing))
                sums = [total + count for total, count in zip(sums, counts, strict=True)]
                without.update(f"{name}.{each}" for each in missing)
                lines.append(f"| {name} | {' | '.join(map(str, counts))} |\n")
    total, bound, covered = sums
    instead = [(names.split(", "), text) for names, text in _NAMES["instead"].items()]
    if wrong := without.symmetric_difference(each for names, _ in instead for each in names):
        raise SystemExit(f"[instead] and what is missing differ: {', '.join(sorted(wrong))}")
    end = "\n| missing; in place of | use |\n| --- | --- |\n"
    end += "".join(
        f"| {', '.join(f'`{n}`' for n in names)} | {text} |\n" for names, text in instead
    )
    reasons = sorted(set(_NAMES["left_out"].values()))
    end += f"\nLeft out: {', '.join(reasons)}.\n"
    return _HEAD.format(total=total, bound=bound, ours=covered) + "".join(lines) + end


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    arguments = parser.parse_args()
    prefix = (CHECKOUT / ".venv/stamps/simgrid").read_text(encoding="utf-8").strip()
    from simplugin.simulation.threads import simgrid

    page = table(Path(prefix) / "include", simgrid)
    if arguments.write:
        TABLE.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
