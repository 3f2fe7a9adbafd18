"""XML of untrusted origin into plain nodes: no entities, no network, no other file, bounded."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from xml.parsers import expat

from simplugin.errors import FileError

LARGEST_FILE = 64 << 20
DEEPEST_NESTING = 200
MOST_ATTRIBUTES = 64
LONGEST_VALUE = 1 << 20
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'

# The only two system identifiers that SimGrid's own parser lets pass.
_SYSTEM = (
    rb"(?:https://simgrid\.org/simgrid\.dtd|http://simgrid\.gforge\.inria\.fr/simgrid/simgrid\.dtd)"
)
_SIMGRID_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s+platform\s+SYSTEM\s+(?:\"" + _SYSTEM + rb"\"|'" + _SYSTEM + rb"')\s*>"
)
_PROLOG = re.compile(rb"(?:\s+|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)


class UnreadableError(FileError):
    """A file that cannot be opened, or is no text of bearable size."""


class MalformedError(FileError):
    """A file that is no XML as SimGrid reads it, or is made to do harm."""


@dataclass(slots=True)
class Node:
    """An element as it stands in a file.

    Attributes
    ----------
    tag : str
        Its name.
    attributes : dict of str to str
        In the order of the file.
    line : int
        Where its start tag begins, counted from 1.
    children : list of Node
        The elements in it.
    text : str
        The text directly in it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""


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
    UnreadableError
        There is no such file, it cannot be opened, is no regular file, or is too large.
    """
    try:
        with open(path, "rb", opener=_open_without_waiting) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableError("not a regular file", file=path, remedy="name a file")
            if status.st_size > LARGEST_FILE:
                raise UnreadableError(
                    f"{status.st_size >> 20} MiB, more than the {LARGEST_FILE >> 20} MiB that are "
                    "read",
                    file=path,
                    remedy="describe equal hosts by a <cluster>, which is one line for any number",
                )
            return stream.read(LARGEST_FILE)
    except OSError as error:
        remedy = "give the path of a platform or deployment file that you may read"
        raise UnreadableError(str(error.strerror), file=path, remedy=remedy) from None


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file even if it is a pipe that nobody writes to."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document.

    Attributes
    ----------
    root : Node
        Its root element.
    doctype_error : MalformedError or None
        What SimGrid's parser would object to in the DOCTYPE. Old files have old ones, so that
        the version of the root element is looked at first.
    """

    root: Node
    doctype_error: MalformedError | None


def parse(data: bytes, file: str | os.PathLike[str]) -> Document:
    """Return the elements of an XML document that SimGrid's parser would take.

    Parameters
    ----------
    data : bytes
        The document.
    file : path
        Named in errors.

    Returns
    -------
    Document
        The root element, and what is wrong with the DOCTYPE.

    Raises
    ------
    UnreadableError
        The document is no text in an encoding that SimGrid reads.
    MalformedError
        It is not well-formed, declares entities or nests too deeply.
    """
    if b"\0" in data:
        raise UnreadableError(
            "this is no UTF-8 text", file=file, remedy="save the file as XML in UTF-8"
        )
    if data.startswith(b"\xef\xbb\xbf"):
        raise MalformedError(
            "the file begins with a byte order mark, which SimGrid does not take",
            file=file,
            line=1,
            remedy="save it as UTF-8 without BOM",
        )
    text, doctype_error = _without_doctype(data, file)
    return Document(_TreeBuilder(file).build(text), doctype_error)


def parse_plain(data: bytes, file: str | os.PathLike[str], root: str) -> Node:
    """Return the elements of an XML document that is not SimGrid's and needs no DOCTYPE.

    Parameters
    ----------
    data : bytes
        The document.
    file : path
        Named in errors.
    root : str
        The element that such documents consist of, named in errors.

    Returns
    -------
    Node
        The root element, whichever it is; the text in elements is left out.

    Raises
    ------
    UnreadableError
        The document is no text in an encoding that can be read.
    MalformedError
        It is not well-formed, has a DOCTYPE or nests too deeply.
    """
    return _TreeBuilder(file, root, simgrid=False).build(data)


