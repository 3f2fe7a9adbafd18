"""Parameters of a scheduler, validated from the typed signature of its policy.

A policy is a function, or a class such as a frozen data class. It is called with some arguments by
position, which its execution provides, and with the scenario's ``[scheduler.parameters]`` by
keyword. The type of each of these follows from its annotation::

    def shared(graphs, site, *, exponent: float = 1.0, order: Literal["fcfs", "sjf"] = "fcfs"): ...

Without an annotation, the type of the default (`bool` or a number) counts; else any value is valid.
Types of `simplugin.inputs.quantities` also read texts with a unit.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, get_type_hints

from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, ValidationError

from simplugin.inputs.messages import (
    Path,
    missing_key,
    problems_of,
)

_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_STRICT = ConfigDict(strict=True)


@dataclass(frozen=True)
class Signature:
    """The keyword parameters of a function.

    Attributes
    ----------
    types : mapping of str to type
        The type of each.
    defaults : mapping of str to object
        The default of each that has one.
    takes_any : bool
        True if there is a ``**further``.
    """

    types: Mapping[str, Any]
    defaults: Mapping[str, Any]
    takes_any: bool

    @classmethod
    def of(
        cls, function: Callable[..., Any], by_position: int = 0, hidden: Collection[str] = ()
    ) -> Signature:
        """Return the signature of a function.

        Parameters
        ----------
        function : callable
            A function or a class.
        by_position : int
            The number of its first parameters that are not given by keyword.
        hidden : collection of str
            Those that a document must not give.
        """
        try:
            every = list(inspect.signature(function).parameters.values())
            while isinstance(function, partial):
                function = function.func
        except (TypeError, ValueError):
            # Some functions written in C lack a signature.
            return cls({}, {}, takes_any=True)
        named = [
            each
            for each in every[by_position:]
            if each.kind in _KEYWORDS and each.name not in hidden
        ]
        return cls(
            {each.name: _type_of(each, function) for each in named},
            {each.name: each.default for each in named if each.default is not each.empty},
            any(each.kind is inspect.Parameter.VAR_KEYWORD for each in every),
        )

    def read(self, given: Mapping[str, Any], path: Path = ()) -> tuple[dict[str, Any], list[Any]]:
        """Validate keyword arguments.

        Parameters
        ----------
        given : mapping
            Plain data by name, as in TOML; values of unknown names are not changed.
        path : tuple of str
            The key of `given`, for messages.

        Returns
        -------
        tuple of dict and list of InputProblem
            The arguments with the types of the signature, and their problems.
        """
        values = dict(given)
        known = {*self.defaults, *given}
        problems = [missing_key((*path, name)) for name in self.types if name not in known]
        for name, value in given.items():
            if name in self.types:
                try:
                    values[name] = _validated(self.types[name], value)
                except ValidationError as error:
                    problems += problems_of(error, self.types[name], value, (*path, name))
        return values, problems


def product_of_counts(value: Any) -> int:
    """Return the product of the positive whole numbers in plain data, but for seeds."""
    if isinstance(value, Mapping):
        value = [each for name, each in value.items() if name != "seed"]
    if isinstance(value, list | tuple):
        return math.prod(map(product_of_counts, value))
    return max(value, 1) if type(value) is int else 1


def _type_of(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:
    """Return the type of a parameter; `Any` if it has none that pydantic knows."""
    if parameter.annotation is inspect.Parameter.empty:
        return _type_of_default(parameter.default)
    namespace = getattr(inspect.unwrap(function), "__globals__", None)
    module = sys.modules.get(getattr(function, "__module__", ""))
    try:
        found = get_type_hints(
            SimpleNamespace(__annotations__={"it": parameter.annotation}),
            namespace if namespace is not None else vars(module),
            include_extras=True,
        )["it"]
        TypeAdapter(found, config=_config(found))
    except (NameError, TypeError, PydanticSchemaGenerationError):
        # It is imported for type checkers only, or a class of the user's.
        return _type_of_default(parameter.default)
    return found


def _type_of_default(default: Any) -> Any:
    """Return the type that a default without annotation stands for."""
    if isinstance(default, bool):
        return bool
    return int | float if isinstance(default, int | float) else Any


def _config(kind: Any) -> ConfigDict | None:
    """Return the configuration of a type's adapter; None for data classes."""
    return None if hasattr(kind, "__dataclass_fields__") else _STRICT


def _validated(kind: Any, value: Any) -> Any:
    """Return a value with a type; as JSON, so that arrays can be tuples and tables data classes."""
    if kind is Any:
        return value
    adapter = TypeAdapter[Any](kind, config=_config(kind))
    return adapter.validate_json(json.dumps(value, default=_json_value), strict=True)


def _json_value(value: Any) -> Any:
    """Convert arrays and numbers of numpy and paths to plain data."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
