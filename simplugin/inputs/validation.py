"""Documents into objects by pydantic, and its errors as messages with a path and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from inspect import Parameter, signature
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from simplugin.errors import FileError
from simplugin.inputs.documents import Document
from simplugin.inputs.messages import Path, Problem, dotted, remedy_of, shown, suggestion
from simplugin.inputs.sections import Section


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


class Table(Section):
    """A table whose unknown and missing keys are reported before any value is validated.

    The examples of a field, if it has any, are the remedy where it is missing.
    """

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, values: Any) -> Any:
        """Raise if a key is unknown or missing, before any value is looked at."""
        if not isinstance(values, dict):
            raise InvalidValueError(f"{{name}} is {shown(values)}", "write a table")
        known = {each.alias or name: each for name, each in cls.model_fields.items()}
        for key in values:
            if key not in known:
                remedy = suggestion(str(key), known, "the keys here are")
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
    make : callable
        A data class or function, called with the values by name. A key without a default there is
        required, other than among ``**values``. Its `FileError` becomes a problem of the table, at
        the path that the error has as `about`.
    **types
        The type of each key.
    """
    return Annotated[_model(make, types), AfterValidator(_made_by(make))]


def row(make: Callable[..., Any], **types: Any) -> Any:
    """Return the type of lists of the values of an object, in the order of the keys."""
    names = ", ".join(types)

    def named(values: Any) -> Any:
        """Return the values by name."""
        if not isinstance(values, list) or len(values) != len(types):
            raise InvalidValueError(f"{{name}} is {shown(values)}", f"give a list of {names}")
        return dict(zip(types, values, strict=True))

    return Annotated[_model(make, types), BeforeValidator(named), AfterValidator(_made_by(make))]


def tuple_of(kind: Any) -> Any:
    """Return the type of lists that become tuples."""
    return Annotated[list[kind], AfterValidator(tuple)]


def _model(make: Callable[..., Any], types: dict[str, Any]) -> type[Table]:
    """Return the model of a table."""
    parameters = signature(make).parameters
    required = {name for name, each in parameters.items() if each.default is Parameter.empty}
    # Of keys that are absent, the function has its own defaults.
    given = {name: (kind, ... if name in required else None) for name, kind in types.items()}
    model: type[Table] = create_model(make.__name__, __base__=Table, **given)  # type: ignore[call-overload]
    return model


def _made_by(make: Callable[..., Any]) -> Callable[[Table], Any]:
    """Return what makes an object of a validated table."""

    def made(values: Table) -> Any:
        """Return the object."""
        try:
            return make(**{name: getattr(values, name) for name in values.model_fields_set})
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


def problems_of(error: ValidationError, path: Path = ()) -> Iterator[Problem]:
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
        name = dotted(where) or "the document"
        if isinstance(cause, ValidationError):
            yield from problems_of(cause, where)
        elif isinstance(cause, InvalidValueError):
            culprit = (*where, *cause.path)
            message = cause.message.replace("{name}", name).replace("{key}", dotted(culprit))
            yield Problem(culprit, message, cause.remedy)
        else:
            yield Problem(where, f"{name} is {shown(each['input'])}", remedy_of(each))
