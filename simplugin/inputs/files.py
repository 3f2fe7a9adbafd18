"""Files of untrusted origin, read and written with errors that name them."""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from simplugin.errors import FileError

FilePath = str | os.PathLike[str]

LARGEST_FILE = 64 << 20
_READABLE = f"give the path of a file of at most {LARGEST_FILE >> 20} MiB that you may read"


@contextmanager
def opened(
    path: FilePath,
    kind: type[FileError],
    remedy: str = "name a file",
) -> Iterator[IO[bytes]]:
    """Open a regular file, and translate the operating system's errors until it is closed.

    Parameters
    ----------
    path : path
        The file.
    kind : type of FileError
        Raised if it cannot be opened or read, or is no regular file.
    remedy : str
        Of these errors.
    """
    try:
        with open(path, "rb", opener=_open_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise kind("not a regular file", file=path, remedy=remedy)
            yield stream
    except OSError as error:
        raise kind(str(error.strerror), file=path, remedy=remedy) from None


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file even if it is a pipe that nobody writes to."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def read_bytes(path: FilePath, kind: type[FileError], remedy: str = _READABLE) -> bytes:
    """Return the content of a regular file of at most `LARGEST_FILE` bytes.

    Parameters
    ----------
    path, kind, remedy
        As for `opened`.

    Raises
    ------
    FileError
        Of the given kind: there is no such file, it cannot be read, or it is too large.
    """
    with opened(path, kind, remedy) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > LARGEST_FILE:
            message = f"{size >> 20} MiB, more than the {LARGEST_FILE >> 20} MiB that are read"
            raise kind(message, file=path, remedy=remedy)
        return stream.read(LARGEST_FILE)


def read_text(path: FilePath, kind: type[FileError], remedy: str = _READABLE) -> str:
    """Return the content of a file in UTF-8, a byte order mark left out, ends of lines as they are.

    Parameters
    ----------
    path, kind, remedy
        As for `opened`.

    Raises
    ------
    FileError
        Of the given kind: it cannot be read or is no UTF-8 text; the message names the line.
    """
    return decoded(read_bytes(path, kind, remedy), path, kind)


def decoded(data: bytes, path: FilePath, kind: type[FileError]) -> str:
    """Return the text that a file in UTF-8 holds; parameters and errors as for `read_text`."""
    wrong = data.find(b"\0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = error.start
        text = ""
    if wrong >= 0:
        line = data.count(b"\n", 0, wrong) + 1
        raise kind("this is no UTF-8 text", file=path, line=line, remedy="save the file in UTF-8")
    return text


def write(content: str | bytes, path: FilePath, kind: type[FileError]) -> None:
    """Write a file, a text in UTF-8 with its ends of lines as they are.

    Parameters
    ----------
    content : str or bytes
        What to write.
    path : path
        Where; an existing file is replaced.
    kind : type of FileError
        Raised if the file cannot be written, or the text has half a surrogate pair.
    """
    try:
        Path(path).write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    except UnicodeEncodeError as error:
        half = f"{error.object[error.start]!r} is half a character"
        raise kind(half, file=path, remedy="rename what has it in its name") from None
    except OSError as error:
        remedy = "give a path that you may write"
        raise kind(str(error.strerror), file=path, remedy=remedy) from None


@contextmanager
def uncollected() -> Iterator[None]:
    """Do something without the garbage collector, which would look at all parts again and again.

    It takes a sixth of the time of 100,000 hosts, half that of 200,000 tasks, and finds nothing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
