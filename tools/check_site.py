"""Check the pages of a built site: all links lead somewhere, and nothing comes from elsewhere.

check_site.py DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address the browser loads by itself.
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The anchors of a page, and its addresses: tag, attribute, address."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[tuple[str, str, str]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag names and where it leads."""
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.addresses.append((tag, name, value))


def faults(directory: Path) -> Iterator[str]:
    """Yield a line for each broken link and each address that is loaded from elsewhere."""
    pages = {file.resolve(): Page(file) for file in sorted(directory.glob("**/*.html"))}
    if not pages:
        yield f"{directory}: no pages"
    for file, page in pages.items():
        where = file.relative_to(directory.resolve())
        for tag, attribute, address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if (tag, attribute) in LOADED and parts.scheme != "data":
                    yield f"{where}: loads {address}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{where}: {address} leads to no file"
                continue
            place = unquote(parts.fragment)
            if place and target in pages and place not in pages[target].anchors:
                yield f"{where}: {address} leads to no place of the page"


def main() -> None:
    """Print the faults; the exit status is 1 if there are any."""
    directory = Path(sys.argv[1])
    found = list(faults(directory))
    print(*found, sep="\n", end="\n" * bool(found))
    count = sum(1 for _ in directory.glob("**/*.html"))
    print(f"{count} pages, {len(found)} broken links")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
