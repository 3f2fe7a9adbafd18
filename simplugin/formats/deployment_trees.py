"""Trees of applications from TOML and JSON files: the parent of each host."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from simplugin.core.errors import DeploymentError, FileError
from simplugin.inputs.documents import Document, read_json, read_toml
from simplugin.inputs.files import FilePath
from simplugin.platforms.deployments import ApplicationTree, require_tree, sole_root

Steps = tuple[str, ...]

_REMEDY = 'write "host" = "parent", names with dots in quotes'


class _TreeFile:
    """A file of trees: its content, and its place."""

    def __init__(self, document: Document) -> None:
        self._error = document.error
        if not isinstance(document.content, dict):
            raise document.error((), "this holds no hosts", _REMEDY)
        self.content: dict[str, Any] = document.content

    @property
    def is_one_tree(self) -> bool:
        """True if it is one tree, not one for each application."""
        return not any(isinstance(value, dict) for value in self.content.values())

    def tree(self, application: str, root: str | None) -> ApplicationTree:
        """Return the tree of an application."""
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
        try:
            root = sole_root(hosts) if root is None else root
            require_tree(root, hosts)
            return ApplicationTree(application, root, hosts)
        except FileError as error:
            path = (*steps, *error.path)
            raise self._error(path, error.message, error.remedy or _REMEDY) from None

    def _no_tree(self, application: str) -> FileError:
        """Return the error for an application without a tree."""
        message = f"there is no tree for application {application!r}"
        for name, hosts in self.content.items():
            # The result of a TOML name with dots but without quotes.
            inner = hosts.items() if isinstance(hosts, dict) else ()
            nested = next((host for host, parent in inner if isinstance(parent, dict)), None)
            if nested is not None:
                return self._error(
                    (name, nested), f"{message}, and {name!r} holds tables, no hosts", _REMEDY
                )
        remedy = f"there are {', '.join(self.content)}; put names of hosts with dots in quotes"
        return self._error((), message, remedy)


def read_trees(
    path: FilePath,
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
        The file cannot be read, has no tree for an application, or an invalid one; with
        file and line.
    """
    is_json = Path(path).suffix.lower() == ".json"
    read = read_json if is_json else partial(read_toml, remedy=_REMEDY)
    file = _TreeFile(read(path, DeploymentError))
    if roots is None:
        if file.is_one_tree:
            raise DeploymentError(
                "this tree is for no application",
                file=path,
                remedy='name the application, or write the tree as its table: ["name"]',
            )
        roots = dict.fromkeys(file.content, root)
    return tuple(file.tree(application, above) for application, above in roots.items())
