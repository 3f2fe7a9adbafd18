"""Generators of platforms by name: their parameters, and calls with values from outside."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import PlatformError, UnitError
from simplugin.inputs.messages import suggestion
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.platforms.laws import QUANTITIES, Dimension, read_law, read_number
from simplugin.platforms.validation import require_count
from simplugin.scenarios.generators import GENERATORS
from simplugin.units import format_bandwidth, format_speed, format_time

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.platforms.laws import Law
    from simplugin.platforms.topologies.shapes import Capacities

_WRITERS = {"speed": format_speed, "bandwidth": format_bandwidth, "latency": format_time}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_DIRECTORY = ("directory", inspect.Parameter.KEYWORD_ONLY)
# A number in the SI unit, or a text with a unit; and also a law as a table.
Quantity = float | str
Drawn = float | str | Mapping[str, Any]

_PLURALS = {"speeds": "speed", "bandwidths": "bandwidth", "latencies": "latency"}


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

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Its named parameters; a scenario's `directory` is not one to be given."""
        every = self._signature()
        return {
            name: each
            for name, each in every.items()
            if each.kind in _NAMED and (name, each.kind) != _DIRECTORY
        }

    @property
    def takes_anything(self) -> bool:
        """Return True if it takes parameters that it does not name."""
        every = self._signature().values()
        return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in every)

    @property
    def documentation(self) -> str:
        """Its docstring; empty if it has none."""
        return inspect.getdoc(self.make) or ""

    def usage(self) -> str:
        """Return its parameters with their defaults, as one gives them to the command."""
        words = [
            name if each.default is inspect.Parameter.empty else f"{name}={_text(name, each)}"
            for name, each in self.parameters.items()
        ]
        return " ".join([*words, *(["..."] if self.takes_anything else [])]) or "(nothing)"

    @property
    def asks_for_directory(self) -> bool:
        """Return True if it asks, by a keyword-only `directory`, where its paths start."""
        name, kind = _DIRECTORY
        asked = self._signature().get(name)
        return asked is not None and asked.kind is kind

    def platform(
        self, parameters: Mapping[str, Any], directory: str | os.PathLike[str] | None = None
    ) -> Platform:
        """Return the platform that it makes.

        Parameters
        ----------
        parameters : mapping
            By name.
        directory : path, optional
            Where its paths start, passed if it has such a parameter that is absent; otherwise the
            current one.

        Raises
        ------
        PlatformError
            A parameter is unknown or missing, the generator refuses a value, or what it returns
            is no platform.
        """
        from simplugin.platforms import Platform
        from simplugin.platforms.graphs import Graph

        wrong = self.wrong_name(parameters)
        if wrong is not None:
            raise wrong[1]
        try:
            made = self.make(**self._further(parameters, directory), **parameters)
        except (TypeError, ValueError, PlatformError, UnitError) as error:
            raise self._refusal(f"refuses its parameters: {error}") from error
        if isinstance(made, Graph):
            return made.platform()
        if not isinstance(made, Platform):
            raise PlatformError(
                f"generator {self.name!r} returned {type(made).__name__}, not a Platform"
            )
        return made

    def _signature(self) -> Mapping[str, inspect.Parameter]:
        """Return all parameters of the function; any if Python does not know them."""
        try:
            return inspect.signature(self.make).parameters
        except (TypeError, ValueError):
            return {"further": inspect.Parameter("further", inspect.Parameter.VAR_KEYWORD)}

    def _further(
        self, parameters: Mapping[str, Any], directory: str | os.PathLike[str] | None
    ) -> dict[str, Any]:
        """Return what is passed beside its parameters."""
        asked = self.asks_for_directory and _DIRECTORY[0] not in parameters
        return {_DIRECTORY[0]: directory} if asked and directory is not None else {}

    def wrong_name(self, parameters: Iterable[str]) -> tuple[str | None, PlatformError] | None:
        """Return what is wrong with the names of parameters, as `platform` would raise it.

        Returns
        -------
        tuple of str and PlatformError, optional
            The name that is unknown, None where one is missing, and the error; None if all is
            right.
        """
        given, known = list(parameters), self.parameters
        hidden = {_DIRECTORY[0]} if self.asks_for_directory else set()
        for name in given:
            if name not in known and name not in hidden and not self.takes_anything:
                close = suggestion(name, known, "")
                hint = f"{close} It takes " if close.endswith("?") else "it takes "
                return name, self._refusal(f"has no parameter {name!r}", hint)
        for name, each in known.items():
            if each.default is inspect.Parameter.empty and name not in given:
                return None, self._refusal(f"lacks its parameter {name!r}")
        return None

    def _refusal(self, message: str, hint: str = "it takes ") -> PlatformError:
        """Return an error with the generator's parameters."""
        return PlatformError(f"generator {self.name!r} {message}", remedy=hint + self.usage())


