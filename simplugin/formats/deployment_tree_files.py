"""Trees of applications from TOML and JSON files: the parent of each host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simplugin.errors import DeploymentError, FileError, WorkloadFileError
from simplugin.formats.json_values import JsonDocument, read_json
from simplugin.formats.text_files import read_text
from simplugin.formats.toml_lines import line_of, place_of
from simplugin.platforms.application_trees import ApplicationTree, find_fault, sole_root

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    Steps = tuple[str, ...]

_REMEDY = 'write "host" = "parent", names with dots in quotes'


class _Lines(Protocol):
    """What knows on which line a value of a file stands."""

    def line(self, path: Steps) -> int | None:
        """Return the line."""


class _TomlLines:
    """The lines of a TOML file."""

    def __init__(self, text: str) -> None:
        self._text = text

    def line(self, path: Steps) -> int | None:
        """Return the line on which a key is set."""
        if not path:
            return None
        # `line_of` reads every beginning of the file, which takes minutes for thousands of lines.
        key = rf"[\"']?{re.escape(path[-1])}[\"']?\s*"
        sets_it = re.compile(rf"(?:^|[{{,])\s*{key}=|^\s*\[\s*{key}\]").search
        lines = self._text.split("\n")
        for number, line in enumerate(lines):
            if not sets_it(line) or _has("\n".join(lines[:number]), path) is not False:
                continue
            if _has("\n".join(lines[: number + 1]), path):
                return number + 1
        return line_of(self._text, path)


def _has(text: str, path: Steps) -> bool | None:
    """Whether the beginning of a file sets a key; None if it cannot be read by itself."""
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    for step in path:
        if not isinstance(found, dict) or step not in found:
            return False
        found = found[step]
    return True


class _TreeFile:
    """A file of trees: its content, and where it stands."""

    def __init__(self, path: str | os.PathLike[str], content: object, lines: _Lines) -> None:
        self._path = path
        self._lines = lines
        if not isinstance(content, dict):
            raise self._error((), "this holds no hosts", _REMEDY)
        self.content: dict[str, Any] = content

    @property
    def is_one_tree(self) -> bool:
        """Whether it is one tree, not one for each application."""
        return not any(isinstance(value, dict) for value in self.content.values())

    def tree(self, application: str, root: str | None) -> ApplicationTree:
        """Return the tree of an application."""
        parent = self._parents(application)
        steps = () if self.is_one_tree else (application,)
        try:
            root = sole_root(parent) if root is None else root
            fault = find_fault(root, parent)
            if fault is None:
                return ApplicationTree(application, root, parent)
        except FileError as error:
            raise self._error(steps, error.message, error.remedy or _REMEDY) from None
        raise self._error((*steps, fault.host), fault.message, fault.remedy)

    def _parents(self, application: str) -> dict[str, str]:
        """Return the parent of each host in an application's tree."""
        steps: Steps = ()
        hosts = self.content
        if not self.is_one_tree:
            if application not in hosts:
                raise self._no_tree(application)
            steps, hosts = (application,), hosts[application]
        if not isinstance(hosts, dict):
            raise self._error(steps, f"{application!r} is a host beside trees", _REMEDY)
        for host, parent in hosts.items():
            if not isinstance(parent, str):
                kind = "a table" if isinstance(parent, dict) else "no name"
                message = f"the parent of host {host!r} is {kind}"
                raise self._error((*steps, host), message, _REMEDY)
        return hosts

    def _no_tree(self, application: str) -> DeploymentError:
        """Return the error for an application without a tree."""
        message = f"there is no tree for application {application!r}"
        for name, hosts in self.content.items():
            # What a TOML name with dots makes where it stands without quotes.
            inner = hosts.items() if isinstance(hosts, dict) else ()
            nested = next((host for host, parent in inner if isinstance(parent, dict)), None)
            if nested is not None:
                return self._error(
                    (name, nested), f"{message}, and {name!r} holds tables, no hosts", _REMEDY
                )
        told = f"there are {', '.join(self.content)}; names of hosts with dots stand in quotes"
        return self._error((), message, told)

    def _error(self, steps: Steps, message: str, remedy: str) -> DeploymentError:
        """Return an error at a place in the file."""
        line = self._lines.line(steps)
        return DeploymentError(message, file=self._path, line=line, remedy=remedy)


def read_trees(
    path: str | os.PathLike[str],
    roots: Mapping[str, str | None] | None = None,
    root: str | None = None,
) -> tuple[ApplicationTree, ...]:
    """Read trees from a TOML or JSON file.

    The file has the parent of each host but the root, ``"host" = "parent"`` or in JSON ``{"host":
    "parent"}``: one tree for all applications, or a table (an object) for each, under its name.

    Parameters
    ----------
    path : path
        A file in UTF-8; JSON if its name ends in ``.json``.
    roots : mapping of str to str or None, optional
        The applications, and the root of each; None for the host that has no parent. Without a
        mapping, all applications of the file.
    root : str, optional
        The root of all trees, where there is no mapping; None for the hosts without parents.

    Returns
    -------
    tuple of ApplicationTree
        In the order of the applications.

    Raises
    ------
    DeploymentError
        The file cannot be read, has no tree for an application, or what it has is none; with
        file and line.
    """
    file = _tree_file(path)
    if roots is None:
        if file.is_one_tree:
            raise DeploymentError(
                "this tree is for no application",
                file=path,
                remedy='name the application, or write the tree as its table: ["name"]',
            )
        roots = dict.fromkeys(file.content, root)
    return tuple(file.tree(application, above) for application, above in roots.items())


def _tree_file(path: str | os.PathLike[str]) -> _TreeFile:
    """Return what a file says."""
    try:
        if Path(path).suffix.lower() == ".json":
            value = read_json(path)
            return _TreeFile(path, value.content, _JsonLines(value.document))
        text = read_text(path)
    except WorkloadFileError as error:
        raise DeploymentError(
            error.message, file=path, line=error.line, remedy=error.remedy
        ) from None
    # TOML has no other ends of lines; this keeps the numbers of lines.
    text = text.replace("\r\n", "\n")
    try:
        return _TreeFile(path, tomllib.loads(text), _TomlLines(text))
    except tomllib.TOMLDecodeError as error:
        message, line = place_of(error, text)
        raise DeploymentError(message, file=path, line=line, remedy=_REMEDY) from None


class _JsonLines:
    """The lines of a JSON file."""

    def __init__(self, document: JsonDocument) -> None:
        self._document = document

    def line(self, path: Steps) -> int | None:
        """Return the line on which a value begins."""
        return self._document.line(path)
