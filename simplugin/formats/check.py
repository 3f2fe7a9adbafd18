"""Checking platform and deployment files: everything that is wrong, with line and remedy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from simplugin.core.errors import FileError, PlatformError, shortened
from simplugin.formats.config_options import option_problems
from simplugin.formats.platform_reading import (
    PlatformReader,
    options_of,
    read_document,
    standard_tag,
)
from simplugin.formats.profiles import (
    integration_problems,
    profile_file_problems,
    replaced_file_problems,
)
from simplugin.inputs.files import FilePath, uncollected
from simplugin.inputs.xml_tree import XmlElement
from simplugin.platforms.consistency import find_problems
from simplugin.platforms.names import Broken
from simplugin.platforms.platform import Platform
from simplugin.platforms.requirements import (
    energy_problems,
    option_requirements,
    options_in_force,
)
from simplugin.platforms.validation import ERROR, WARNING, PlatformProblem

UNREADABLE = "unreadable"
MOST_FINDINGS = 1000
# Elements of deployments, and of platforms and deployments alike.
_NO_HARDWARE = {"actor", "argument", "prop", "config"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in a file.

    Attributes
    ----------
    file : str
        The file, as it was named.
    line : int
        Line in it, counted from 1; 1 also for the file as a whole.
    severity : str
        ``error``: SimGrid refuses the file, or its content is contradictory. ``warning``: SimGrid
        loads the file, and a simulation may find out too late. ``unreadable``: there was nothing
        to look at.
    message : str
        The problem, with the name of the culprit.
    remedy : str
        The correction to make.
    """

    file: str
    line: int
    severity: str
    message: str
    remedy: str

    def __str__(self) -> str:
        """One line, which begins with the place as compilers do."""
        parts = "; ".join(filter(None, (self.message, self.remedy)))
        return f"{self.file}:{self.line}: {self.severity}: {parts}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


def exit_status(findings: Iterable[Finding]) -> int:
    """Return the exit status of a command: 0 clean, 1 findings, 2 a file could not be read."""
    severities = {finding.severity for finding in findings}
    return 2 if UNREADABLE in severities else int(bool(severities))


