"""Digests of values, platforms and simulations: equal exactly for equal contents.

Pickles are not: they depend on which equal objects are one and the same, and on the order of
sets. Here a value is written by its type and contents, sets and mappings in sorted order.
"""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from simplugin.core.errors import PlatformError, SimpluginError
from simplugin.inputs.named_files import profile_names
from simplugin.simulation.protocol import UserFunctions

PLAIN = frozenset({type(None), bool, int, float, str, bytes})
"""Types whose values `repr` writes exactly, and that each pickler writes in the same way."""


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical bytes of `value`, in hexadecimal.

    Raises
    ------
    SimpluginError
        The value holds something that has no contents to write, such as an open file.
    """
    return sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: object) -> bytes:
    """Return bytes that are equal exactly for values of equal type and contents.

    Functions are written by module, name, byte code, defaults and closure, without the functions
    that they call. Floats are compared by their bits, so NaN equals itself.
    """
    return Encoder().encode(value, ())


def frame(tag: bytes, *parts: bytes) -> bytes:
    """Join parts so that no two lists of parts give the same bytes."""
    pieces = [tag, struct.pack("<Q", len(parts))]
    for part in parts:
        pieces += (struct.pack("<Q", len(part)), part)
    return b"".join(pieces)


class Encoder:
    """Writes values as canonical bytes; a subclass may write definitions in another way."""

    def encode(self, value: Any, above: tuple[int, ...]) -> bytes:
        """Write one value; `above` holds the identities of the containers around it."""
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return frame(b"i", repr(value).encode())
        if kind is float:
            return b"f" + struct.pack("<d", value)
        if kind is str:
            return frame(b"s", value.encode("utf-8", "surrogatepass"))
        if kind is bytes:
            return frame(b"b", value)
        if id(value) in above:
            return frame(b"@", str(above.index(id(value))).encode())
        above = (*above, id(value))
        if kind is tuple or kind is list:
            return frame(b"t" if kind is tuple else b"l", *self.each(value, above))
        if kind is dict:
            pairs = (b"".join(self.each(item, above)) for item in value.items())
            return frame(b"d", *sorted(pairs))
        if kind is set or kind is frozenset:
            return frame(b"e", kind.__name__.encode(), *sorted(self.each(value, above)))
        np = sys.modules.get("numpy")  # without it no value is an array
        if np and isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            shape = repr((value.dtype.str, value.dtype.descr, value.shape)).encode()
            return frame(b"a", shape, np.ascontiguousarray(value).tobytes())
        if isinstance(value, types.CodeType):
            # The instructions, without their place.
            names = value.co_names, value.co_varnames, value.co_freevars
            return frame(b"C", *self.each((value.co_code, value.co_consts, *names), above))
        if isinstance(value, types.MethodType):
            return frame(b"M", *self.each((value.__func__, value.__self__), above))
        if isinstance(value, partial):
            return frame(b"P", *self.each((value.func, value.args, value.keywords), above))
        definitions = types.FunctionType | type | types.BuiltinFunctionType | types.ModuleType
        if isinstance(value, definitions):
            return self.encode_definition(value, above)
        return self.encode_object(value, above)

    def each(self, values: Iterable[object], above: tuple[int, ...]) -> list[bytes]:
        """Write each of several values."""
        return [self.encode(value, above) for value in values]

    def encode_definition(self, value: Any, above: tuple[int, ...]) -> bytes:
        """Write a function by its code, a class or a module by its name."""
        if isinstance(value, types.FunctionType):
            return frame(b"F", *self.each(_function_parts(value), above))
        if isinstance(value, types.ModuleType):
            return frame(b"m", value.__name__.encode())
        return frame(b"N", f"{value.__module__}.{value.__qualname__}".encode())

    def encode_object(self, value: Any, above: tuple[int, ...]) -> bytes:
        """Write any other object by its pickle reduction."""
        try:
            reduction = value.__reduce_ex__(4)
        except Exception as error:
            raise SimpluginError(
                f"an object of type {type(value).__qualname__} has no canonical bytes ({error}); "
                "return plain data from actors, or objects that can be pickled"
            ) from error
        if isinstance(reduction, str):
            return frame(b"N", reduction.encode())
        maker, arguments, *rest = reduction
        # The iterators over items of lists and dicts come third and fourth.
        rest = [list(part) if hasattr(part, "__next__") else part for part in rest]
        return frame(b"O", *self.each((type(value), maker, arguments, rest), above))


def _function_parts(function: types.FunctionType) -> tuple[Any, ...]:
    """Return the parts of a function, without the objects that it names."""
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # a variable that is not assigned yet
            cells.append("unassigned")
    return (
        function.__module__,
        function.__qualname__,
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        cells,
    )


def platform_hash(platform: str) -> str:
    """Return the SHA-256 of a platform file and of the profile files that it names.

    Raises
    ------
    PlatformError
        It cannot be read.
    """
    path = Path(platform)
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise PlatformError(f"cannot be read: {reason}", file=platform) from error
    total = sha256(content)
    for name in profile_names(content):
        try:
            total.update(b"\0" + (path.parent / name).read_bytes())
        except OSError:  # SimGrid looks in other places too, and says so if it finds nothing
            total.update(b"\0missing")
    return total.hexdigest()


def content_hash(
    platform_sha256: str,
    given: UserFunctions,
    choices: dict[str, Any],
) -> str | None:
    """Return the SHA-256 of everything that determines the outcome.

    Functions count by their byte code, defaults and closures, not by functions they call. None if a
    function, callback, chooser or argument has no canonical bytes.
    """
    total = sha256(repr((platform_sha256, sorted(choices.items()))).encode())
    functions: dict[int, str] = {}
    try:
        for actor in given.actors:
            if id(actor.function) not in functions:
                functions[id(actor.function)] = digest(actor.function)
            plain = all(type(argument) in PLAIN for argument in actor.args)
            args = actor.args if plain else digest(actor.args)
            written = functions[id(actor.function)], args, *actor[2:-1]
            total.update(repr((*written, sorted(actor.properties.items()))).encode())
        for each in given[1:]:
            if each is not None:
                total.update(digest(each).encode())
    except (SimpluginError, RecursionError):
        return None
    return total.hexdigest()
