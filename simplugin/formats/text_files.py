"""Text from and to files, with errors that belong to workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simplugin.errors import WorkloadFileError
from simplugin.formats import xml_tree

if TYPE_CHECKING:
    import os


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file of bearable size.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    WorkloadFileError
        There is no such file, or it cannot be read.
    """
    try:
        return xml_tree.read_bytes(path)
    except xml_tree.UnreadableError as error:
        most = xml_tree.LARGEST_FILE >> 20
        raise WorkloadFileError(
            error.message,
            file=path,
            remedy=f"give the path of a file of at most {most} MiB that you may read",
        ) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the content of a file in UTF-8, a byte order mark left out.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    str
        Its content, ends of lines as they are.

    Raises
    ------
    WorkloadFileError
        It cannot be read or is no UTF-8 text; the message names the line.
    """
    data = read_bytes(path)
    wrong = data.find(b"\0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = error.start
        text = ""
    if wrong >= 0:
        raise WorkloadFileError(
            "this is no UTF-8 text",
            file=path,
            line=data.count(b"\n", 0, wrong) + 1,
            remedy="save the file in UTF-8",
        )
    return text


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text in UTF-8, ends of lines as they are.

    Parameters
    ----------
    text : str
        What to write.
    path : path
        Where; an existing file is replaced.

    Raises
    ------
    WorkloadFileError
        The file cannot be written, or the text has half a surrogate pair.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"{text[error.start]!r} is half a character"
        raise WorkloadFileError(half, file=path, remedy="rename what has it in its name") from None
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        remedy = "give a path that you may write"
        raise WorkloadFileError(str(error.strerror), file=path, remedy=remedy) from None
