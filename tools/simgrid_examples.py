#!/usr/bin/env python3
"""Compare the ports of SimGrid's examples with what SimGrid says that the examples write.

The examples are those of Python and C++ that have a ``.tesh`` file in SimGrid's source
distribution; their ports are in ``examples/simgrid``. A line is compared by date, actor, host and
message; lines of several actors at one date may come in another order.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import io
import re
import shlex
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from simgrid_cache import cache_root
from simgrid_release import CHECKOUT, pinned
from simplugin.core.errors import SimpluginError

PORTS = CHECKOUT / "examples/simgrid"
TABLE = CHECKOUT / "docs/simgrid/examples.md"
_TESH = re.compile(r"[^/]+/examples/(cpp|python)/[^/]+/[^/]+\.tesh")
# Forms of SimGrid's log, the last two without a host, or without actor and host; ours is the first.
_FORMS = (
    re.compile(r"\[(?P<host>[^:\]]*):(?P<actor>[^\]]*):\(\d+\) (?P<date>[\d.]+)\] (?P<text>.*)"),
    re.compile(
        r"\[ *(?P<date>[\d.]+)\] \( *(?:\d+:)?(?P<actor>[^@]*)@(?P<host>[^)]*)\) (?P<text>.*)"
    ),
    re.compile(r"\[ *(?P<date>[\d.]+)\] \[ *(?P<actor>[\w-]+)\] (?P<text>.*)"),
    re.compile(r"\[ *(?P<date>[\d.]+)\] (?P<text>.*)"),
)
_PROGRAM = re.compile(r".*/s4u-[\w-]+|.*\.py")
_LEVEL = re.compile(r"(\[[\w/ ]*(INFO|WARNING|ERROR|DEBUG|VERBOSE|CRITICAL)\]|[A-Z]+:) ")
_VERDICTS = {
    "passes": "pass",
    "differs": "differ",
    "wrong": "are wrong",
    "not ported": "are not ported",
    "excluded": "are excluded",
}
_HEAD = """\
`tools/simgrid_examples.py --write` compares the ports in `examples/simgrid` with the `.tesh` files
of SimGrid {release}, line by line: date, actor, host and message. Lines that SimGrid itself logs
are left out, and lines of several actors at one date may come in another order."""
# Lines of SimGrid itself.
_OWN = re.compile(
    r"Configuration change: |Switching to the L07 model|Specified |UNCAT |Oops! Deadlock"
    r"|\d+ actors? (is|are) still active| - pid \d+ |The backtrace would be"
    r"|Cannot launch actor |Starting actor .* failed because |Restart actors on host "
    r"|Creating a context of stack |Remove a dependency from "
    r"|.* is assigned to a resource and all dependencies are solved\. Let's start"
    r"|Ignore file .* size redefinition|Activating the wifi_energy plugin"
    r"|Link .* destroyed, consumed: "
)


@dataclass(frozen=True)
class Command:
    """A command of a ``.tesh`` file.

    Attributes
    ----------
    arguments : tuple of str
        After the program, without options; files with their whole paths.
    settings : dict of str to str
        SimGrid's settings, ``--cfg=name:value``.
    lines : tuple of str
        Expected lines.
    is_sorted : bool
        True if the order of lines of one date does not count.
    """

    arguments: tuple[str, ...]
    settings: dict[str, str]
    lines: tuple[str, ...]
    is_sorted: bool


def unpack(archive: Path, directory: Path) -> Path:
    """Unpack the examples of a source distribution; return their directory."""
    with tarfile.open(archive) as tar:
        members = [each for each in tar if "/examples/" in each.name]
        tar.extractall(directory, members, filter="data")
    return next(directory.glob("*/examples"))


def examples(directory: Path) -> dict[str, Path]:
    """Return the ``.tesh`` file of each example by its name, such as ``python/actor-create``."""
    found = sorted(directory.glob("python/*/*.tesh")) + sorted(directory.glob("cpp/*/*.tesh"))
    return {f"{each.parent.parent.name}/{each.stem.removeprefix('s4u-')}": each for each in found}


def commands(tesh: Path) -> list[Command]:
    """Read the commands of a ``.tesh`` file that run the example.

    What is expected of a file that the example has written belongs to the command before.
    """
    examples = tesh.parent.parent.parent
    values = {"platfdir": str(examples / "platforms"), "srcdir": str(tesh.parent), "bindir": "."}
    words: list[str] | None = None
    lines: list[str] = []
    found: list[Command] = []
    is_sorted, sorts_next = False, False
    for line in [*tesh.read_text(encoding="utf-8").splitlines(), "$"]:
        mark, rest = line[:1], line[1:].removeprefix(" ")
        if mark == "!" and rest.startswith("output sort"):
            sorts_next = True
        elif mark == ">":
            lines.append(rest)
        elif mark == "$":
            if words and lines:
                found.append(_command(words, tuple(lines), tesh.parent, is_sorted=is_sorted))
            elif lines:
                found[-1] = replace(found[-1], lines=(*found[-1].lines, *lines))
            is_sorted, sorts_next = sorts_next, False
            lines = []
            text = re.sub(r"\$\{(\w+)(:=[^}]*)?\}", lambda name: values.get(name[1], ""), rest)
            words = shlex.split(text)
            while words and not _PROGRAM.fullmatch(words[0]):
                words.pop(0)
    return found


def _command(
    words: list[str], lines: tuple[str, ...], directory: Path, *, is_sorted: bool
) -> Command:
    """Return the command of a program with its arguments."""
    given = [each for each in words[1:] if not each.startswith("--")]
    options = [each.removeprefix("--cfg=") for each in words if each.startswith("--cfg=")]
    settings = dict(each.split(":", 1) for option in options for each in option.split())
    arguments = [str(directory / each) if (directory / each).is_file() else each for each in given]
    return Command(tuple(arguments), settings, lines, is_sorted)


def canonical(line: str) -> tuple[str, ...]:
    """Return the date, the actor, the host and the message of a line."""
    for form in _FORMS:
        if match := form.fullmatch(line):
            parts = {"actor": "", "host": "", **match.groupdict()}
            actor = "" if parts["actor"] == "maestro" else parts["actor"]
            text = _LEVEL.sub("", parts["text"], count=1).rstrip()
            return f"{float(parts['date']):12.6f}", actor, parts["host"], text
    return "", "", "", _LEVEL.sub("", line, count=1).rstrip()


def digits_of(lines: tuple[str, ...]) -> int:
    """Return the digits after the point in the dates of a log."""
    dates = (match["date"] for line in lines for form in _FORMS if (match := form.fullmatch(line)))
    return max((len(date.partition(".")[2]) for date in dates), default=6)


def written(lines: tuple[str, ...], digits: int, *, is_sorted: bool) -> list[tuple[str, ...]]:
    """Return the lines that the example itself writes, in order of dates to some digits."""

    def order(line: tuple[str, ...]) -> tuple[float | str, ...]:
        return round(float(line[0] or 0), digits), *line[1 : 4 if is_sorted else 3]

    found = [canonical(line) for line in lines if line.strip()]
    return sorted((line for line in found if not _OWN.match(line[3])), key=order)


def are_same(want: tuple[str, ...], have: tuple[str, ...], digits: int) -> bool:
    """Compare lines, of which the first one has dates to some digits.

    It may have an actor without its host, or a host with an actor that has no name.
    """
    if bool(want[1]) != bool(want[2]):
        have = (have[0], have[1] if want[1] else "", have[2] if want[2] else "", have[3])
    if want[1:] != have[1:] or digits >= 6:
        return want == have
    return abs(float(want[0] or 0) - float(have[0] or 0)) <= 0.5 * 10.0**-digits + 1e-6


def port_of(name: str) -> Path | None:
    """Return the port of an example, which may serve both languages; None without one."""
    language, _, stem = name.partition("/")
    file = f"{stem.replace('-', '_')}.py"
    places = [PORTS / language / file, PORTS / "python" / file]
    return next((each for each in places if each.is_file()), None)


def run(port: Path, language: str, directory: Path, command: Command) -> tuple[str, ...]:
    """Run a port with SimGrid's examples and what a command gives it; return its lines."""
    spec = importlib.util.spec_from_file_location(f"simgrid_example_{port.stem}", port)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{port}: no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    main: Callable[..., None] = module.main
    choices = {"settings": command.settings, "language": language}
    known = inspect.signature(main).parameters
    main = partial(main, **{name: each for name, each in choices.items() if name in known})
    try:
        inspect.signature(main).bind(directory, *command.arguments)
    except TypeError as error:
        return (f"main: {error}",)
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        try:
            main(directory, *command.arguments)
        except SimpluginError as error:
            print(error)
    return tuple(output.getvalue().splitlines())


