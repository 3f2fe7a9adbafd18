"""Trees of boxes, from the left to the right."""

from __future__ import annotations

from collections.abc import Sequence

from simplugin.reports.platforms.items import Part
from simplugin.reports.platforms.sheet import (
    LABEL,
    LABEL_COLOUR,
    Block,
    Disc,
    Stroke,
    Words,
    measured,
)

_BETWEEN = 0.07


def dendrogram(part: Part, made: Sequence[Block]) -> Block:
    """Return a tree of blocks, the middle of the network at the left.

    Parameters
    ----------
    part : Part
        A tree.
    made : sequence of Block
        One for each item.
    """
    return _Dendrogram(part, made).block()


class _Dendrogram:
    """One tree."""

    def __init__(self, part: Part, made: Sequence[Block]) -> None:
        self.part = part
        self.made = made
        self.joined: list[list[tuple[int, int]]] = [[] for _ in made]
        for line, (one, other) in enumerate(part.edges):
            self.joined[one].append((other, line))
            self.joined[other].append((one, line))
        self.root = self._middle()
        self.depth = {self.root: 0}
        self.children: dict[int, list[tuple[int, int]]] = {}
        self.order = [self.root]
        for place in self.order:
            below = [each for each in self.joined[place] if each[0] not in self.depth]
            self.children[place] = below
            for child, _ in below:
                self.depth[child] = self.depth[place] + 1
                self.order.append(child)

    def _middle(self) -> int:
        """Return the point from which all are least far, rather one that is no box."""
        import networkx as nx

        points = [i for i, item in enumerate(self.part.items) if not item.is_box]
        candidates = points or list(range(len(self.made)))
        farthest = nx.eccentricity(nx.Graph(self.part.edges), candidates)
        return min(candidates, key=lambda i: (farthest[i], -len(self.joined[i]), i))

    def block(self) -> Block:
        """Return the drawing."""
        lefts = self._columns()
        middles, height = self._rows()
        sheet = Block(0.0, height)
        for place in self.order:
            own = self.made[place]
            x, y = lefts[self.depth[place]], middles[place]
            item = self.part.items[place]
            if item.kind == "meeting" and not item.name:
                sheet.discs.append(Disc(x + 0.04, y, 0.04, "meeting"))
            sheet.put(own, x, y - own.height / 2)
            right = x + own.width
            bend = lefts[self.depth[place] + 1] - self._room(self.depth[place] + 1) + 0.12
            for child, number in self.children[place]:
                line = self.part.lines[number]
                at, low = lefts[self.depth[child]], middles[child]
                path = ((right, y), (bend, y), (bend, low), (at, low))
                stroke = Stroke(path, self.part.bandwidth(line), self.part.is_fat(line))
                sheet.strokes.append(stroke)
                text = self.part.rate(line)
                if text:
                    spot = (bend + at) / 2 + 0.02
                    words = Words(
                        spot, low, text, LABEL, colour=LABEL_COLOUR, align="center", paper=True
                    )
                    sheet.words.append(words)
        return sheet

    def _room(self, depth: int) -> float:
        """Return the horizontal room of the lines to a depth."""
        texts = [
            self.part.rate(self.part.lines[line])
            for place in self.order
            for child, line in self.children[place]
            if self.depth[child] == depth
        ]
        widest = max((measured(text, LABEL)[0] for text in texts), default=0.0)
        return widest + 0.4

    def _columns(self) -> list[float]:
        """Return the left edges of all depths, and one more."""
        lefts = [0.0]
        for depth in range(max(self.depth.values()) + 1):
            widest = max(self.made[i].width for i in self.order if self.depth[i] == depth)
            lefts.append(lefts[-1] + widest + self._room(depth + 1))
        return lefts

    def _rows(self) -> tuple[dict[int, float], float]:
        """Return the middle of each block, and the height of all."""
        need: dict[int, float] = {}
        for place in reversed(self.order):
            below = sum(need[child] for child, _ in self.children[place])
            need[place] = max(self.made[place].height + _BETWEEN, below)
        middles: dict[int, float] = {}
        start = {self.root: 0.0}
        for place in self.order:
            below = sum(need[child] for child, _ in self.children[place])
            y = start[place] + (need[place] - below) / 2
            middles[place] = start[place] + need[place] / 2
            for child, _ in self.children[place]:
                start[child] = y
                y += need[child]
        return middles, need[self.root]
