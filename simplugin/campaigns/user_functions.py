"""Functions of a program as runs of a campaign: their code travels with them and decides keys."""

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
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from simplugin.campaigns.jobs import RunResult
from simplugin.core.errors import SimpluginError
from simplugin.inputs.named_files import file_digest, modules_beside
from simplugin.inputs.references import find_spec, is_installed, is_taken
from simplugin.results.row import Metric, Row
from simplugin.scenarios.importing import importable
from simplugin.simulation.serialization import is_findable, pack

TARGET = f"{__name__}:run"
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes)
# What a class has beside what its author wrote.
_OF_CLASSES = {
    *("__dict__", "__weakref__", "__module__", "_abc_impl"),
    *("__firstlineno__", "__static_attributes__"),
}


@dataclass(frozen=True)
class OwnFunction:
    """A function ``(parameters) -> metrics`` that any process can call.

    Attributes
    ----------
    name : str
        For tables.
    pickled : str
        The function; what can be imported as a reference, the rest with its code.
    digest : str
        SHA-256 of the code and the data that it uses of its program.
    modules : tuple of (str, str)
        Modules that are not installed, and the directories in which they are found.
    """

    name: str
    pickled: str
    digest: str
    modules: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, function: Callable[[dict[str, Any]], Any]) -> OwnFunction:
        """Return a function as plain data.

        Raises
        ------
        SimpluginError
            It uses something that cannot be pickled.
        """
        name = getattr(function, "__qualname__", type(function).__qualname__)
        code = _Code()
        try:
            pickled = base64.b64encode(pack(function)).decode()
            code.add(function)
        except Exception as error:
            message = f"{name!r} cannot be sent to other processes: {error}"
            raise SimpluginError(f"{message}; let it make what it needs itself") from error
        modules = [(each, place) for each in code.modules if (place := _place(each)) is not None]
        if taken := [module for module, _ in modules if is_taken(module)]:
            message = f"module {taken[0]!r}, which {name!r} uses, has the name of an installed one"
            raise SimpluginError(f"{message}; rename its file")
        return cls(name, pickled, code.digest, tuple(sorted(modules)))

    @cached_property
    def places(self) -> dict[str, list[str]]:
        """The modules in each directory."""
        found: dict[str, list[str]] = {}
        for module, place in self.modules:
            found.setdefault(place, []).append(module)
        return found

    def state(self) -> list[str]:
        """Return what decides about results: the digests of the code and of the modules now."""
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
        ``function``, as `OwnFunction.pickled`; `OwnFunction.places`; and ``document``, its
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
    """Yield what a function returned."""
    if not isinstance(found, Mapping):
        kind = type(found).__name__
        raise SimpluginError(f"the function returns {kind}; return a dict of names and numbers")
    for name, value in found.items():
        # Numbers of numpy's.
        plain = value.item() if getattr(value, "shape", None) == () else value
        if not isinstance(name, str) or not isinstance(plain, int | float | str | None):
            message = f"metric {name!r} is {value!r}"
            raise SimpluginError(f"{message}; give a number or text under a text")
        yield Metric(name, int(plain) if isinstance(plain, bool) else plain)


class _Code:
    """The digest of code and of all that it uses, and the names of the modules among these."""

    def __init__(self) -> None:
        self._total = sha256()
        self._seen: dict[int, tuple[int, Any]] = {}
        self.modules: set[str] = set()

    @property
    def digest(self) -> str:
        """SHA-256 of what was added."""
        return self._total.hexdigest()

    def add(self, value: Any) -> None:
        """Add a value; functions with what they use, but for what can be imported."""
        if isinstance(value, _PLAIN):
            self._note(type(value).__name__, repr(value))
            return
        if id(value) in self._seen:
            self._note("again", self._seen[id(value)][0])
            return
        self._seen[id(value)] = (len(self._seen), value)
        if isinstance(value, ModuleType):
            self._import(value.__name__)
        elif isinstance(value, FunctionType | BuiltinFunctionType | type):
            self._definition(value)
        elif isinstance(value, CodeType):
            # Without its place in a file, which differs from session to session.
            self._note("code", value.co_code.hex(), value.co_names, value.co_varnames)
            self._note(value.co_argcount, value.co_kwonlyargcount, value.co_flags)
            self._note(value.co_freevars, value.co_cellvars, value.co_exceptiontable.hex())
            self._each(value.co_consts)
        elif isinstance(value, Mapping):
            self._note("mapping", type(value).__qualname__, len(value))
            self._each(part for item in value.items() for part in item)
        elif isinstance(value, list | tuple):
            self._note(type(value).__qualname__, len(value))
            self._each(value)
        elif isinstance(value, set | frozenset):
            self._note("set", *sorted(map(self._alone, value)))
        else:
            self._object(value)

    def _note(self, *words: object) -> None:
        """Add words."""
        self._total.update("\0".join(map(str, words)).encode("utf-8", "surrogatepass") + b"\1")

    def _each(self, values: Any) -> None:
        """Add values one after the other."""
        for each in values:
            self.add(each)

    def _alone(self, value: Any) -> str:
        """Return the digest of a value by itself; sets have no order."""
        own = _Code()
        own.add(value)
        self.modules |= own.modules
        return own.digest

    def _import(self, name: str) -> None:
        """Add a module by its name."""
        self._note("module", name)
        self.modules.add(name)

    def _definition(self, value: Any) -> None:
        """Add a function or a class."""
        if _is_importable(value):
            self._import(value.__module__)
            self._note(value.__qualname__)
        elif isinstance(value, FunctionType):
            self.add(value.__code__)
            self._each((value.__defaults__, value.__kwdefaults__))
            for cell in value.__closure__ or ():
                self.add(cell.cell_contents)
            for name in sorted(_names(value.__code__, _GLOBALS)):
                if name in value.__globals__:
                    self._note(name)
                    self.add(value.__globals__[name])
            for name in sorted(_names(value.__code__, ("IMPORT_NAME",))):
                self._import(name)
        elif isinstance(value, type):
            self._note("class", value.__qualname__)
            self._each(value.__bases__)
            own = vars(value).items()
            self._each(part for item in own if item[0] not in _OF_CLASSES for part in item)
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """Add any other object by what it is made of again."""
        if isinstance(value, property):
            self._each((value.fget, value.fset))
            return
        if isinstance(value, staticmethod | classmethod):
            self.add(value.__func__)
            return
        made = value.__reduce_ex__(4)
        if isinstance(made, str):
            self._note(type(value).__qualname__, made)
            self.add(getattr(value, "__wrapped__", None))
        else:
            self._each(list(part) if isinstance(part, Iterator) else part for part in made)


def _names(code: CodeType, operations: tuple[str, ...]) -> set[str]:
    """Return the names that some operations of code, and of that within it, are about."""
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
    """Return the directory where a module is found; None for those that are installed."""
    spec = find_spec(name.partition(".")[0])
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        return None
    if is_installed(spec.origin):
        return None
    place = os.path.dirname(os.path.abspath(spec.origin))
    return os.path.dirname(place) if spec.submodule_search_locations else place
