"""Files of untrusted origin, read and written with errors that name them."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import itertools
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from simplugin.core.errors import FileError

FilePath = str | os.PathLike[str]

LARGEST_FILE = 64 << 20
# By the end of a file's name: how its content begins, and what unpacks it.
_PACKED: dict[str, tuple[bytes, Callable[[IO[bytes]], Any]]] = {
    ".gz": (b"\x1f\x8b", gzip.open),
    ".bz2": (b"BZh", bz2.open),
    ".xz": (b"\xfd7zXZ\x00", lzma.open),
}
_READABLE = f"give the path of a file of at most {LARGEST_FILE >> 20} MiB that you may read"


@contextmanager
def opened(
    path: FilePath,
    kind: type[FileError],
    remedy: str = "name a file",
) -> Iterator[IO[bytes]]:
    """Open a regular file, and translate errors of reading until it is closed.

    Compression by gzip, bzip2 or xz is recognised by the content; reading decompresses.

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
            start = stream.read(max(len(magic) for magic, _ in _PACKED.values()))
            stream.seek(0)
            found = (unpack for magic, unpack in _PACKED.values() if start.startswith(magic))
            yield next(found, lambda plain: plain)(stream)
    except (gzip.BadGzipFile, EOFError, lzma.LZMAError, zlib.error) as error:
        raise _damaged(error, path, kind) from None
    except OSError as error:
        if error.strerror is None:  # of bzip2
            raise _damaged(error, path, kind) from None
        raise kind(error.strerror, file=path, remedy=remedy) from None


def _damaged(error: Exception, path: FilePath, kind: type[FileError]) -> FileError:
    """Return the error for a file that cannot be unpacked."""
    remedy = "get it again, or unpack what can be saved of it"
    return kind(f"the compressed file is damaged: {error}", file=path, remedy=remedy)


def unpacked_name(path: FilePath) -> Path:
    """Return a path without a suffix for compression."""
    plain = Path(path)
    return plain.with_suffix("") if plain.suffix.lower() in _PACKED else plain


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; do not block on a pipe without writer."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def read_bytes(
    path: FilePath, kind: type[FileError], remedy: str = _READABLE, most: int = LARGEST_FILE
) -> bytes:
    """Return the content of a regular file, unpacked if it is compressed.

    Parameters
    ----------
    path, kind, remedy
        As for `opened`.
    most : int
        How many bytes are read at most, unpacked.

    Raises
    ------
    FileError
        Of the given kind: there is no such file, it cannot be read, or it is too large.
    """
    with opened(path, kind, remedy) as stream:
        # Piece by piece, since a buffer of all that may be there would be made at once.
        pieces = iter(lambda: stream.read(1 << 20), b"")
        found = b"".join(itertools.islice(pieces, (most >> 20) + 1))
    if len(found) > most:
        raise kind(f"more than the {most >> 20} MiB that are read", file=path, remedy=remedy)
    return found


def read_text(path: FilePath, kind: type[FileError], remedy: str = _READABLE) -> str:
    """Return the content of a file in UTF-8 without byte order mark; line endings are kept.

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
    """Write a file, a text in UTF-8; line endings are kept.

    A name with suffix ``.gz``, ``.bz2`` or ``.xz`` selects the compression; equal contents
    become equal bytes.

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
        data = content.encode("utf-8") if isinstance(content, str) else content
        Path(path).write_bytes(_packed(data, Path(path).suffix.lower()))
    except UnicodeEncodeError as error:
        half = f"{error.object[error.start]!r} is half a character"
        raise kind(half, file=path, remedy="rename what has it in its name") from None
    except OSError as error:
        remedy = "give a path that you may write"
        raise kind(str(error.strerror), file=path, remedy=remedy) from None


def _packed(data: bytes, suffix: str) -> bytes:
    """Return a content compressed as the suffix of a file name says."""
    if suffix == ".gz":
        packed = io.BytesIO()
        # Without a name and a date in it.
        with gzip.GzipFile("", "wb", 6, packed, 0) as stream:
            stream.write(data)
        return packed.getvalue()
    if suffix == ".bz2":
        return bz2.compress(data)
    return lzma.compress(data) if suffix == ".xz" else data


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector while many objects are created.

    It takes a sixth of the time of 100,000 hosts, half that of 200,000 tasks, and finds nothing.
    What was created then counts as old, so that the next collections do not visit it either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
