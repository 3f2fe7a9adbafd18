"""Functions of a program as runs of a campaign: their code is sent along and is part of keys."""

from __future__ import annotations

import base64
import dis
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from simplugin.core.errors import SimpluginError
from simplugin.inputs.named_files import file_digest, modules_beside
from simplugin.inputs.references import find_spec, is_installed, is_taken
from simplugin.results.row import Metric, Row, RunResult
from simplugin.scenarios.importing import importable
from simplugin.simulation.digests import Encoder, frame
from simplugin.simulation.process.serialization import is_findable, pack

TARGET = f"{__name__}:run"
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
# Attributes of a class that its author has not written.
_OF_CLASSES = {
    *("__dict__", "__weakref__", "__module__", "_abc_impl"),
    *("__firstlineno__", "__static_attributes__"),
}


@dataclass(frozen=True)
class UserFunction:
    """A function ``(parameters) -> metrics`` that any process can call.

    Attributes
    ----------
    name : str
        For tables.
    pickled : str
        The function; what can be imported as a reference, the rest with its code.
    digest : str
        SHA-256 of its code, and of the functions and data of its program that it uses.
    modules : tuple of (str, str)
        Modules that are not installed, and the directories in which they are found.
    """

    name: str
    pickled: str
    digest: str
    modules: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, function: Callable[[dict[str, Any]], Any]) -> UserFunction:
        """Return a function as plain data.

        Raises
        ------
        SimpluginError
            It uses something that cannot be pickled.
        """
        name = getattr(function, "__qualname__", type(function).__qualname__)
        encoder = _CodeEncoder()
        try:
            pickled = base64.b64encode(pack(function)).decode()
            code = sha256(encoder.encode(function, ())).hexdigest()
        except Exception as error:
            message = f"{name!r} cannot be sent to other processes: {error}"
            raise SimpluginError(f"{message}; let it make what it needs itself") from error
        modules = [(each, place) for each in encoder.modules if (place := _place(each)) is not None]
        if taken := [module for module, _ in modules if is_taken(module)]:
            message = f"module {taken[0]!r}, which {name!r} uses, has the name of an installed one"
            raise SimpluginError(f"{message}; rename its file")
        return cls(name, pickled, code, tuple(sorted(modules)))

    @cached_property
    def places(self) -> dict[str, list[str]]:
        """The modules in each directory."""
        found: dict[str, list[str]] = {}
        for module, place in self.modules:
            found.setdefault(place, []).append(module)
        return found

    def state(self) -> list[str]:
        """Return what results depend on: the digests of the code and of the modules as of now."""
        lines = {
            f"{os.path.relpath(path, place)}\t{file_digest(path)}"
            for module, place in self.modules
            for path in modules_beside(place, module)
        }
        return [self.digest, *sorted(lines)]


def run(arguments: Mapping[str, Any]) -> RunResult:
    """Call a function.

    Parameters
    ----------
    arguments : mapping
        ``function``, as `UserFunction.pickled`; `UserFunction.places`; and ``document``, its
        parameters.

    Raises
    ------
    SimpluginError
        It returns no mapping of names to numbers and texts.
    """
    with ExitStack() as stack:
        for place, modules in arguments["places"].items():
            stack.enter_context(importable(Path(place), modules))
        function = pickle.loads(base64.b64decode(arguments["function"]))
        found = function(dict(arguments["document"]))
    return RunResult(found if isinstance(found, Row) else Row(tuple(_metrics(found))))


def _metrics(found: object) -> Iterator[Metric]:
    """Yield the metrics that a function returned."""
    if not isinstance(found, Mapping):
        kind = type(found).__name__
        raise SimpluginError(f"the function returns {kind}; return a dict of names and numbers")
    for name, value in found.items():
        # A scalar of numpy.
        plain = value.item() if getattr(value, "shape", None) == () else value
        if not isinstance(name, str) or not isinstance(plain, int | float | str | None):
            message = f"metric {name!r} is {value!r}"
            raise SimpluginError(f"{message}; give a number or text under a text")
        yield Metric(name, int(plain) if isinstance(plain, bool) else plain)


class _CodeEncoder(Encoder):
    """Writes functions with the objects that they use, except for those that can be imported.

    Attributes
    ----------
    modules : set of str
        The modules that they use.
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()
        # By identity: the order of definitions, and the objects, which thus stay alive.
        self._definitions: dict[int, tuple[int, Any]] = {}

    def encode_definition(self, value: Any, above: tuple[int, ...]) -> bytes:
        """Write a function or a class by its contents, or by its name if it can be imported."""
        if isinstance(value, ModuleType):
            return self._import(value.__name__)
        if _is_importable(value):
            return frame(b"N", self._import(value.__module__), value.__qualname__.encode())
        if id(value) in self._definitions:
            return frame(b"@", str(self._definitions[id(value)][0]).encode())
        self._definitions[id(value)] = len(self._definitions), value
        if isinstance(value, FunctionType):
            code, names = value.__code__, value.__globals__
            used = {name: names[name] for name in _names(code, _GLOBALS) if name in names}
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            parts = code, value.__defaults__, value.__kwdefaults__, cells, used
            flags = code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable
            imports = map(self._import, sorted(_names(code, ("IMPORT_NAME",))))
            return frame(b"F", *self.each((*parts, *flags), above), *imports)
        if isinstance(value, type):
            contents = {name: each for name, each in vars(value).items() if name not in _OF_CLASSES}
            return frame(b"K", *self.each((value.__qualname__, value.__bases__, contents), above))
        return super().encode_definition(value, above)

    def encode_object(self, value: Any, above: tuple[int, ...]) -> bytes:
        """Write the functions of a property or a wrapper, and others by their reduction."""
        if isinstance(value, property):
            return frame(b"p", *self.each((value.fget, value.fset), above))
        if isinstance(value, staticmethod | classmethod):
            return frame(b"w", self.encode(value.__func__, above))
        # A wrapper, such as that of functools.cache, reduces to its name.
        wrapped = self.encode(getattr(value, "__wrapped__", None), above)
        return super().encode_object(value, above) + wrapped

    def _import(self, name: str) -> bytes:
        """Note a module, and write its name."""
        self.modules.add(name)
        return frame(b"m", name.encode())


def _names(code: CodeType, operations: tuple[str, ...]) -> set[str]:
    """Return the names that some operations of code use, nested code included."""
    found = {each.argval for each in dis.get_instructions(code) if each.opname in operations}
    return found.union(
        *(_names(each, operations) for each in code.co_consts if isinstance(each, CodeType))
    )


def _is_importable(value: Any) -> bool:
    """Return True if another process finds a function or class by its name."""
    module = getattr(value, "__module__", None) or "__main__"
    found: Any = sys.modules.get(module)
    for step in value.__qualname__.split("."):
        found = getattr(found, step, None)
    return found is value and module != "__main__" and is_findable(module)


def _place(name: str) -> str | None:
    """Return the directory of a module; None if it is installed."""
    spec = find_spec(name.partition(".")[0])
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        return None
    if is_installed(spec.origin):
        return None
    place = os.path.dirname(os.path.abspath(spec.origin))
    return os.path.dirname(place) if spec.submodule_search_locations else place
