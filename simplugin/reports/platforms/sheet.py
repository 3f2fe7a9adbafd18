"""Shapes and text on a sheet of paper, in inches from its upper left corner."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
# Left, upper, right and lower edge.
Area = tuple[float, float, float, float]

# Preferred maximum width of a sheet [inch]: 1,600 dots.
WIDTH = 10.4
# Font size and colour of the label of a line.
LABEL, LABEL_COLOUR = 6.2, "#3b5b78"
# Letters and signs of a name.
_PARTS = re.compile(r"[^\W_]+|[\W_]+")
# Possible places of a label along a line, in order of preference.
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text; its place is that of its left edge, its middle or its right edge.

    With `paper`, it has a white background.
    """

    x: float
    y: float
    text: str
    size: float = 6.5
    bold: bool = False
    colour: str = "#222222"
    align: str = "left"
    paper: bool = False

    @property
    def area(self) -> Area:
        """Covered area."""
        width, height = measured(self.text, self.size, bold=self.bold)
        left = self.x - {"left": 0.0, "center": width / 2, "right": width}[self.align]
        return left, self.y - height / 2, left + width, self.y + height / 2


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A rectangle with round corners.

    Attributes
    ----------
    kind : str
        ``zone``, ``listing``, ``group``, ``router``, ``bus`` or ``bar``.
    speed : float
        Speed of a core in it [flop/s]; 0 for no shade.
    """

    x: float
    y: float
    width: float
    height: float
    kind: str
    speed: float = 0.0

    @property
    def area(self) -> Area:
        """Covered area."""
        return self.x, self.y, self.x + self.width, self.y + self.height


@dataclass(frozen=True, slots=True)
class Disc:
    """A host, router or place where links meet.

    Attributes
    ----------
    kind : str
        ``host``, ``router``, ``bus`` or ``meeting``.
    power : float
        Speed of all cores together [flop/s].
    speed : float
        Speed of each core [flop/s].
    """

    x: float
    y: float
    radius: float
    kind: str
    power: float = 0.0
    speed: float = 0.0

    @property
    def area(self) -> Area:
        """Covered area."""
        r = self.radius
        return self.x - r, self.y - r, self.x + r, self.y + r


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line for links: of their bandwidth [byte/s], 0 for none; dashed if they are fat pipes."""

    points: tuple[Point, ...]
    bandwidth: float = 0.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """Lines of text with possible places: the first free place is used, if any."""

    places: tuple[tuple[Words, ...], ...]
    name: bool = False


@dataclass
class Block:
    """Shapes together."""

    width: float = 0.0
    height: float = 0.0
    boxes: list[DrawnBox] = field(default_factory=list)
    discs: list[Disc] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        bold: bool = False,
        colour: str = "#222222",
    ) -> float:
        """Add text, widen the block to its right edge, and return that edge."""
        self.words.append(Words(x, y, text, size, bold=bold, colour=colour))
        edge = self.words[-1].area[2]
        self.width = max(self.width, edge)
        return edge

    def put(self, block: Block, x: float, y: float) -> None:
        """Add another block with its corner there."""
        for kind in ("boxes", "discs", "words"):
            mine, more = getattr(self, kind), getattr(block, kind)
            mine += [replace(each, x=each.x + x, y=each.y + y) for each in more]
        for stroke in block.strokes:
            points = tuple((px + x, py + y) for px, py in stroke.points)
            self.strokes.append(replace(stroke, points=points))
        for label in block.labels:
            places = tuple(
                tuple(replace(each, x=each.x + x, y=each.y + y) for each in place)
                for place in label.places
            )
            self.labels.append(replace(label, places=places))
        self.width = max(self.width, x + block.width)
        self.height = max(self.height, y + block.height)

    def place_labels(self, page: Area) -> tuple[int, int]:
        """Place labels where there is room; return the numbers of placed names and of all names.

        Names come before other labels.
        """
        taken = [words.area for words in self.words] + [disc.area for disc in self.discs]
        taken += [box.area for box in self.boxes if box.kind not in ("zone", "bar")]
        covered = np.array(taken).reshape(-1, 4)
        placed = wanted = 0
        for label in sorted(self.labels, key=lambda label: not label.name):
            wanted += label.name
            for place in label.places:
                areas = np.array([words.area for words in place])
                inside = (areas[:, :2] >= page[:2]).all() and (areas[:, 2:] <= page[2:]).all()
                if inside and not any(overlapping(area, covered).any() for area in areas):
                    covered = np.vstack([covered, areas])
                    self.words += place
                    placed += label.name
                    break
        self.labels = []
        return placed, wanted


def overlapping(one: Any, others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which areas overlap one, in more than an edge."""
    slack = 1e-9
    apart = (others[:, :2] < one[2:] - slack) & (one[:2] < others[:, 2:] - slack)
    found: NDArray[np.bool_] = apart.all(axis=1)
    return found


@cache
def measured(text: str, size: float, *, bold: bool = False) -> Point:
    """Return width and height of a line of text [inch]."""
    from matplotlib.font_manager import FontProperties

    weight = "bold" if bold else "normal"
    # At 300 dots per inch hinting hardly matters; a margin covers it.
    width, _, _ = _renderer().get_text_width_height_descent(
        text, FontProperties(family="sans-serif", size=size, weight=weight), ismath=False
    )
    return 1.03 * width / 300 + 0.01, 1.35 * size / 72


@cache
def _renderer() -> Any:
    """Return the renderer that measures text."""
    from matplotlib.backends.backend_agg import RendererAgg

    make: Any = RendererAgg
    return make(1, 1, 300)


def cut(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Return a text that is no wider, its middle left out if need be."""

    def is_wide(text: str) -> bool:
        return measured(text, size, bold=bold)[0] > width

    def shorter(kept: int) -> str:
        return f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"

    if not is_wide(text):
        return text
    # The smallest number of letters, from two on, that do not fit.
    most = 2 + bisect_left(range(2, len(text)), True, key=lambda kept: is_wide(shorter(kept)))
    return shorter(most - 1) if most > 2 else "…"


def distinguished(names: Sequence[str], size: float, width: float) -> list[str]:
    """Return names that fit a width; long ones first lose their common parts.

    Parameters
    ----------
    names : sequence of str
        Names that stand in one drawing.
    size : float
        Font size.
    width : float
        Largest width [inch].
    """
    wide = {name: _PARTS.findall(name) for name in names if measured(name, size)[0] > width}
    alike: dict[int, list[list[str]]] = {}
    for parts in wide.values():
        alike.setdefault(len(parts), []).append(parts)
    shorter = {}
    for name, parts in wide.items():
        peers = alike[len(parts)]
        differ = [at for at in range(len(parts)) if len({peer[at] for peer in peers}) > 1]
        # A number with the word before it.
        kept = {place for at in differ for place in range(at - 2 * parts[at].isdecimal(), at + 1)}
        text = "".join(part if at in kept else "\0" for at, part in enumerate(parts))
        shorter[name] = re.sub("\0+", "…", text) if differ else name
    return [cut(shorter.get(name, name), size, width) for name in names]


def label_along(path: Sequence[Point], text: str) -> Label:
    """Return the label on a line."""
    if not text:
        return Label(())
    points = np.array(path)
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    at = np.array(_ALONG) * along[-1]
    places = zip(*(np.interp(at, along, points[:, axis]).tolist() for axis in (0, 1)), strict=True)
    look: Any = {"colour": LABEL_COLOUR, "align": "center", "paper": True}
    return Label(tuple((Words(x, y, text, LABEL, **look),) for x, y in places))
