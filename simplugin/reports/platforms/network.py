"""Reconstruction of a network from its routes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

# A link on a way, and the end that the way enters it by: 0 or 1; -1 if unknown.
Step = tuple[str, int]
# Neighbour of a link on a way: a terminal (0, name) or another link (1, name).
_Thing = tuple[int, str]
_End = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """A route: from a terminal over links to a terminal."""

    source: str
    destination: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """Direct connection of two points.

    Attributes
    ----------
    start, stop : int
        The points.
    links : tuple of str
        The links between the two; none where several terminals are at one end of a link.
    """

    start: int
    stop: int
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network:
    """Points and the lines between them.

    Attributes
    ----------
    points : tuple of str
        Names: first the terminals, then a nameless point for each place where links meet without
        a terminal.
    n_terminals : int
        Number of terminals.
    lines : tuple of Connection
        At most one between any two points.
    buses : dict of int to tuple of str
        Points that are links themselves, crossed between more than two neighbours.
    """

    points: tuple[str, ...]
    n_terminals: int
    lines: tuple[Connection, ...] = ()
    buses: dict[int, tuple[str, ...]] = field(default_factory=dict)


def network(
    terminals: Sequence[str], ways: Iterable[Way], fat: Callable[[str], bool] = lambda _: False
) -> Network:
    """Return the network that explains given ways.

    Links that follow each other on a way share a point, as do a terminal and the link next to it.
    The ends of a link with directions (`Step`) are known; of another, the
    neighbours on the two sides of it are. One that has more than two sides is a bus, a point of
    its own, and so is one with a terminal at both ends, and a chain of links that all ways cross
    together.

    Parameters
    ----------
    terminals : sequence of str
        Names of all, also of those that no way leads to.
    ways : iterable of Way
        Their ends are terminals.
    fat : callable
        Returns True if the bandwidth of a link is not shared. Such a link may represent many
        cables: it is one line for each pair of neighbours unless it joins all of them pairwise.
    """
    return _Reconstruction(terminals, ways, fat).network()


class _Reconstruction:
    """Joins ends of links until each way is a path."""

    def __init__(
        self, terminals: Sequence[str], ways: Iterable[Way], fat: Callable[[str], bool]
    ) -> None:
        from networkx.utils import UnionFind

        self.fat = fat
        self.apart: set[str] = set()
        self.terminals = tuple(dict.fromkeys(terminals))
        self.ways = list(dict.fromkeys(ways))
        # Links that are drawn as one bus, by the first of them.
        self.chains: dict[str, tuple[str, ...]] = {}
        self._join_chains()
        self.classes: Any = UnionFind()
        self.at: dict[str, dict[_End, None]] = {name: {} for name in self.terminals}
        # For each undirected link the piece and the side of each neighbour.
        self.sides: dict[str, dict[_Thing, tuple[int, int]]] = {}
        self.pieces: dict[str, int] = {}
        self.pairs: dict[str, dict[frozenset[_Thing], int]] = {}
        self.buses: dict[str, None] = {}
        self._find_sides()
        for way in self.ways:
            self._join(way)
        self._join_pieces()
        self._join_ends()

    def _join_chains(self) -> None:
        """Make links that follow each other on every way one link if it has more than two sides."""
        import networkx as nx

        beside: dict[str, set[str]] = {}
        for way in self.ways:
            links = ["", *(link for link, _ in way.steps), ""]
            for place, (link, end) in enumerate(way.steps):
                near = {links[place], links[place + 2]} if end < 0 else set()
                beside[link] = beside.get(link, near) & near
        graph = nx.Graph()
        for link, near in beside.items():
            graph.add_edges_from((link, other) for other in near if link in beside.get(other, ()))
        for chain in nx.connected_components(graph):
            members = tuple(link for link in beside if link in chain)
            joined = (members[0], -1)
            sides, ways = nx.Graph(), []
            for way in self.ways:
                inside = [place for place, (link, _) in enumerate(way.steps) if link in chain]
                if not inside:
                    ways.append(way)
                    continue
                steps = (*way.steps[: inside[0]], joined, *way.steps[inside[-1] + 1 :])
                ways.append(Way(way.source, way.destination, steps))
                sides.add_edges_from(pair[1:] for pair in _passages(ways[-1]) if pair[0] == joined)
            if not nx.is_bipartite(sides):
                self.chains[members[0]] = members
                self.ways = list(dict.fromkeys(ways))

    def _find_sides(self) -> None:
        """Distinguish the two ends of each undirected link by their neighbours."""
        import networkx as nx

        passages: dict[str, dict[tuple[_Thing, _Thing], None]] = {}
        for way in self.ways:
            for (link, end), before, after in _passages(way):
                found = passages.setdefault(link, {})
                if end < 0:
                    found[before, after] = None
        for link, pairs in passages.items():
            if self.fat(link) and not _pairwise(pairs):
                self.apart.add(link)
                both_ways = dict.fromkeys(frozenset(pair) for pair in pairs)
                self.pairs[link] = {pair: i for i, pair in enumerate(both_ways)}
                self.pieces[link] = len(both_ways)
                continue
            graph = nx.Graph(list(pairs))
            pieces = list(nx.connected_components(graph))
            self.pieces[link] = max(len(pieces), 1)
            self.sides[link] = {}
            try:
                colours = nx.bipartite.color(graph)
            except nx.NetworkXError:
                self.buses[link] = None
                continue
            for number, piece in enumerate(pieces):
                # The first thing has colour 1.
                self.sides[link] |= {thing: (number, 1 - colours[thing]) for thing in piece}

    def _ends(self, step: Step, before: _Thing, after: _Thing) -> tuple[_End, _End]:
        """Return the ends at which a way enters and leaves a link."""
        link, end = step
        if link in self.buses:
            return (link, 0, 0), (link, 0, 0)
        if end >= 0:
            return (link, 0, end), (link, 0, 1 - end)
        if link in self.apart:
            piece = self.pairs[link][frozenset((before, after))]
            return (link, piece, int(before > after)), (link, piece, int(before < after))
        sides = self.sides[link]
        return (link, *sides[before]), (link, *sides[after])

    def _join(self, way: Way) -> None:
        """Join the ends of links that meet on a way."""
        last: _End | None = None
        for step, before, after in _passages(way):
            enters, leaves = self._ends(step, before, after)
            if last is None:
                self.at[way.source][enters] = None
            else:
                self.classes.union(last, enters)
            last = leaves
        if last is not None:
            self.at[way.destination][last] = None

    def _join_pieces(self) -> None:
        """Match the ends of links if some passages share no neighbour."""
        waiting = [link for link, count in self.pieces.items() if count > 1]
        waiting = [link for link in waiting if link not in self.buses and link not in self.apart]
        changed = True
        while changed and waiting:
            changed = False
            for link in list(waiting):
                if self._matched(link):
                    waiting.remove(link)
                    changed = True
        for link in waiting:
            # The order of the ends is unknown: all ways over the link meet there.
            self.buses[link] = None
            for piece in range(self.pieces[link]):
                for side in (0, 1):
                    self.classes.union((link, 0, 0), (link, piece, side))

    def _join_ends(self) -> None:
        """Turn links with a terminal at both ends into buses."""
        around: dict[str, set[str]] = {}
        for name, ends in self.at.items():
            roots = {self.classes[end] for end in ends}
            for link, piece, side in ends:
                if piece == 0 and link not in self.buses and link not in self.apart:
                    other = self.classes[(link, 0, 1 - side)]
                    if other in roots and other != self.classes[(link, 0, side)]:
                        around.setdefault(link, set()).add(name)
        for link in around:
            self.buses[link] = None
            self.classes.union((link, 0, 0), (link, 0, 1))

    def _matched(self, link: str) -> bool:
        """Join the pieces of a link if the points at their ends determine the order."""
        places = self._places()
        ends = [
            [places.get(self.classes[(link, piece, side)]) for side in (0, 1)]
            for piece in range(self.pieces[link])
        ]
        turns = []
        for pair in ends:
            same = any(a == b for a, b in zip(pair, ends[0], strict=True) if a is not None)
            turned = any(a == b for a, b in zip(pair, ends[0][::-1], strict=True) if a is not None)
            if same == turned:
                return False
            turns.append(turned)
        for piece, turn in enumerate(turns):
            for side in (0, 1):
                self.classes.union((link, 0, side), (link, piece, side ^ turn))
        return True

    def _places(self) -> dict[_End, object]:
        """Return the place of each set of ends: its terminal, or itself."""
        places: dict[_End, object] = {}
        for name, ends in self.at.items():
            for end in ends:
                places[self.classes[end]] = name
        for link, count in self.pieces.items():
            for piece in range(count):
                for side in (0, 1):
                    root = self.classes[(link, piece, side)]
                    places.setdefault(root, root)
        return places

    def network(self) -> Network:
        """Return points and lines."""
        at_end: dict[_End, dict[str, None]] = {}
        for name, ends in self.at.items():
            for end in ends:
                at_end.setdefault(self.classes[end], {})[name] = None
        points = list(self.terminals)
        number = {name: i for i, name in enumerate(points)}
        place: dict[_End, int] = {}
        lines: dict[tuple[int, int], dict[str, None]] = {}
        bus_roots = {self.classes[(link, 0, 0)] for link in self.buses}
        roots: dict[_End, None] = {}
        for link in self.pieces:
            for piece in range(self.pieces[link] if link in self.apart else 1):
                for side in (0,) if link in self.buses else (0, 1):
                    roots[self.classes[(link, piece, side)]] = None
        for root in roots:
            here = at_end.get(root, {})
            if len(here) == 1 and root not in bus_roots:
                place[root] = number[next(iter(here))]
                continue
            place[root] = len(points)
            points.append("")
            for name in here:
                lines.setdefault((number[name], place[root]), {})
        buses: dict[int, tuple[str, ...]] = {}
        for link in self.pieces:
            if link in self.buses:
                spot = place[self.classes[(link, 0, 0)]]
                buses[spot] = (*buses.get(spot, ()), *self.chains.get(link, (link,)))
                continue
            for piece in range(self.pieces[link] if link in self.apart else 1):
                one, other = (place[self.classes[(link, piece, side)]] for side in (0, 1))
                if one != other:
                    lines.setdefault((min(one, other), max(one, other)), {})[link] = None
        drawn = tuple(Connection(*ends, tuple(links)) for ends, links in lines.items())
        return Network(tuple(points), len(self.terminals), drawn, buses)


def _passages(way: Way) -> Iterable[tuple[Step, _Thing, _Thing]]:
    """Yield each link of a way with its predecessor and successor."""
    things: list[_Thing] = [(0, way.source)]
    things += [(1, link) for link, _ in way.steps]
    things.append((0, way.destination))
    return zip(way.steps, things, things[2:], strict=False)


def _pairwise(pairs: Collection[tuple[_Thing, _Thing]]) -> bool:
    """Return True if there are more than two things and all are paired with each other."""
    found = {frozenset(pair) for pair in pairs}
    things = frozenset().union(*found)
    return len(things) > 2 and 2 * len(found) == len(things) * (len(things) - 1)
