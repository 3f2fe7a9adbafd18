#!/usr/bin/env python3
"""Write the pictures of docs/gallery.md again, by the commands that stand above them.

    .venv/bin/python tools/gallery.py

A picture names the file that it was made from as its title: ``![words](gallery/NAME.png "FILE")``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/gallery.md"
# What the commands may name, as from the project's root.
SHOWN = ("scenarios", "platforms_xml", "deployments")
_PICTURE = re.compile(r"!\[[^\]]*\]\((\S+\.png) \"([^\"]+)\"\)")
_FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WIDTH, _COLOURS = 1000, 64
# Part of the pixels that may differ by more than this, between versions of matplotlib.
_DIFFERENT, _APART = 0.01, 64


def pictures(page: Path) -> list[tuple[Path, str]]:
    """Return the pictures of a page, and the files that its commands make them from."""
    found = _PICTURE.findall(page.read_text(encoding="utf-8"))
    return [(page.parent / name, made) for name, made in found]


def small(path: Path) -> Image.Image:
    """Return a picture as the page has it: not wide, with few colours."""
    with Image.open(path) as drawn:
        image = drawn.convert("RGB")
    width = min(_WIDTH, image.width)
    image = image.resize(
        (width, round(image.height * width / image.width)), Image.Resampling.LANCZOS
    )
    return image.quantize(_COLOURS, dither=Image.Dither.NONE)


def alike(stored: Path, made: Path) -> bool:
    """Return True if a stored picture shows a file."""
    with Image.open(stored) as image:
        one, other = (
            np.asarray(each.convert("RGB"), dtype=np.int64) for each in (image, small(made))
        )
    return one.shape == other.shape and bool(
        np.mean(np.abs(one - other).max(axis=2) > _APART) < _DIFFERENT
    )


def main() -> None:
    """Run the commands in a temporary directory, and write the pictures."""
    text = PAGE.read_text(encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with TemporaryDirectory() as directory:
        place = Path(directory)
        for name in SHOWN:
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("out"))
        for name, written in _FILE.findall(text):
            (place / name).write_text(written, encoding="utf-8")
        for command in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            subprocess.run(
                command, shell=True, cwd=place, check=True, env={**os.environ, "PATH": path}
            )
        for stored, made in pictures(PAGE):
            stored.parent.mkdir(exist_ok=True)
            small(place / made).save(stored, optimize=True)
            print(f"wrote {stored.relative_to(ROOT)}, {stored.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
