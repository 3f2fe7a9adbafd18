"""XML of untrusted origin as a tree of elements that know their lines."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from simplugin.core.errors import FileError

DEEPEST_NESTING = 200
MOST_ATTRIBUTES = 64
LONGEST_VALUE = 1 << 20
_MARK = b"\xef\xbb\xbf"
# What may stand before the first element, but for a DOCTYPE.
PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_DECLARATIONS = re.compile(rb"<!--.*?-->|(<\?xml\s.*?\?>)", re.DOTALL)

# Of most elements, which are as many as hosts and links.
_EMPTY: Any = ()


@dataclass(slots=True)
class XmlElement:
    """An element of a file.

    Attributes
    ----------
    tag : str
        Its name.
    attributes : dict of str to str
        In the order of the file.
    line : int
        Where its start tag begins, counted from 1.
    children : list of XmlElement
        The elements in it.
    pieces : list of str
        The text directly in it, without blank pieces unless it is a ``<trace>``. Of an element with
        many children there are too many to append each to a string.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = _EMPTY
    pieces: list[str] = _EMPTY

    @property
    def text(self) -> str:
        """The text directly in it."""
        return "".join(self.pieces)


def parse(
    data: bytes,
    file: str | os.PathLike[str],
    kind: type[FileError],
    root: str,
    *,
    simgrid: bool = False,
    warn: Callable[[FileError], None] | None = None,
    head: Collection[str] = (),
) -> XmlElement:
    """Return the root element of an XML document without a DOCTYPE.

    What precedes the XML declaration is read past, as SimGrid does it, with a warning.

    Parameters
    ----------
    data : bytes
        The document.
    file : path
        Named in errors.
    kind : type of FileError
        Of all errors.
    root : str
        The element that such documents consist of, named in remedies.
    simgrid : bool
        Refuse what SimGrid's own parser refuses.
    warn : callable, optional
        Given the warning; `issue_warning` by default.
    head : collection of str, optional
        Elements to read until the first other one in the root; by default the whole document.

    Raises
    ------
    FileError
        Of the given kind: without a line if the encoding cannot be read; with the line if the
        document is not well-formed, has a DOCTYPE or nests too deeply.
    """
    data, message, remedy = with_declaration_first(data)
    # A byte order mark is none of XML's faults, but SimGrid's parser refuses it.
    if message and (simgrid or "mark" not in message):
        (warn or issue_warning)(kind(message, file=file, line=1, remedy=remedy))
    return _TreeBuilder(file, kind, root, simgrid=simgrid, head=head).build(data)


def issue_warning(error: FileError) -> None:
    """Issue a warning about a readable file."""
    warnings.warn(str(error), stacklevel=3)


def with_declaration_first(data: bytes) -> tuple[bytes, str, str]:
    """Return a document that begins with its declaration; a message if it did not; a remedy."""
    start = len(_MARK) if data.startswith(_MARK) else 0
    match = PROLOG.match(data)
    end = match.end() if match else 0
    found = [each for each in _DECLARATIONS.finditer(data, start, end) if each[1]]
    if not start and all(each.start() == 0 for each in found):
        return data, "", ""
    text = bytearray(data[start:])
    for each in found:
        text[each.start() - start : each.end() - start] = re.sub(rb"[^\n]", b" ", each[0])
    first = found[0][0].replace(b"\n", b" ") if found else b""
    said = "something precedes the XML declaration", "begin the file with <?xml version='1.0'?>"
    if start:
        said = "the file begins with a byte order mark", "save it as UTF-8 without"
    return first + bytes(text), *said


class _FoundError(Exception):
    """The head of the document has been read."""


class _TreeBuilder:
    """Builds nodes from expat's events."""

    def __init__(
        self,
        file: str | os.PathLike[str],
        kind: type[FileError],
        root: str,
        *,
        simgrid: bool,
        head: Collection[str],
    ) -> None:
        self._file = file
        self._head = head
        self._kind = kind
        self._expected = root
        # The elements that are open, in one that holds the root.
        self._stack = [XmlElement("", {}, 0)]
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda _tag: self._stack.pop()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.CharacterDataHandler = self._text
        if simgrid:
            parser.XmlDeclHandler = self._declaration
            parser.StartCdataSectionHandler = self._cdata

    def build(self, data: bytes) -> XmlElement:
        """Parse the whole document."""
        try:
            self._parser.Parse(data, True)
        except _FoundError:
            pass
        except expat.ExpatError as error:
            message = expat.errors.messages.get(error.code, str(error))
            remedy = _REMEDIES.get(message, "see whether a tag or a quote is left open before it")
            raise self._malformed(
                f"this is not well-formed XML: {message}",
                remedy.format(root=self._expected),
                error.lineno,
            ) from None
        except (LookupError, ValueError) as error:
            message = f"the encoding cannot be read: {error}"
            raise self._kind(message, file=self._file, remedy="use UTF-8") from None
        # The parser and its handlers refer to each other: leave no tree to the garbage collector.
        return self._stack.pop(0).children[0]

    def _malformed(self, message: str, remedy: str, line: int | None = None) -> FileError:
        """Return an error at a line, by default the one being read."""
        where = self._parser.CurrentLineNumber if line is None else line
        return self._kind(message, file=self._file, line=where, remedy=remedy)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        if self._head and len(self._stack) > 1 and tag not in self._head:
            raise _FoundError
        if len(self._stack) > DEEPEST_NESTING:
            raise self._malformed(
                f"elements are nested more than {DEEPEST_NESTING} deep", "nest fewer of them"
            )
        # Most elements need no look at each value.
        total = len("".join(attributes.values()))
        longest = max(map(len, attributes.values())) if total > LONGEST_VALUE else total
        if len(attributes) > MOST_ATTRIBUTES or longest > LONGEST_VALUE:
            raise self._malformed(
                f"an element has more than {MOST_ATTRIBUTES} attributes, or one of more than "
                f"{LONGEST_VALUE >> 20} MiB",
                f"no element of <{self._expected}> needs as much",
            )
        node = XmlElement(tag, attributes, self._parser.CurrentLineNumber)
        parent = self._stack[-1]
        if parent.children:
            parent.children.append(node)
        else:
            parent.children = [node]
        self._stack.append(node)

    def _text(self, text: str) -> None:
        """Keep the text of the open element, except indentation of other elements."""
        node = self._stack[-1]
        if not text.isspace() or node.tag == "trace":
            node.pieces = node.pieces or []
            node.pieces.append(text)

    def _declaration(self, _version: str, _encoding: str | None, standalone: int) -> None:
        """Refuse the part of an XML declaration that SimGrid's parser does not know."""
        if standalone != -1:
            raise self._malformed(
                "SimGrid does not take 'standalone' in the XML declaration", "remove it"
            )

    def _doctype(self, *_: object) -> None:
        """Refuse a DOCTYPE."""
        raise self._malformed("a DOCTYPE is not allowed here", "remove it")

    def _cdata(self) -> None:
        """Refuse CDATA where SimGrid's parser would."""
        if self._stack[-1].tag != "trace":
            raise self._malformed("CDATA is not allowed here", "remove it")


_REMEDIES = {
    "undefined entity": "write the character itself; only &amp; &lt; &gt; &quot; and &apos; exist",
    "duplicate attribute": "give each attribute once",
    "junk after document element": "a file holds a single <{root}>: remove what follows it",
    "no element found": "the file ends before its </{root}>; complete it",
    "mismatched tag": "close the element that was opened last",
}
