"""Texts with a mark at the fault that a reader is to find."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simplugin.core.errors import FileError

MARK = "¶"


def unmarked(text: str) -> tuple[str, int | None]:
    """Return a text without its mark, and the line of the mark; None if there is no mark."""
    before, mark, after = text.partition(MARK)
    return before + after, before.count("\n") + 1 if mark else None


def assert_refused(
    read: Callable[[Path], object], path: Path, text: str, message: str = ""
) -> FileError:
    """Assert that a file is refused at the line of the mark, with a remedy; return the error."""
    content, line = unmarked(text)
    path.write_text(content, encoding="utf-8", newline="")
    with pytest.raises(FileError) as caught:
        read(path)
    error = caught.value
    assert message in str(error), str(error)
    assert str(error).startswith(f"{path}:" if line is None else f"{path}:{line}: "), str(error)
    assert error.line == line
    assert error.remedy
    assert len(str(error)) < 1000
    return error
