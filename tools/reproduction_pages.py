#!/usr/bin/env python3
"""Write the pages of docs/reproductions from stored results, with the statements as they are now.

    .venv/bin/python tools/reproduction_pages.py out/bags/store.sqlite out/market/store.sqlite
    .venv/bin/python tools/reproduction_pages.py

Nothing is measured. With stores, the reproductions begun last in each are taken, by whatever
version of simplugin; without, the `NAME.json` of the pages themselves.
"""

from __future__ import annotations

import argparse
import json
from itertools import chain
from pathlib import Path
from typing import Any

from simplugin.cli.reproduce import draw_figures, page_texts
from simplugin.papers.reproduce import recorded
from simplugin.papers.reproduction_runs import chosen_statements
from simplugin.papers.reproductions import CAPABILITIES

DIRECTORY = Path(__file__).resolve().parent.parent / "docs/reproductions"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stores", nargs="*", type=Path, help="stores of reproductions")
    parser.add_argument("-o", dest="directory", type=Path, default=DIRECTORY, metavar="DIR")
    arguments = parser.parse_args()
    directory: Path = arguments.directory
    results = map(recorded, arguments.stores) if arguments.stores else [shipped(directory)]
    for name, found in chain.from_iterable(each.items() for each in results):
        write(name, found, directory)
        chosen = json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
        draw_figures(name, chosen["figures"], directory)


def shipped(directory: Path = DIRECTORY) -> dict[str, Any]:
    """Return the results that are stored beside the pages of a directory."""
    places = {name: directory / f"{name}.json" for name in CAPABILITIES}
    return {
        name: json.loads(place.read_text(encoding="utf-8"))
        for name, place in places.items()
        if place.exists()
    }


def write(name: str, found: dict[str, Any], directory: Path) -> None:
    """Write a page and its data, and print what statements and results do not have in common."""
    wanted = {each.id for each in chosen_statements(CAPABILITIES[name], quick=found["quick"])}
    measured = {each["id"] for each in found["claims"]}
    for words, ids in (("not measured", wanted - measured), ("unknown", measured - wanted)):
        if ids:
            print(f"{name}: {words}: {', '.join(sorted(ids))}")
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in page_texts(name, found).items():
        (directory / file).write_text(text, encoding="utf-8")
        print(f"wrote {directory / file}")


if __name__ == "__main__":
    main()
