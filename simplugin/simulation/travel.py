"""Functions and values on their way to and from a simulation's process.

Modules that a fresh interpreter finds are named and imported there; functions and classes of any
other module (a notebook, a script, a test module imported under another name) travel whole.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

from simplugin.errors import SimulationError
from simplugin.simulation.job import ActorJob

# cloudpickle keeps the modules to be sent whole in one list for the whole process.
_sending = threading.Lock()
# Whether a module can be found again, by sys.path and by name.
_found: dict[tuple[str, ...], dict[str, bool]] = {}
_PROTOCOL = 5


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that sends whole what a fresh interpreter would not find."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self.whole: list[types.ModuleType] = []
        self._known = _found.setdefault(tuple(sys.path), {})

    def reducer_override(self, obj: Any) -> Any:
        """Look at the module of each function and class before it is written."""
        if isinstance(obj, type | types.FunctionType):
            self._consider(obj.__module__)
        elif isinstance(obj, types.ModuleType):
            self._consider(obj.__name__)
        return super().reducer_override(obj)

    def _consider(self, name: str | None) -> None:
        """Mark a module to be sent whole if it cannot be found."""
        if not name or name == "__main__":
            return
        findable = self._known.get(name)
        if findable is None:
            findable = self._known[name] = _is_findable(name)
        if not findable and name not in cloudpickle.list_registry_pickle_by_value():
            module = sys.modules[name]
            cloudpickle.register_pickle_by_value(module)
            self.whole.append(module)


def pack(value: object) -> bytes:
    """Pickle a value that may hold functions and classes of any module."""
    if len(_found) > 16:
        _found.clear()
    with _sending:
        file = io.BytesIO()
        pickler = _Pickler(file)
        try:
            pickler.dump(value)
        finally:
            for module in pickler.whole:
                cloudpickle.unregister_pickle_by_value(module)
    return file.getvalue()


def pack_actors(actors: Sequence[ActorJob]) -> bytes:
    """Pickle the actors of a simulation.

    Raises
    ------
    SimulationError
        A function or an argument cannot be sent; the message names the actor.
    """
    try:
        # Plain tuples: the class of each would be looked up one by one.
        return pack([tuple(actor) for actor in actors])
    except Exception as error:
        culprit = _culprit(actors)
        raise SimulationError(f"{culprit} cannot be sent to the simulation: {error}") from error


def unpack_actors(data: bytes) -> list[ActorJob]:
    """Undo `pack_actors`."""
    return [ActorJob._make(actor) for actor in pickle.loads(data)]


def _culprit(actors: Sequence[ActorJob]) -> str:
    """Name the first thing that cannot be pickled."""
    for actor in actors:
        who = f"actor {actor.name!r} on {actor.host!r}"
        if not _travels(actor.function):
            return f"the function of {who} (or something that it refers to)"
        for position, argument in enumerate(actor.args, start=1):
            if not _travels(argument):
                return f"argument {position} of {who}, a {type(argument).__qualname__},"
        if not _travels(actor.properties):
            return f"the properties of {who}"
    return "an actor"


def pack_returned(values: Sequence[Any], names: Sequence[str], hosts: Sequence[str]) -> bytes:
    """Pickle what the actors returned.

    Raises
    ------
    SimulationError
        A value cannot be pickled; the message names the actor.
    """
    try:
        return pack(list(values))
    except Exception as error:
        for value, name, host in zip(values, names, hosts, strict=True):
            if not _travels(value):
                raise SimulationError(
                    f"actor {name!r} on {host!r} returned a {type(value).__qualname__}, which "
                    f"cannot leave the simulation's process: {error}; return plain data"
                ) from error
        raise


def _travels(value: object) -> bool:
    """Whether a value can be pickled."""
    try:
        pack(value)
    except Exception:
        return False
    return True


def _is_findable(name: str) -> bool:
    """Whether a fresh interpreter with this sys.path would import the same module."""
    module = sys.modules.get(name)
    if module is None or name.partition(".")[0] in sys.stdlib_module_names:
        return True
    spec = _find(name)
    if spec is None:
        return False
    file: str | None = getattr(module, "__file__", None)
    if not file or not spec.has_location or spec.origin is None:
        return True
    return os.path.realpath(file) == os.path.realpath(spec.origin)


def _find(name: str) -> ModuleSpec | None:
    """Find a module as `importlib.util.find_spec` does, but never in ``sys.modules``."""
    parent, _, _ = name.rpartition(".")
    path = None
    if parent:
        package = _find(parent)
        if package is None or package.submodule_search_locations is None:
            return None
        path = list(package.submodule_search_locations)
    for finder in sys.meta_path:
        # pytest's finder is not there in a fresh interpreter, and finds nothing of its own.
        if type(finder).__module__.startswith("_pytest"):
            continue
        try:
            spec = finder.find_spec(name, path)
        except Exception:  # a finder of the user's; the next one may do
            continue
        if spec is not None:
            return spec
    return None