def _without_doctype(
    data: bytes, file: str | os.PathLike[str]
) -> tuple[bytes, MalformedError | None]:
    """Check the DOCTYPE and blank it, so that no reference can lean on an external subset."""
    match = _PROLOG.match(data)
    start = match.end() if match else 0
    line = data.count(b"\n", 0, start) + 1
    end = data.find(b">", start)
    if not data.startswith(b"<!DOCTYPE", start) or end < 0:
        message = "there is no DOCTYPE before the first element, and SimGrid asks for one"
        return data, MalformedError(message, file=file, line=line, remedy=f"insert {DOCTYPE}")
    if data.find(b"[", start, end) >= 0:
        raise MalformedError(
            "the DOCTYPE declares entities or rules of its own, which is refused",
            file=file,
            line=line,
            remedy=f"write {DOCTYPE}",
        )
    blanked = data[:start] + re.sub(rb"[^\n]", b" ", data[start : end + 1]) + data[end + 1 :]
    if _SIMGRID_DOCTYPE.fullmatch(data, start, end + 1):
        return blanked, None
    message = "SimGrid does not take this DOCTYPE"
    return blanked, MalformedError(message, file=file, line=line, remedy=f"write {DOCTYPE}")


class _TreeBuilder:
    """Builds nodes from expat's events."""

    def __init__(
        self, file: str | os.PathLike[str], root: str = "platform", *, simgrid: bool = True
    ) -> None:
        self._file = file
        self._expected = root
        self._stack: list[Node] = []
        # Of each open element: a zone has as many pieces as lines, too many to append each to a
        # string.
        self._pieces: list[list[str]] = []
        self._root: Node | None = None
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        if simgrid:
            parser.CharacterDataHandler = self._text
            parser.XmlDeclHandler = self._declaration
            parser.StartCdataSectionHandler = self._cdata

    def build(self, data: bytes) -> Node:
        """Parse the whole document."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            message = expat.errors.messages.get(error.code, str(error))
            remedy = _REMEDIES.get(message, "see whether a tag or a quote is left open before it")
            raise self._malformed(
                f"this is not well-formed XML: {message}",
                remedy.format(root=self._expected),
                error.lineno,
            ) from None
        except (LookupError, ValueError) as error:
            raise UnreadableError(
                f"the encoding cannot be read: {error}", file=self._file, remedy="use UTF-8"
            ) from None
        if self._root is None:  # cannot be: expat refuses an empty document
            raise self._malformed("there is no element", f"write <{self._expected}>", 1)
        return self._root

    def _malformed(self, message: str, remedy: str, line: int | None = None) -> MalformedError:
        """Return an error at a line, by default the one being read."""
        where = self._parser.CurrentLineNumber if line is None else line
        return MalformedError(message, file=self._file, line=where, remedy=remedy)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        if len(self._stack) >= DEEPEST_NESTING:
            raise self._malformed(
                f"elements are nested more than {DEEPEST_NESTING} deep", "nest fewer of them"
            )
        longest = max(map(len, attributes.values()), default=0)
        if len(attributes) > MOST_ATTRIBUTES or longest > LONGEST_VALUE:
            raise self._malformed(
                f"an element has more than {MOST_ATTRIBUTES} attributes, or one of more than "
                f"{LONGEST_VALUE >> 20} MiB",
                f"no element of <{self._expected}> needs as much",
            )
        node = Node(tag, attributes, self._parser.CurrentLineNumber)
        if self._stack:
            self._stack[-1].children.append(node)
        else:
            self._root = node
        self._stack.append(node)
        self._pieces.append([])

    def _end(self, tag: str) -> None:
        """Close an element."""
        del tag
        self._stack.pop().text = "".join(self._pieces.pop())

    def _text(self, text: str) -> None:
        """Keep the text of the element that is open."""
        self._pieces[-1].append(text)

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        """Refuse the part of an XML declaration that SimGrid's parser does not know."""
        del version, encoding
        if standalone != -1:
            raise self._malformed(
                "SimGrid does not take 'standalone' in the XML declaration", "remove it"
            )

    def _doctype(self, *arguments: object) -> None:
        """Refuse a DOCTYPE that stands where none is looked for."""
        del arguments
        raise self._malformed("a DOCTYPE is not allowed here", "remove it")

    def _cdata(self) -> None:
        """Refuse CDATA where SimGrid's parser would."""
        if self._stack and self._stack[-1].tag != "trace":
            raise self._malformed("CDATA is not allowed here", "remove it")


_REMEDIES = {
    "undefined entity": "write the character itself; only &amp; &lt; &gt; &quot; and &apos; exist",
    "duplicate attribute": "give each attribute once",
    "junk after document element": "a file holds a single <{root}>: remove what follows it",
    "no element found": "write <{root}>; is the file complete?",
    "mismatched tag": "close the element that was opened last",
}