def difference(name: str, tesh: Path) -> str:
    """Return the first line in which a port differs, empty if there is none."""
    port = port_of(name)
    assert port is not None
    found_commands = commands(tesh)
    assert found_commands, name
    for command in found_commands:
        digits = digits_of(command.lines)
        expected = written(command.lines, digits, is_sorted=command.is_sorted)
        lines = run(port, name.partition("/")[0], tesh.parents[2], command)
        found = written(lines, digits, is_sorted=command.is_sorted)
        for want, have in zip(expected, found, strict=False):
            if not are_same(want, have, digits):
                return f"expected {want}, found {have}"
        if len(expected) != len(found):
            return f"expected {len(expected)} lines, found {len(found)}"
    return ""


def reason(name: str, kind: str) -> str:
    """Return why an example is ``excluded`` or ``differs``, empty if it does not."""
    table = tomllib.loads((PORTS / "status.toml").read_text(encoding="utf-8"))[kind]
    return next((why for pattern, why in table.items() if fnmatch(name, pattern)), "")


def status(name: str, tesh: Path) -> tuple[str, str]:
    """Return the verdict on an example, and the reason."""
    if why := reason(name, "excluded"):
        return "excluded", why
    if port_of(name) is None:
        return "not ported", ""
    found = difference(name, tesh)
    if why := reason(name, "differs"):
        return "differs", why
    return ("wrong", found) if found else ("passes", "")


