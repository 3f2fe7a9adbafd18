"""Pickles of functions, values and errors that are sent to or from a simulation's process.

Modules that a fresh interpreter finds are named and imported there; functions and classes of any
other module (a notebook, a script, a test module imported under another name) are sent by value.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
import traceback
import types
from collections.abc import Sequence
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

from simplugin.core.errors import SimpluginError, SimulationError
from simplugin.inputs.references import find_spec
from simplugin.simulation.digests import PLAIN
from simplugin.simulation.process.environment import modules_beside_path
from simplugin.simulation.protocol import ActorJob, UserFunctions

# cloudpickle has one list of the modules to send by value for the whole process.
_sending = threading.Lock()
# True if a module can be found again, by sys.path and by name.
_found: dict[tuple[Any, ...], dict[str, bool]] = {}
_PROTOCOL = 5


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that sends modules by value which a fresh interpreter would not find."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self.whole: list[types.ModuleType] = []
        self._known = _found.setdefault((*sys.path, *modules_beside_path()), {})

    def reducer_override(self, obj: Any) -> Any:
        """Reduce functions, classes and exceptions."""
        if isinstance(obj, type | types.FunctionType):
            self._consider(obj.__module__)
        elif isinstance(obj, types.ModuleType):
            self._consider(obj.__name__)
        elif isinstance(obj, BaseException) and _pickles_by_arguments(type(obj)):
            return _rebuild, (type(obj), obj.args, obj.__dict__)
        return super().reducer_override(obj)

    def _consider(self, name: str | None) -> None:
        """Mark a module to be sent by value if it cannot be found."""
        if not name or name == "__main__":
            return
        findable = self._known.get(name)
        if findable is None:
            findable = self._known[name] = is_findable(name)
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


def pack_functions(functions: UserFunctions) -> bytes:
    """Pickle the actors, callbacks and chooser of a simulation, which may share objects.

    Raises
    ------
    SimulationError
        A function or an argument cannot be sent; the message names the actor.
    """
    try:
        # Plain tuples: the class of each would be looked up one by one.
        return pack(([tuple(actor) for actor in functions.actors], *functions[1:]))
    except Exception as error:
        culprit = _culprit(functions)
        raise SimulationError(f"{culprit} cannot be sent to the simulation: {error}") from error


def unpack_functions(data: bytes) -> UserFunctions:
    """Undo `pack_functions`."""
    actors, *others = pickle.loads(data)
    return UserFunctions([ActorJob._make(actor) for actor in actors], *others)


def _culprit(functions: UserFunctions) -> str:
    """Return a text that names the first object that cannot be pickled."""
    for name, function in (("a callback", functions.callbacks), ("the chooser", functions.chooser)):
        if not _travels(function):
            return name
    for actor in functions.actors:
        who = f"actor {actor.name!r} on {actor.host!r}"
        if not _travels(actor.function):
            return f"the function of {who} (or something that it refers to)"
        for position, argument in enumerate(actor.args, start=1):
            if not _travels(argument):
                return f"argument {position} of {who}, of type {type(argument).__qualname__},"
        if not _travels(actor.properties):
            return f"the properties of {who}"
    return "an actor"


def pack_returned(values: Sequence[Any], names: Sequence[str], hosts: Sequence[str]) -> bytes:
    """Pickle the returned values of the actors.

    Raises
    ------
    SimulationError
        A value cannot be pickled; the message names the actor.
    """
    if all(type(value) in PLAIN for value in values):
        return pickle.dumps(list(values), _PROTOCOL)
    try:
        return pack(list(values))
    except Exception as error:
        for value, name, host in zip(values, names, hosts, strict=True):
            if not _travels(value):
                raise SimulationError(
                    f"actor {name!r} on {host!r} returned an object of type"
                    f" {type(value).__qualname__}, which cannot leave the simulation's process:"
                    f" {error}; return plain data"
                ) from error
        raise


def _travels(value: object) -> bool:
    """Return True if a value can be pickled."""
    return bool(_packed_or_empty(value))


def is_findable(name: str) -> bool:
    """Return True if a fresh interpreter with this sys.path would import the same module."""
    module = sys.modules.get(name)
    if module is None or name.partition(".")[0] in sys.stdlib_module_names:
        return True
    spec = find_spec(name)
    if spec is None:
        return False
    file: str | None = getattr(module, "__file__", None)
    if not file or not spec.has_location or spec.origin is None:
        return True
    return os.path.realpath(file) == os.path.realpath(spec.origin)


# ---- errors -----------------------------------------------------------------------------------


class OriginalError(Exception):
    """Replaces an exception of an actor that cannot be sent from the simulation's process.

    Attributes
    ----------
    type_name : str
        Its type, with module.
    text : str
        Its ``repr``.
    """

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(f"{type_name}: {text}")
        self.type_name = type_name
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the parts."""
        return OriginalError, (self.type_name, self.text)


def pack_error(error: BaseException) -> bytes:
    """Pickle an exception and its cause, at least by their texts."""
    if not isinstance(error, SimpluginError):
        text = "".join(traceback.format_exception(error)).rstrip()
        unexpected = SimulationError(f"the simulation failed: {_repr(error)}\n\n{text}")
        unexpected.__cause__ = error
        error = unexpected
    # An attribute may not pickle.
    body = _packed_or_empty(error) or pack(SimulationError(str(error)))
    cause = error.__cause__
    stand_in = b""
    if cause is not None:
        kind = type(cause)
        stand_in = pack(OriginalError(f"{kind.__module__}.{kind.__qualname__}", _repr(cause)))
    return pickle.dumps((body, stand_in, _packed_or_empty(cause)))


def _packed_or_empty(value: object) -> bytes:
    """Pickle a value; nothing if it cannot be."""
    try:
        return pack(value)
    except Exception:
        return b""


def unpack_error(data: bytes) -> SimpluginError:
    """Undo `pack_error`; the exception has its `__cause__` again, or a stand-in."""
    body, stand_in, cause = pickle.loads(data)
    error: SimpluginError = pickle.loads(body)
    if stand_in:
        try:
            error.__cause__ = pickle.loads(cause)
        except Exception:  # an attribute that does not unpickle
            error.__cause__ = pickle.loads(stand_in)
    return error


def _pickles_by_arguments(kind: type[BaseException]) -> bool:
    """Return True if pickle would call the class with the exception's arguments."""
    return (
        kind.__reduce__ is BaseException.__reduce__
        and kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__setstate__ is BaseException.__setstate__
    )


def _rebuild(
    kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> BaseException:
    """Return an exception, even if its `__init__` takes other arguments than `args`."""
    error: BaseException
    try:
        error = kind(*arguments)
    except Exception:
        error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def _repr(error: BaseException) -> str:
    """Return the repr of an exception, even if its `__repr__` raises."""
    try:
        return repr(error)
    except Exception:
        return f"<{type(error).__qualname__} without repr>"
