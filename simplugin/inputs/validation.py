"""Documents into objects by pydantic, and its errors as messages with a path and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from typing import Annotated, Any

import pydantic
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from simplugin.errors import FileError, UnitError
from simplugin.inputs.documents import Document, path_text
from simplugin.inputs.places import shown
from simplugin.near_names import near_names
from simplugin.units import parse_bandwidth, parse_size, parse_speed, parse_time

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """An invalid value.

    Attributes
    ----------
    path : tuple of str or int
        The keys that lead to it.
    message, remedy : str
        What is wrong, and how to right it.
    """

    path: Steps
    message: str
    remedy: str | None = None


class InvalidValueError(ValueError):
    """An error of a validator that has a message of its own.

    Parameters
    ----------
    message : str
        A sentence in which ``{name}`` stands for the path of the value that was validated, and
        ``{key}`` for that of the culprit.
    remedy : str, optional
        How to right it.
    path : sequence of str or int
        From the value that was validated to the culprit in it.
    """

    def __init__(self, message: str, remedy: str | None = None, path: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.path = tuple(path)


class Table(BaseModel):
    """A table all of whose keys are known.

    The examples of a field, if it has any, are the remedy where it is missing.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True
    )

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, values: Any) -> Any:
        """Raise if a key is unknown or missing, before any value is looked at."""
        if not isinstance(values, dict):
            raise InvalidValueError(f"{{name}} is {_quoted(values)}", "write a table")
        known = {each.alias or name: each for name, each in cls.model_fields.items()}
        for key in values:
            if key not in known:
                near = near_names(str(key), known, 1)
                listed = f"the keys here are {', '.join(known)}"
                remedy = f"did you mean {near[0]!r}?" if near else listed
                raise InvalidValueError("unknown key '{key}'", remedy, (key,))
        for key, each in known.items():
            if each.is_required() and key not in values:
                example = "".join(f": {text}" for text in each.examples or ())
                raise InvalidValueError("key '{key}' is missing", f"add it{example}", (key,))
        return values


def table(make: Callable[..., Any], **types: Any) -> Any:
    """Return the type of tables that describe an object.

    Parameters
    ----------
    make : dataclass or callable
        Called with the values by name. A field of a data class is optional if it has a default.
        Its `FileError` becomes a problem of the table, at the path that the error has as `about`.
    **types
        The type of each key, for a function with the default: ``(type, default)``.
    """
    return Annotated[_model(make, types), AfterValidator(_made_by(make))]


def row(make: type, **types: Any) -> Any:
    """Return the type of lists of the values of an object, in the order of the keys."""
    names = ", ".join(types)

    def named(values: Any) -> Any:
        """Return the values by name."""
        if not isinstance(values, list) or len(values) != len(types):
            raise InvalidValueError(f"{{name}} is {_quoted(values)}", f"give a list of {names}")
        return dict(zip(types, values, strict=True))

    return Annotated[_model(make, types), BeforeValidator(named), AfterValidator(_made_by(make))]


def tuple_of(kind: Any) -> Any:
    """Return the type of lists that become tuples."""
    return Annotated[list[kind], AfterValidator(tuple)]


def _model(make: Callable[..., Any], types: dict[str, Any]) -> type[Table]:
    """Return the model of a table."""
    own: dict[str, Field[Any]] = {}
    if isinstance(make, type):
        own = {each.name: each for each in fields(make)}
    given: dict[str, Any] = {}
    for name, kind in types.items():
        default = own.get(name)
        if isinstance(kind, tuple):
            given[name] = kind
        elif default is not None and default.default_factory is not MISSING:
            given[name] = (kind, pydantic.Field(default_factory=default.default_factory))
        elif default is not None and default.default is not MISSING:
            given[name] = (kind, default.default)
        else:
            given[name] = (kind, ...)
    model: type[Table] = create_model(make.__name__, __base__=Table, **given)
    return model


def _made_by(make: Callable[..., Any]) -> Callable[[Table], Any]:
    """Return what makes an object of a validated table."""

    def made(values: Table) -> Any:
        """Return the object."""
        try:
            return make(**dict(values))
        except FileError as error:
            about = getattr(error, "about", ())
            raise InvalidValueError(error.message, error.remedy, about) from None

    return made


def validated(kind: Any, document: Document) -> Any:
    """Return the object that a document describes.

    Parameters
    ----------
    kind : type
        Whatever `pydantic.TypeAdapter` takes.
    document : Document
        What was read.

    Raises
    ------
    FileError
        Of the document's kind: a value is invalid; the first problem, with its line.
    """
    try:
        return _adapter(kind).validate_python(document.content)
    except ValidationError as error:
        first = next(problems_of(error))
        raise document.error(first.path, first.message, first.remedy) from None


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what validates a type."""
    return TypeAdapter(kind)


def problems_of(error: ValidationError, path: Steps = ()) -> Iterator[Problem]:
    """Yield the problems that pydantic found.

    Parameters
    ----------
    error : ValidationError
        May have others of its kind in it, of validators that validate.
    path : tuple of str or int
        Of the value that was validated.
    """
    for each in error.errors(include_url=False):
        where = (*path, *(step for step in each["loc"] if step != "[key]"))
        cause = each.get("ctx", {}).get("error")
        name = path_text(where) or "the document"
        if isinstance(cause, ValidationError):
            yield from problems_of(cause, where)
        elif isinstance(cause, InvalidValueError):
            culprit = (*where, *cause.path)
            message = cause.message.replace("{name}", name).replace("{key}", path_text(culprit))
            yield Problem(culprit, message, cause.remedy)
        elif each["type"] == "missing":
            yield Problem(where, f"key {name!r} is missing", "add it")
        elif each["type"] == "extra_forbidden":
            yield Problem(where, f"unknown key {name!r}", "remove it")
        else:
            reason = each["msg"].removeprefix("Value error, ")
            reason = reason.replace("Input should be ", "give ", 1)
            yield Problem(where, f"{name} is {_quoted(each['input'])}", reason)


def _quoted(value: object) -> str:
    """Return a value as messages quote it."""
    return shown(value) if isinstance(value, str) else repr(value)[:80]


def _read_by(parse: Callable[[str], float], name: str = "") -> BeforeValidator:
    """Return a validator that reads texts with a unit, and leaves numbers to pydantic."""

    def read(value: Any) -> Any:
        """Return a number of the SI unit."""
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except UnitError as error:
            message, _, remedy = str(error).partition("; ")
            # SimGrid writes amounts of computation as it writes speeds.
            message = message.replace("speed", name, 1) if name else message
            raise InvalidValueError(f"{{name}}: {message}", remedy or None) from None

    return BeforeValidator(read)


Work = Annotated[float, _read_by(parse_speed, "computation")]
Speed = Annotated[float, _read_by(parse_speed)]
Bandwidth = Annotated[float, _read_by(parse_bandwidth)]
Size = Annotated[float, _read_by(parse_size)]
Time = Annotated[float, _read_by(parse_time)]
