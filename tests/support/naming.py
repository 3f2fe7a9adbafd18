"""Errors by their class and the names of users' things in their message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

E = TypeVar("E", bound=BaseException)


@contextmanager
def raises_naming(
    kind: type[E] | tuple[type[E], ...], *names: object
) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error of a class whose message has all these names, in any wording."""
    with pytest.raises(kind) as caught:
        yield caught
    message = str(caught.value)
    assert [name for name in names if str(name) not in message] == [], message
