"""Gentle mutants of real platform files: what SimGrid makes of each, and what `check` says of it.

A mutant is a file with one element moved, duplicated, dropped, swapped with another or given a
comment, or with one attribute changed. SimGrid, in a child process for each, *loads* it (reads it,
seals its zones, finds routes between all pairs of hosts and runs for some simulated time), *loses*
routes, or *refuses* it. Counted are false cleans (no error where it is refused, no finding where
routes are lost), false refusals (an error where it loads) and false warnings (another warning than
of a missing unit where it loads), by what SimGrid or `check` says.

    .venv/bin/python benchmarks/mutants.py [--count N] [--seed N] [--json] [--keep DIRECTORY]
        [FILE_OR_DIRECTORY...]

By default the files are SimGrid's examples and tests, and `platforms_xml/`.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import locale
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from simplugin.formats.check import Finding, check

CHECKOUT = Path(__file__).resolve().parent.parent
LOADS, LOST, REFUSED = "loads", "lost", "refused"
HEADER = b'<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
LARGEST = 40_000  # bytes of a file to mutate
MOST_HOSTS = 100  # whose pairs are all asked for
WAIT = 100.0  # simulated seconds, for the first events of profiles
PATIENCE = 20  # seconds; SimGrid searches some broken networks for ever


# SimGrid's verdicts: a process that forks for each file


def serve() -> None:
    """Answer each path on standard input by a verdict on standard output."""
    import simgrid

    locale.setlocale(locale.LC_ALL, "C")  # SimGrid compares names by its rules

    answer_to = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        reader, writer = os.pipe()
        with tempfile.TemporaryFile() as log:
            child = os.fork()
            if child == 0:
                os.dup2(log.fileno(), 2)
                signal.alarm(PATIENCE)
                _try(simgrid, json.loads(line), writer)
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader, encoding="utf-8") as stream:
                progress = stream.read()
            _, status = os.waitpid(child, 0)
            log.seek(0)
            said = log.read().decode(errors="replace")
        answer_to.write(json.dumps(_verdict(progress, status, said)) + "\n")
        answer_to.flush()


def _try(simgrid: Any, file: str, writer: int) -> None:
    """Load a platform and use it, writing a line after each step, or why there is no next one."""
    where = ""
    try:
        engine = simgrid.Engine(["mutants", "--log=root.thresh:critical", "--cfg=tracing:no"])
        engine.load_platform(file)
        engine.netzone_root.seal()
        os.write(writer, b"loaded\n")
        hosts = engine.all_hosts
        hosts = hosts[:: len(hosts) // MOST_HOSTS + 1]
        if not hosts:
            raise ValueError("there are no hosts")
        for source, destination in itertools.permutations(hosts, 2):
            where = f"{source.name!r} to {destination.name!r}: "
            links, latency = source.route_to(destination)
            if not links and latency <= 0:
                raise ValueError("no link")
        where = ""
        os.write(writer, b"joined\n")
        hosts[0].add_actor("waiter", simgrid.this_actor.sleep_for, WAIT)
        engine.run()
        os.write(writer, b"ran\n")
    except Exception as error:  # the bindings turn C++ exceptions into many Python ones
        os.write(writer, f"{where}{error}".encode())


def _verdict(progress: str, status: int, said: str) -> tuple[str, str]:
    """Return the verdict on a file, and the reason."""
    lines = progress.splitlines()
    done = sum(line in {"loaded", "joined", "ran"} for line in lines)
    if done == 3:
        return LOADS, ""
    critical = [
        line.partition("/CRITICAL] ")[2] for line in said.splitlines() if "/CRITICAL]" in line
    ]
    reason = " ".join(lines[done:]) or " ".join(critical[:1]) or f"status {status}"
    return (LOST if done == 1 else REFUSED), reason


@contextlib.contextmanager
def simgrid_verdicts() -> Iterator[Any]:
    """Yield a function from a path to SimGrid's verdict on the file and the reason."""
    command = [sys.executable, __file__, "--serve"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:
        asked, told = server.stdin, server.stdout
        assert asked is not None
        assert told is not None

        def verdict(path: Path) -> tuple[str, str]:
            asked.write(json.dumps(str(path)) + "\n")
            asked.flush()
            word, reason = json.loads(told.readline())
            return word, reason

        yield verdict
        asked.close()


# Mutation

# Values that attributes take besides those found in the file and in the DTD.
VALUES = {
    "routing": ("Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "Vivaldi", "Wifi", "None"),
    "coordinates": ("1 2 3", "1 2", ""),
    "radical": ("0-3", "1-4", "5", "0,2-3"),
    "topo_parameters": ("2,2", "2;2,2;1,2;1,1", "2,1;1,1;2,1;1"),
}
NAMES = {"id", "src", "dst", "gw_src", "gw_dst", "up", "down", "element", "trace", "router_id"}
PROFILES = ("profiles/jupiter_speed.profile", "profiles/link4_state.profile")
NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(.*)", re.DOTALL)
KINDS = ("move", "duplicate", "drop", "swap", "comment", "attribute", "attribute", "attribute")


class Mutator:
    """Changes documents at random.

    Parameters
    ----------
    dtd : path
        SimGrid's, which tells the attributes that an element may have.
    seed : int
        Of all that is drawn.
    """

    def __init__(self, dtd: Path, seed: int) -> None:
        self._draw = random.Random(seed)
        with dtd.open("rb") as stream:
            self._attributes = {
                element.name: {item.name: item.values() for item in element.iterattributes()}
                for element in etree.DTD(stream).iterelements()
            }

    def pick(self, files: Sequence[Path]) -> Path:
        """Draw a file."""
        return self._draw.choice(files)

    def mutate(self, path: Path) -> tuple[str, bytes]:
        """Return what was changed in a file, and the result."""
        root = etree.fromstring(re.sub(rb"<!DOCTYPE[^>]*>", b"", path.read_bytes()))
        kind = self._draw.choice(KINDS)
        elements = [element for element in root.iter(etree.Element) if element is not root]
        if self._draw.random() < 0.5:  # else files of many hosts and links have little else changed
            tag = self._draw.choice(sorted({element.tag for element in elements}))
            elements = [element for element in elements if element.tag == tag]
        element = self._draw.choice(elements)
        what = f"{kind} <{element.tag}>"
        if kind == "attribute":
            what += f" {self._change(root, element)}"
        else:
            getattr(self, f"_{kind}")(root, element)
        return what, HEADER + etree.tostring(root)

    def _move(self, root: Any, element: Any) -> None:
        """Move an element within its parent or to where others of its kind are."""
        own = set(element.iter())
        homes = [
            home
            for home in root.iter(etree.Element)
            if home not in own
            and (home is element.getparent() or any(child.tag == element.tag for child in home))
        ]
        home = self._draw.choice(homes)
        self._drop(root, element)
        home.insert(self._draw.randint(0, len(home)), element)

    def _duplicate(self, root: Any, element: Any) -> None:
        """Repeat an element, beside it or elsewhere in its parent."""
        del root
        copy = etree.fromstring(etree.tostring(element, with_tail=False))
        home = element.getparent()
        places = (home.index(element) + 1, self._draw.randint(0, len(home)))
        home.insert(self._draw.choice(places), copy)

    def _drop(self, root: Any, element: Any) -> None:
        """Remove an element."""
        del root
        element.tail = None
        element.getparent().remove(element)

    def _swap(self, root: Any, element: Any) -> None:
        """Swap an element with another one, mostly of the same parent."""
        related = {element, *element.iter(), *element.iterancestors()}
        others = [other for other in root.iter(etree.Element) if other not in related]
        siblings = [other for other in others if other.getparent() is element.getparent()]
        if siblings and self._draw.random() < 0.7:
            others = siblings
        if others:
            other = self._draw.choice(others)
            mark = etree.Element("mark")
            element.tail, other.tail = other.tail, element.tail
            element.getparent().replace(element, mark)
            other.getparent().replace(other, element)
            mark.getparent().replace(mark, other)

    def _comment(self, root: Any, element: Any) -> None:
        """Put a comment into an element."""
        del root
        element.insert(self._draw.randint(0, len(element)), etree.Comment(" a comment "))

    def _change(self, root: Any, element: Any) -> str:
        """Change, add or remove an attribute; return which."""
        allowed = self._attributes[element.tag]
        absent = [key for key in allowed if key not in element.attrib]
        if absent and (not element.attrib or self._draw.random() < 0.15):
            key = self._draw.choice(absent)
        elif not element.attrib:
            return "(none)"
        else:
            key = self._draw.choice(list(element.attrib))
        before = element.get(key)
        if before is not None and self._draw.random() < 0.1:
            del element.attrib[key]
            return f"{key} removed"
        values = {*VALUES.get(key, ()), *(allowed.get(key) or ())}
        values |= {other.get(key) for other in root.iter(element.tag)}
        if key in NAMES:
            values |= {other.get("id") for other in root.iter(etree.Element)}
        if key.endswith("file"):
            values.update(PROFILES)
        number = NUMBER.fullmatch(before or "")
        if number is not None:
            size, unit = number.groups()
            values |= {f"{float(size) * factor:g}{unit}" for factor in (0, 0.5, 2, 10)}
            values |= {size, f"-{size}{unit}", "1"}
        choices = sorted(value for value in values - {before, None})
        element.set(key, self._draw.choice(choices) if choices else f"{before or ''}x")
        return key


# Comparison


@dataclass(frozen=True, slots=True)
class Difference:
    """A mutant on which the verdicts differ."""

    number: int
    kind: str
    file: str
    change: str
    said: str

    @property
    def class_(self) -> tuple[str, str]:
        """Return the kind of a difference: its verdict and message without names and numbers."""
        return self.kind, re.sub(r"'[^']*'|-?\b[\w.-]*\d[\w.-]*\b", "*", self.said)[:100]


def difference(verdict: str, reason: str, findings: Sequence[Finding]) -> tuple[str, str] | None:
    """Return how the verdict of `check` differs from SimGrid's, and what is said; None if not."""
    errors = [found.message for found in findings if found.severity != "warning"]
    # Of values SimGrid takes any.
    said = [found.message for found in findings]
    others = [each for each in said if not re.search("without a unit|no hardware has", each)]
    if verdict == REFUSED and not errors:
        return "false clean: refused", reason
    if verdict == LOST and not others:
        return "false clean: lost", reason
    if verdict == LOADS and errors:
        return "false refusal", errors[0]
    if verdict == LOADS and others:
        return "false warning", others[0]
    return None


def sources(roots: Sequence[Path]) -> list[Path]:
    """Return the platform files, small enough and without actors, in or under the given paths."""
    found = []
    for root in roots:
        for path in [root] if root.is_file() else sorted(root.rglob("*.xml")):
            text = path.read_text(encoding="utf-8", errors="replace")
            hardware = any(tag in text for tag in ("<zone", "<AS", "<cluster"))
            actors = "<actor" in text or "<process" in text
            if hardware and not actors and len(text) <= LARGEST:
                found.append(path)
    return found


def _prefix() -> Path:
    """Return where SimGrid is."""
    command = [sys.executable, CHECKOUT / "tools/build_simgrid.py", "--print-prefix"]
    return Path(subprocess.check_output(command, text=True).strip())


def compare(
    roots: Sequence[Path], dtd: Path, count: int, seed: int, keep: Path | None = None
) -> tuple[Counter[str], list[Difference]]:
    """Compare verdicts on mutants.

    Parameters
    ----------
    roots : sequence of path
        Files, or directories to search for them.
    dtd : path
        SimGrid's.
    count, seed : int
        How many mutants, and of which sequence.
    keep : path, optional
        Where to keep the mutants on which the verdicts differ.

    Returns
    -------
    verdicts : Counter of str
        How often SimGrid loads, loses and refuses.
    differences : list of Difference
        Where `check` does not agree.
    """
    mutator = Mutator(dtd, seed)
    verdicts: Counter[str] = Counter()
    differences = []
    with tempfile.TemporaryDirectory() as scratch, simgrid_verdicts() as verdict_on:
        files = [path for path in sources(roots) if verdict_on(path)[0] == LOADS]
        for number in range(count):
            path = mutator.pick(files)
            change, text = mutator.mutate(path)
            # SimGrid finds profiles beside a file.
            beside = Path(scratch) / str(files.index(path))
            if not beside.exists():
                beside.mkdir()
                for other in path.parent.iterdir():
                    if other.suffix != ".xml":
                        (beside / other.name).symlink_to(other.resolve())
            mutant = beside / path.name
            mutant.write_bytes(text)
            verdict, reason = verdict_on(mutant)
            verdicts[verdict] += 1
            differs = difference(verdict, reason, check([mutant]))
            if differs is not None:
                differences.append(Difference(number, differs[0], path.name, change, differs[1]))
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(mutant, keep / f"{number}.xml")
    return verdicts, differences


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--keep", type=Path, help="where to keep mutants with differing verdicts")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("roots", nargs="*", type=Path, metavar="FILE_OR_DIRECTORY")
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    share = _prefix() / "share"
    roots = given.roots or [share / "examples", share / "teshsuite", CHECKOUT / "platforms_xml"]
    verdicts, differences = compare(
        roots, share / "simgrid.dtd", given.count, given.seed, given.keep
    )
    classes: defaultdict[tuple[str, str], list[Difference]] = defaultdict(list)
    for found in differences:
        classes[found.class_].append(found)
    ordered = sorted(classes.items(), key=lambda item: (item[0][0], -len(item[1])))
    if given.json:
        rows = [
            {"kind": kind, "said": said, "count": len(found)} for (kind, said), found in ordered
        ]
        print(json.dumps({"count": given.count, "verdicts": verdicts, "classes": rows}))
        return
    print(", ".join(f"SimGrid {word} {number:,}" for word, number in sorted(verdicts.items())))
    for (kind, said), found in ordered:
        print(f"{len(found):5} {len(found) / given.count:7.2%}  {kind}: {said}")
        for one in found[:3]:
            print(f"{'':16}{one.number}: {one.file}, {one.change}: {one.said[:200]}")


if __name__ == "__main__":
    main()