@dataclass(slots=True)
class _Checked:
    """A file and its findings."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    platform: Platform = field(default_factory=Platform)
    lines: Mapping[int, int] = field(default_factory=dict)
    broken: tuple[Broken, ...] = ()
    broken_actors: tuple[XmlElement, ...] = ()

    @property
    def has_hardware(self) -> bool:
        """True if it is, or is meant to be, a platform."""
        return bool(self.platform.elements or self.broken)

    def add(self, line: int | None, severity: str, message: str, remedy: str | None) -> None:
        """Note a finding; raise _EnoughError instead if there are too many already."""
        if len(self.findings) >= MOST_FINDINGS:
            raise _EnoughError
        remedy = shortened(remedy or "see SimGrid's documentation of platform files")
        message = shortened(message)
        self.findings.append(Finding(self.name, line or 1, severity, message, remedy))

    def placed_actors(self) -> Iterator[tuple[int | None, str, str]]:
        """Yield line, function and host of each actor, also of those that could not be built."""
        for actor in self.platform.actors:
            yield self.lines.get(id(actor)), actor.function, actor.host
        for node in self.broken_actors:
            if node.attributes.get("host"):
                yield node.line, node.attributes.get("function", ""), node.attributes["host"]

    def in_order(self) -> list[Finding]:
        """Return the findings by line, each once."""
        return sorted(set(self.findings), key=lambda found: (found.line, found.message))

    def add_error(self, error: FileError) -> None:
        """Note an error as a finding."""
        self.add(error.line, ERROR, error.message, error.remedy)

    def add_warning(self, error: FileError) -> None:
        """Note an error as a warning."""
        self.add(error.line, WARNING, error.message, error.remedy)


class _EnoughError(Exception):
    """There is no use in looking further."""


def check(files: Iterable[FilePath]) -> list[Finding]:
    """Return everything that is wrong with platform and deployment files.

    Well-formedness, elements and their order, names, values, routes, gateways, profile files,
    SimGrid options, and whether hosts can reach each other. Given together, the deployments must
    name hosts of the platforms. Entity declarations, deep nesting and oversized files are refused
    at sight; nothing is fetched.

    Parameters
    ----------
    files : iterable of path
        Platform files, deployment files, or both.

    Returns
    -------
    list of Finding
        In the order of the files, then by line. `exit_status` turns it into a status.
    """
    with uncollected():
        checked = [_check_file(os.fspath(path)) for path in dict.fromkeys(files)]
    platforms = [file for file in checked if file.has_hardware]
    names = ", ".join(repr(other.name) for other in platforms)
    broken = [each for other in platforms for each in other.broken]
    known = {each.id for each in broken}
    known.update(name for other in platforms for name in other.platform.host_names())
    patterns = [each.hosts for each in broken if each.hosts is not None]
    for file in checked if platforms else ():
        for line, function, host in () if file.has_hardware else file.placed_actors():
            if host in known or any(host.startswith(a) and host.endswith(b) for a, b in patterns):
                continue
            message = f"actor {function!r} is on host {host!r}, which {names} lacks"
            file.add(line, ERROR, message, "name a host of the platform")
    return [finding for file in checked for finding in file.in_order()]


def read_checked(path: FilePath) -> tuple[list[Finding], Platform]:
    """Check a platform file and return its content, so that it is read once.

    Parameters
    ----------
    path : path
        A platform file.

    Returns
    -------
    findings : list of Finding
        As `check` returns them.
    platform : Platform
        As `simplugin.formats.platform_xml.read_platform` returns it if no finding is an error;
        otherwise what could be read.
    """
    with uncollected():
        file = _check_file(os.fspath(path))
    return file.in_order(), file.platform


def _check_file(path: str) -> _Checked:
    """Check a single file."""
    file = _Checked(path)
    try:
        _find_all(file)
    except PlatformError as error:
        # An error without a line is about the file as a whole.
        severity = UNREADABLE if error.line is None else ERROR
        file.add(error.line, severity, error.message, error.remedy)
    except _EnoughError:
        last = file.findings[-1]
        message = f"there are more than {MOST_FINDINGS} findings; the rest is not listed"
        file.findings.append(Finding(path, last.line, ERROR, message, "right these first"))
    return file


def _find_all(file: _Checked) -> None:
    """Add the findings of a file, and its content."""
    root = read_document(file.name, PlatformError, file.add_error, file.add_warning)
    reader = PlatformReader(file.name, file.add_error)
    platform = file.platform = reader.platform(root)
    file.lines, file.broken = reader.lines, tuple(_broken(reader.broken))
    file.broken_actors = tuple(node for node in reader.broken if standard_tag(node.tag) == "actor")
    problems = [
        *find_problems(platform, file.broken),
        *profile_file_problems(platform),
        # They matter only where the energy is measured.
        *(replace(each, severity=WARNING) for each in energy_problems(platform)),
        *requirement_problems(platform, options_in_force(platform)),
    ]
    located = [(reader.lines.get(id(each.part), root.line), each) for each in problems]
    located += option_problems(options_of(root))
    if reader.replaced:
        located += replaced_file_problems(platform, reader.replaced)
    located += reader.odd
    for line, problem in located:
        file.add(line, problem.severity, problem.message, problem.remedy)
    if not (platform.actors or platform.host_count or file.broken or file.broken_actors):
        message = "the file has neither hosts nor actors"
        file.add(root.line, WARNING, message, "write a <host>, a <cluster> or an <actor>")


def requirement_problems(
    platform: Platform, options: Mapping[str, str]
) -> Iterator[PlatformProblem]:
    """Yield what SimGrid refuses in a platform under some options."""
    yield from option_requirements(platform, options)
    if options.get("cpu/optim") == "TI":
        yield from integration_problems(platform)


def unmet_requirement(
    platform: Platform | str, options: Mapping[str, str], *, energy: bool
) -> PlatformError | None:
    """Return the error for a platform that a simulation with some options would refuse.

    Parameters
    ----------
    platform : Platform or str
        The platform, or its file, which is read if need be.
    options : mapping of str to str
        The options of the simulation, those of the platform included.
    energy : bool
        True if the energy is to be measured.
    """
    if not energy and options.get("cpu/optim") != "TI" and "tracing" not in options:
        return None
    lines: Mapping[int, int] = {}
    place: dict[str, Any] = {}
    if isinstance(platform, str):
        # All other errors of the file are left to SimGrid.
        reader = PlatformReader(platform, lambda _: None)
        root = read_document(platform, PlatformError, warn=lambda _: None)
        lines, place, platform = reader.lines, {"file": platform}, reader.platform(root)
    problems = [*requirement_problems(platform, options)]
    problems += energy_problems(platform) if energy else ()
    for problem in problems:
        if problem.severity == ERROR:
            line = lines.get(id(problem.part))
            return PlatformError(problem.message, **place, line=line, remedy=problem.remedy)
    return None


def _broken(nodes: Iterable[XmlElement]) -> Iterable[Broken]:
    """Return the names of the elements that could not be built."""
    for node in nodes:
        given = node.attributes
        tag = standard_tag(node.tag)
        if tag in _NO_HARDWARE:
            continue
        hosts = None
        if tag in {"cluster", "cabinet"}:
            hosts = (given.get("prefix", ""), given.get("suffix", ""))
            if given.get("router_id"):
                yield Broken(given["router_id"])
        yield Broken(given.get("id", ""), hosts)
        if tag == "zone":
            yield from _broken(node.children)
