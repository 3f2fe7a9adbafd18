"""Platforms of every kind of zone, nested, with routes that differ in both directions."""

from __future__ import annotations

import random
from typing import NamedTuple

from simplugin.platforms import (
    Backbone,
    BypassRoute,
    BypassZoneRoute,
    Cluster,
    Host,
    HostLink,
    Link,
    LinkUse,
    Peer,
    Platform,
    Route,
    Router,
    Zone,
    ZoneRoute,
)

ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache")
KINDS = (*ROUTINGS, "Cluster", "cluster", "TORUS", "FAT_TREE", "DRAGONFLY", "Vivaldi", "Wifi")
TOPOLOGIES = {
    "TORUS": ("0-7", "2,2,2"),
    "FAT_TREE": ("0-7", "2;4,2;1,2;1,1"),
    "DRAGONFLY": ("0-15", "2,1;2,1;2,1;2"),
}


class Part(NamedTuple):
    """A zone or cluster, and by what it can be left."""

    element: Zone | Cluster
    gateways: list[str]


class Maker:
    """Draws platforms; names are unique."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.count = 0

    def platform(self) -> Platform:
        """Return a platform of up to three levels."""
        return Platform(self.composite(self.draw.choice((1, 1, 2))).element)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def bandwidth(self) -> float:
        return 10.0 ** self.draw.uniform(5, 9)

    def latency(self) -> float:
        return self.draw.choice((0.0, 1e-6, 1e-4, 3e-3))

    def links(self, count: int) -> list[Link]:
        policies = ("SHARED", "SHARED", "SPLITDUPLEX", "FATPIPE")
        return [
            Link(
                self.name("l"), self.bandwidth(), self.latency() + 1e-7, self.draw.choice(policies)
            )
            for _ in range(count)
        ]

    def way(self, links: list[Link]) -> list[LinkUse]:
        """Return one to three of some links."""
        chosen = self.draw.sample(links, self.draw.randint(1, min(3, len(links))))
        return [
            LinkUse(
                link.id,
                self.draw.choice(("UP", "DOWN"))
                if link.sharing_policy == "SPLITDUPLEX"
                else "NONE",
            )
            for link in chosen
        ]

    def joined(self, count: int, routing: str) -> list[tuple[int, int]]:
        """Return which of some parts are joined by routes: all, or a ring with chords."""
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        if routing == "Full":
            return pairs
        return [pair for pair in pairs if pair[1] - pair[0] == 1 or self.draw.random() < 0.4]

    def leaf(self, kind: str) -> Part:
        """Return a zone of hosts."""
        if kind in TOPOLOGIES or kind == "cluster":
            return self.cluster(kind)
        hosts = [self.name("h") for _ in range(self.draw.randint(1, 4))]
        router = self.name("r")
        maker = {"Cluster": self.star, "Vivaldi": self.vivaldi, "Wifi": self.wifi}.get(kind)
        if maker is not None:
            return maker(hosts, router)
        ends, links = [*hosts, router], self.links(6)
        routes: list[Route | BypassRoute] = []
        for i, j in self.joined(len(ends), kind):
            one_way = self.draw.random() < 0.5
            routes.append(Route(ends[i], ends[j], self.way(links), symmetrical=not one_way))
            if one_way:
                routes.append(Route(ends[j], ends[i], self.way(links), symmetrical=False))
        if len(hosts) > 1 and self.draw.random() < 0.3:
            routes.append(BypassRoute(*self.draw.sample(hosts, 2), self.way(links)))
        elements = [*(Host(host, 1e9) for host in hosts), Router(router), *links]
        gateways = ends if kind == "Full" else [router]
        return Part(Zone(self.name("z"), kind, elements, routes), gateways)

    def star(self, hosts: list[str], router: str) -> Part:
        links, ends = [], []
        for host in hosts:
            link = Link(self.name("l"), self.bandwidth(), self.latency(), "SPLITDUPLEX")
            links.append(link)
            ends.append(HostLink(host, f"{link.id}_UP", f"{link.id}_DOWN"))
        elements = [*(Host(host, 1e9) for host in hosts), *links, *ends, Router(router)]
        elements.append(Backbone(self.name("b"), self.bandwidth(), self.latency() + 1e-6))
        return Part(Zone(self.name("z"), "Cluster", elements), [router])

    def vivaldi(self, hosts: list[str], router: str) -> Part:
        def place() -> tuple[float, float, float]:
            return (self.draw.uniform(0, 9), self.draw.uniform(0, 9), self.draw.uniform(0, 1))

        if self.draw.random() < 0.5:
            peers = [Peer(host, 1e9, self.bandwidth(), self.bandwidth(), place()) for host in hosts]
            return Part(Zone(self.name("z"), "Vivaldi", peers), hosts[:1])
        nodes = [Host(host, 1e9, coordinates=place()) for host in hosts]
        return Part(Zone(self.name("z"), "Vivaldi", [*nodes, Router(router, place())]), [router])

    def wifi(self, hosts: list[str], router: str) -> Part:
        stations = [
            Host(host, 1e9, properties={"wifi_rate": str(self.draw.randint(0, 2))})
            for host in hosts
        ]
        cell = Link(self.name("l"), 6.75e6, 0.0, "WIFI", (4.5e6, 2.25e6))
        zone = Zone(
            self.name("z"),
            "Wifi",
            [*stations, Router(router), cell],
            properties={"access_point": router},
        )
        return Part(zone, [router])

    def cluster(self, kind: str) -> Part:
        chance = self.draw.random
        radical, parameters = TOPOLOGIES.get(kind, (f"0-{self.draw.randint(1, 4)}", ""))
        more = {}
        if chance() < 0.4:
            more |= {"loopback_bandwidth": self.bandwidth(), "loopback_latency": 1e-6}
        if chance() < 0.4:
            more |= {"limiter_bandwidth": self.bandwidth()}
        if kind == "cluster" and chance() < 0.5:
            policy = self.draw.choice(("SHARED", "FATPIPE"))
            more |= {"backbone_bandwidth": self.bandwidth(), "backbone_latency": 1e-5}
            more |= {"backbone_sharing_policy": policy}
        name, router = self.name("c"), self.name("r")
        cluster = Cluster(
            name,
            radical,
            1e9,
            self.bandwidth(),
            self.latency() + 1e-6,
            prefix=f"{name}-",
            topology="FLAT" if kind == "cluster" else kind,
            topology_parameters=parameters,
            sharing_policy=self.draw.choice(("SHARED", "SPLITDUPLEX")),
            router=router if kind == "cluster" else "",
            **more,
        )
        return Part(cluster, [router] if kind == "cluster" else list(cluster.host_names()))

    def composite(self, depth: int) -> Part:
        """Return a zone of zones."""
        routing = self.draw.choice(ROUTINGS)
        parts = [
            self.composite(depth - 1)
            if depth > 1 and self.draw.random() < 0.6
            else self.leaf(self.draw.choice(KINDS))
            for _ in range(self.draw.randint(2, 3))
        ]
        links = self.links(5)
        routes: list[ZoneRoute | BypassZoneRoute] = []
        for i, j in self.joined(len(parts), routing):
            for there in (True, False):
                one, other = (parts[i], parts[j]) if there else (parts[j], parts[i])
                symmetrical = there and self.draw.random() < 0.5
                ends = (one.element.id, other.element.id)
                gateways = (self.draw.choice(one.gateways), self.draw.choice(other.gateways))
                way = self.way(links)
                routes.append(ZoneRoute(*ends, *gateways, way, symmetrical=symmetrical))
                if symmetrical:
                    break
        if self.draw.random() < 0.2:
            one, other = self.draw.sample(parts, 2)
            gateways = (self.draw.choice(one.gateways), self.draw.choice(other.gateways))
            ends = (one.element.id, other.element.id)
            routes.append(BypassZoneRoute(*ends, *gateways, self.way(links)))
        zone = Zone(self.name("z"), routing, [*(part.element for part in parts), *links], routes)
        return Part(zone, self.draw.choice(parts).gateways)