def generator_called(name: str, found: Callable[[str], Callable[..., Any]] = resolve) -> Generator:
    """Return a generator.

    Parameters
    ----------
    name : str
        A key of `GENERATORS`, or ``module:function``.
    found : callable
        Returns what ``module:function`` names; without, any function counts, as for programs.

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


def _text(name: str, parameter: inspect.Parameter) -> str:
    """Return a default as one writes it for the command."""
    default = parameter.default
    kind = kind_of(name)
    if default is None:
        return "..."
    if isinstance(default, bool):
        return str(default).lower()
    if kind is not None and isinstance(default, int | float):
        return _WRITERS[kind](default)
    if kind is not None and isinstance(default, tuple):
        return "[" + ",".join(f'"{_WRITERS[kind](each)}"' for each in default) + "]"
    return str(default)


def kind_of(name: str) -> str | None:
    """Return what a parameter is by its name: speed, bandwidth, latency, or nothing of these."""
    kind = re.split("[._]", name)[-1]
    kind = _PLURALS.get(kind, kind)
    return kind if kind in QUANTITIES else None


def read_quantity(name: str, value: Any) -> float:
    """Return a speed [flop/s], a bandwidth [byte/s] or a latency [s].

    Parameters
    ----------
    name : str
        Of the parameter, which ends in its kind.
    value : float or str
        A number in the SI unit, or a text with a unit.

    Raises
    ------
    PlatformError
        It is neither, or out of its range.
    """
    return read_number(name, value, _dimension(name))


def read_drawn(name: str, value: Any) -> float | Law:
    """Return a quantity, or the law that it is drawn from.

    Parameters
    ----------
    name : str
        Of the parameter, which ends in its kind.
    value : float, str or mapping
        As for `read_quantity`; or a law as `simplugin.platforms.laws.read_law` takes it,
        such as ``{ law = "uniform", low = "1Gf", high = "2Gf" }``.

    Raises
    ------
    PlatformError
        It is nothing of these, or there is no such law.
    """
    if isinstance(value, Mapping):
        return read_law(name, value, _dimension(name))
    return read_number(name, value, _dimension(name))


def read_range(name: str, value: Any) -> tuple[float, float]:
    """Return the smallest and the largest of a quantity, of two in brackets.

    Raises
    ------
    PlatformError
        There are not two, or one of them is no such quantity.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise PlatformError(f"{name} is {value!r}", remedy="give the smallest and the largest")
    return read_quantity(name, value[0]), read_quantity(name, value[1])


def _dimension(name: str) -> Dimension:
    """Return what a parameter is."""
    return QUANTITIES[kind_of(name) or ""]


def read_capacities(speed: Drawn, bandwidth: Drawn, latency: Drawn) -> Capacities:
    """Return capacities of hosts and links."""
    from simplugin.platforms.topologies.shapes import Capacities

    return Capacities(
        read_drawn("speed", speed),
        read_drawn("bandwidth", bandwidth),
        read_drawn("latency", latency),
    )


def draws(seed: int) -> np.random.Generator:
    """Return the source of draws that a seed stands for.

    Parameters
    ----------
    seed : int
        From 0 on.

    Raises
    ------
    PlatformError
        It is no such number.
    """
    require_count("the seed", seed, 0)
    return np.random.default_rng(seed)
