"""Generators of platforms by name: their parameters, and calls with values from outside."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simplugin.core.errors import PlatformError, UnitError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.inputs.documents import Document
from simplugin.inputs.messages import InputProblem, suggestion
from simplugin.inputs.parameters import Signature, product_of_counts
from simplugin.inputs.quantities import dimension_of
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.platforms import Platform
from simplugin.platforms.validation import MOST_HOSTS
from simplugin.scenarios.generators import GENERATORS

_DIRECTORY = "directory"
# Their hosts and links are no product of their numbers.
_POWERS = ("complete_tree", "random_geometric")


@dataclass(frozen=True)
class Generator:
    """A function that makes platforms.

    Attributes
    ----------
    name : str
        A key of `GENERATORS`, or ``module:function``.
    make : callable
        Returns a platform, or a graph of hosts.
    """

    name: str
    make: Callable[..., Any]

    @cached_property
    def signature(self) -> Signature:
        """Its named parameters; a scenario's `directory` is not one to be given."""
        hidden = (_DIRECTORY,) if self._asks_for_directory else ()
        return Signature.of(self.make, hidden=hidden)

    @property
    def documentation(self) -> str:
        """Its docstring; empty if it has none."""
        return inspect.getdoc(self.make) or ""

    def usage(self) -> str:
        """Return its parameters with their defaults, as one gives them to the command."""
        defaults = self.signature.defaults
        words = [
            f"{name}={_text(kind, defaults[name])}" if name in defaults else name
            for name, kind in self.signature.types.items()
        ]
        return " ".join([*words, *(["..."] if self.signature.takes_any else [])]) or "(nothing)"

    @property
    def _asks_for_directory(self) -> bool:
        """Return True if it asks, by a keyword-only `directory`, where its paths start."""
        try:
            asked = inspect.signature(self.make).parameters.get(_DIRECTORY)
        except (TypeError, ValueError):
            return False
        return asked is not None and asked.kind is inspect.Parameter.KEYWORD_ONLY

    def read(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[InputProblem]]:
        """Return parameters with the types of its signature, and problems of invalid ones."""
        values, problems = self.signature.read(parameters, ())
        known = self.signature.types
        for name in parameters:
            if name not in known and not self.signature.takes_any:
                near = did_you_mean(name, known, 2)
                remedy = f"{near} It takes {self.usage()}" if near else f"it takes {self.usage()}"
                message = f"generator {self.name!r} has no parameter {name!r}"
                problems.append(InputProblem((name,), message, remedy))
        return values, problems

    def may_be_too_large(self, parameters: Mapping[str, Any]) -> bool:
        """Return True if its numbers may be those of a platform that is too large to be made."""
        counts = product_of_counts(parameters)
        return self.name in GENERATORS and (self.name in _POWERS or counts > MOST_HOSTS)

    def platform(
        self, parameters: Mapping[str, Any], directory: str | os.PathLike[str] | None = None
    ) -> Platform:
        """Return the platform that it makes.

        Parameters
        ----------
        parameters : mapping
            By name.
        directory : path, optional
            Where its paths start, for one that has such a parameter.

        Raises
        ------
        PlatformError
            A parameter is unknown, missing or invalid, which `path` of the error names; the
            generator refuses its parameters, or does not return a platform.
        """
        from simplugin.platforms import Platform
        from simplugin.platforms.graphs import Graph

        values, problems = self.read(parameters)
        if problems:
            raise Document(parameters, PlatformError).errors(problems)
        if self._asks_for_directory and directory is not None:
            values[_DIRECTORY] = Path(directory)
        try:
            made = self.make(**values)
        except (TypeError, ValueError, PlatformError, UnitError) as error:
            message = f"generator {self.name!r} refuses its parameters: {error}"
            raise PlatformError(message, remedy=f"it takes {self.usage()}") from error
        if isinstance(made, Graph):
            return made.platform()
        if not isinstance(made, Platform):
            raise PlatformError(
                f"generator {self.name!r} returned {type(made).__name__}, not a Platform"
            )
        return made


def generator_called(name: str, found: Callable[[str], Callable[..., Any]] = resolve) -> Generator:
    """Return a generator.

    Parameters
    ----------
    name : str
        A key of `GENERATORS`, or ``module:function``.
    found : callable
        Resolves ``module:function``; by default any function is allowed, as for programs.

    Raises
    ------
    PlatformError
        There is no such generator.
    """
    if name in GENERATORS:
        return Generator(name, resolve(GENERATORS[name]))
    if ":" not in name:
        hint = suggestion(name, GENERATORS, "write 'module:function', or one of")
        raise PlatformError(f"there is no generator {name!r}", remedy=hint)
    try:
        return Generator(name, found(name))
    except UnresolvedError as error:
        message = f"generator {name!r}: {error}"
        raise PlatformError(message, remedy=error.remedy) from error.__cause__


def _text(kind: Any, default: Any) -> str:
    """Return a default as one writes it for the command."""
    dimension = dimension_of(kind)
    if default is None:
        return "..."
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return "[" + ",".join(f'"{_text(kind, each)}"' for each in default) + "]"
    if dimension is not None and math.isfinite(default):
        return dimension.write(default)
    return str(default)
