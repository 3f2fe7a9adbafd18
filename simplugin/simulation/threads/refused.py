"""Operations that the reference back end refuses, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from simplugin.core.errors import SimpluginError

T = TypeVar("T", bound=type)


def refuse(what: str) -> NoReturn:
    """Raise the error for an operation that is refused."""
    raise SimpluginError(f"back_end='threads' refuses {what}; run it with back_end='coroutines'")


def refused_attribute(what: str) -> property:
    """Return an operation or attribute that is refused where it is read or set."""

    def refuse_it(*_: object) -> NoReturn:
        """Raise."""
        refuse(what)

    return property(refuse_it, refuse_it)


def complete(protocol: type) -> Callable[[T], T]:
    """Return a decorator that makes a class refuse the operations of a protocol that it lacks."""

    def decorate(made: T) -> T:
        declared = {name for base in made.__mro__ for name in vars(base).get("__annotations__", {})}
        ours = [base for base in protocol.__mro__ if base.__module__.startswith("simplugin.")]
        promised = {name for base in ours for name in vars(base) if not name.startswith("_")}
        for name in promised - declared:
            if not hasattr(made, name):
                setattr(made, name, refused_attribute(f"{protocol.__name__}.{name}"))
        return made

    return decorate
