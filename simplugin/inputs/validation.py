"""Types of the tables of a document that describe objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from inspect import Parameter, signature
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError, create_model

from simplugin.core.errors import SimpluginError
from simplugin.inputs.documents import Document
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import InvalidValueError, problems_of, suggestion
from simplugin.inputs.sections import Section


def table(make: Callable[..., Any], **types: Any) -> Any:
    """Return the type of tables that describe an object.

    Parameters
    ----------
    make : callable
        A data class or function, called with the values by name. A key without a default there is
        required, other than among ``**values``. Its error becomes a problem of the table, at the
        path that the error has as `about`.
    **types
        The type of each key. The examples of its field, if it has any, are the remedy where a key
        is missing.
    """
    parameters = signature(make).parameters
    missing = Parameter("missing", Parameter.KEYWORD_ONLY, default=None)
    # For absent keys, the callable's own defaults hold.
    defaults = {name: parameters.get(name, missing).default for name in types}
    given: Any = {
        name: (kind, ... if defaults[name] is Parameter.empty else defaults[name])
        for name, kind in types.items()
    }
    model = create_model(make.__name__, __base__=Section, __doc__=make.__doc__, **given)

    def made(values: Section) -> Any:
        """Return the object."""
        return _made(make, {name: getattr(values, name) for name in values.model_fields_set})

    return Annotated[model, AfterValidator(made)]


def row(make: Callable[..., Any], **types: Any) -> Any:
    """Return the type of lists of the values of an object, in the order of the keys."""
    names = ", ".join(types)

    def complete(values: Any) -> Any:
        """Raise unless there are as many values as keys."""
        if not isinstance(values, list) or len(values) != len(types):
            raise InvalidValueError(f"{{key}} is {shown(values)}", f"give a list of {names}")
        return tuple(values)

    def made(values: tuple[Any, ...]) -> Any:
        """Return the object."""
        return _made(make, dict(zip(types, values, strict=True)))

    kinds: Any = tuple.__class_getitem__(tuple(types.values()))
    return Annotated[kinds, BeforeValidator(complete), AfterValidator(made)]


def tuple_of(kind: Any) -> Any:
    """Return the type of lists that become tuples."""
    return Annotated[list[kind], AfterValidator(tuple)]


def one_of(known: Iterable[str], otherwise: str = "give one of") -> AfterValidator:
    """Return what refuses other texts than those known, and suggests similar ones."""
    names = tuple(known)

    def checked(value: str) -> str:
        """Raise unless the text is known."""
        if value not in names:
            raise ValueError(suggestion(value, names, otherwise))
        return value

    return AfterValidator(checked)


def _made(make: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Return the object that values describe."""
    try:
        return make(**values)
    except SimpluginError as error:
        message, remedy = getattr(error, "message", str(error)), getattr(error, "remedy", None)
        raise InvalidValueError(message, remedy, getattr(error, "about", ())) from None


_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(TypeAdapter)


def validated(kind: Any, document: Document) -> Any:
    """Return the object that a document describes.

    Parameters
    ----------
    kind : type
        Whatever `pydantic.TypeAdapter` takes.
    document : Document
        The document.

    Raises
    ------
    FileError
        Of the document's kind: values are invalid; each problem with its line.
    """
    try:
        return _adapter(kind).validate_python(document.content)
    except ValidationError as error:
        raise document.errors(problems_of(error, kind, document.content)) from None
