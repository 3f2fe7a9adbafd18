"""Operations that the reference back end refuses, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from simplugin.core.errors import SimpluginError

T = TypeVar("T", bound=type)

PARTS = (
    "Actor.execute(threads=...)",
    "Actor.parallel_execute() of one host with a transfer to itself",
    "Actor.sendto(rate=...)",
    "Mailbox.put(rate=...)",
    "simulate(callbacks=...)",
    "transfers of 0 byte under ptask_L07",
    "transfers of fractions of a byte",
    "SimGrid's plug-ins",
    "tracing/categorized",
)
"""Refused parts of operations that exist; `complete` finds the operations that do not."""


def refuse(what: str) -> NoReturn:
    """Raise the error for an operation that is refused."""
    raise SimpluginError(f"back_end='threads' refuses {what}; run it with back_end='coroutines'")


class RefusedOperation:
    """An operation or attribute that raises, by name.

    Parameters
    ----------
    what : str
        Class and name.
    """

    def __init__(self, what: str) -> None:
        self.what = what

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        refuse(self.what)

    def __set__(self, instance: object, value: object) -> None:
        refuse(self.what)


def promised(protocol: type) -> list[str]:
    """Return the names that a protocol of `simplugin.simulation.api` promises."""
    bases = [base for base in protocol.__mro__ if base.__module__.startswith("simplugin.")]
    return sorted({name for base in bases for name in vars(base) if not name.startswith("_")})


def complete(protocol: type) -> Callable[[T], T]:
    """Return a decorator that makes a class refuse the operations of a protocol that it lacks."""

    def decorate(made: T) -> T:
        declared = {name for base in made.__mro__ for name in vars(base).get("__annotations__", {})}
        for name in promised(protocol):
            if name not in declared and not hasattr(made, name):
                setattr(made, name, RefusedOperation(f"{protocol.__name__}.{name}"))
        return made

    return decorate
