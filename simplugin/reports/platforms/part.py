"""Items of a zone that hang together, numbered from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from simplugin.reports.platforms.contents import rate_words
from simplugin.reports.platforms.items import Item, Survey
from simplugin.reports.platforms.network import Line
from simplugin.reports.platforms.sheet import Point, Wish, Words

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LABEL, _LABEL_COLOUR = 6.2, "#3b5b78"
# Where along a line its words may stand, first choice first.
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)


class Part:
    """Some items of a zone and the lines between them."""

    def __init__(self, zone: Item, members: Sequence[int], survey: Survey) -> None:
        number = {old: new for new, old in enumerate(members)}
        self.items = [zone.inner[i] for i in members]
        self.lines = [line for line in zone.lines if line.start in number and line.stop in number]
        self.edges = [(number[line.start], number[line.stop]) for line in self.lines]
        self._survey = survey
        self._name_points()

    def bandwidth(self, line: Line) -> float:
        """Return what a line carries in one direction [byte/s]; 0 if no link tells."""
        rates = [self._survey.bandwidth(link) for link in line.links]
        return max(rates, default=0.0)

    def is_fat(self, line: Line) -> bool:
        """Whether transfers on a line do not disturb each other."""
        return bool(line.links) and all(self._survey.is_fat(link) for link in line.links)

    def rate(self, line: Line) -> str:
        """Return the words for a line: its rate, or two where directions differ."""
        if not line.links or all(self._stands_in(link) for link in line.links):
            return ""
        rates = dict.fromkeys(rate_words(self._survey.bandwidth(link)) for link in line.links)
        if len(line.links) > 8 and len(rates) == 1:
            return f"{len(line.links):,} \u00d7 {next(iter(rates))}"
        if len(rates) > 2:
            return f"{len(line.links)} links"
        return " / ".join(rates)

    def _stands_in(self, link: str) -> bool:
        """Whether a link is there only because SimGrid demands one in many places."""
        uses = sum(link in line.links for line in self.lines) if self._survey.is_fat(link) else 0
        return uses > 3

    def bus_words(self, item: Item) -> str:
        """Return the words for a link that is a point: its name and rate."""
        names = item.name.split(", ")
        if len(names) > 2:
            return f"{len(names)} links"
        return ", ".join(f"{name} {rate_words(self._survey.bandwidth(name))}" for name in names)

    def _name_points(self) -> None:
        """Give a point where links meet the word that the names of its links have in common."""
        tokens = [[set(_TOKEN.findall(link)) for link in line.links] for line in self.lines]
        everywhere = [each for line in tokens for each in line]
        common = set.intersection(*everywhere) if len(everywhere) > 2 else set()
        taken: dict[str, Item] = {}
        for place, item in enumerate(self.items):
            if item.kind != "meeting" or item.name:
                continue
            here = [
                words
                for edge, line in zip(self.edges, tokens, strict=True)
                if place in edge
                for words in line
            ]
            shared = set.intersection(*here) - common if len(here) > 1 else set()
            if len(shared) == 1 and not shared & set(taken):
                item.name = shared.pop()
                taken[item.name] = item
        for item in self.items:
            if item.kind == "bus" and item.name and not item.name.endswith("bps"):
                item.name = self.bus_words(item)


def wish_along(path: Sequence[Point], text: str) -> Wish:
    """Return the wish to stand on a line."""
    if not text:
        return Wish(())
    places = []
    for share in _ALONG:
        x, y = _at(path, share)
        places.append(
            (Words(x, y, text, _LABEL, colour=_LABEL_COLOUR, align="center", paper=True),)
        )
    return Wish(tuple(places))


def _at(path: Sequence[Point], share: float) -> Point:
    """Return the point at a share of the length of a path of straight pieces."""
    lengths = [((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5 for a, b in pairwise(path)]
    left = share * sum(lengths)
    for (a, b), length in zip(pairwise(path), lengths, strict=True):
        if left <= length:
            t = left / length if length else 0.0
            return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])
        left -= length
    return path[-1]