def table(rows: dict[str, tuple[str, str]], release: str) -> str:
    """Return the page with the verdict on each example."""
    counts = {each: sum(row[0] == each for row in rows.values()) for each in _VERDICTS}
    found = [f"{counts[each]} {words}" for each, words in _VERDICTS.items() if counts[each]]
    lines = ["# SimGrid's examples", "", _HEAD.format(release=release)]
    lines += [f"Of {len(rows)} examples {', '.join(found)}.", "", "| verdict | examples |"]
    lines.append("| --- | --- |")
    for row in sorted(set(rows.values()), key=lambda row: (list(_VERDICTS).index(row[0]), row[1])):
        names = ", ".join(name for name, found_row in rows.items() if found_row == row)
        lines.append(f"| {': '.join(filter(None, row))} | {names} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="examples such as python/actor-create; all")
    parser.add_argument("--archive", type=Path, default=cache_root() / pinned().archive)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        found = examples(unpack(arguments.archive, Path(directory)))
        chosen = {name: found[name] for name in arguments.names or found}
        rows = {name: status(name, tesh) for name, tesh in chosen.items()}
    for name, row in rows.items():
        print(f"{name}: {': '.join(filter(None, row))}")
    if arguments.write:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(table(rows, pinned().version), encoding="utf-8")
    return 1 if any(verdict == "wrong" for verdict, _ in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
