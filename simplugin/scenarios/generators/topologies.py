"""Generators of topologies for scenarios and the command.

A generator has the parameters of its topology; capacities of hosts and links one by one; and for
random graphs `seed` and `routing`, which is ``"Full"`` for routes between neighbours only, or
``"Floyd"``, ``"Dijkstra"`` or ``"DijkstraCache"`` for routes between all hosts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

from numpy.random import default_rng
from pydantic import Field

from simplugin.inputs.quantities import HostSpeed, Latency, LinkBandwidth
from simplugin.platforms import Platform
from simplugin.platforms.drawn_quantities import DrawnBandwidth, DrawnLatency, DrawnSpeed
from simplugin.platforms.topologies import random_graphs, shapes
from simplugin.platforms.topologies.shapes import STAR_LATENCY, Capacities, Parts

Routing = Annotated[
    str, Field(description='"Full": routes between neighbours only; "DijkstraCache": between all.')
]
Seed = Annotated[int, Field(ge=0, description="Seed of the draws.")]

# With this routing all hosts reach each other, and nothing grows with their square.
ROUTING = "DijkstraCache"
# Arguments of topologies that a generator has one by one: class, and type of each field.
_DRAWN = {"speed": DrawnSpeed, "bandwidth": DrawnBandwidth, "latency": DrawnLatency}
_EQUAL = {"speed": HostSpeed, "cores": int, "bandwidth": LinkBandwidth, "latency": Latency}
_GROUPS: dict[str, tuple[type, dict[str, Any]]] = {
    "capacities": (Capacities, _DRAWN),
    "parts": (Parts, _EQUAL),
}


def _generator(
    make: Callable[..., Any], head: str = "", *, routing: str = ROUTING, **types: Any
) -> Callable[..., Platform]:
    """Return the generator of a topology.

    Parameters
    ----------
    make : callable
        Returns a platform, or a graph if it takes a random number generator.
    head : str
        First line of its documentation, by default that of `make`.
    routing : str
        Default of its parameter `routing`.
    **types
        Types of parameters that differ from those of `make`, with a default as a pair.
    """
    found = inspect.signature(make).parameters
    hints = get_type_hints(make)
    own = {name: (hints[name], each.default) for name, each in found.items()}
    for name, kind in types.items():
        own[name] = kind if isinstance(kind, tuple) else (kind, own[name][1])
    group = next((name for name in found if name in _GROUPS), None)
    groups: dict[str, tuple[Any, Any]] = {}
    if group is not None:
        whole, kinds = _GROUPS[group]
        usual = inspect.signature(whole).parameters
        groups = {name: (kind, usual[name].default) for name, kind in kinds.items()}
    is_random = "generator" in own
    further = {"routing": (Routing, routing), "seed": (Seed, 0)} if is_random else {}
    own = {name: each for name, each in own.items() if name in {*found} - {"generator", group}}

    defaults = {
        name: each for name, (_, each) in own.items() if each is not inspect.Parameter.empty
    }

    def generate(**given: Any) -> Platform:
        """Return the platform."""
        given = defaults | given
        if group is not None:
            values = {name: given.pop(name) for name in groups if name in given}
            given[group] = _GROUPS[group][0](**values)
        platform: Platform
        if not is_random:
            platform = make(**given)
            return platform
        route, seed = given.pop("routing", routing), given.pop("seed", 0)
        platform = make(generator=default_rng(seed), **given).platform(route)
        return platform

    generate.__name__ = generate.__qualname__ = make.__name__
    source = f"{make.__module__.rpartition('.')[2]}.{make.__name__}"
    entry = f"{', '.join(own)}\n    See `{source}`.\n"
    # References stand where the topology is documented.
    head = head or (make.__doc__ or "").partition("\n")[0].replace(" [1]_", "")
    generate.__doc__ = f"{head}\n\nParameters\n----------\n{entry}"
    if "cores" in groups:
        generate.__doc__ += "cores\n    See `Parts`.\n"
    keyword, every = inspect.Parameter.KEYWORD_ONLY, own | groups | further
    generate.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # of its parameters
        [
            inspect.Parameter(name, keyword, default=default, annotation=kind)
            for name, (kind, default) in every.items()
        ]
    )
    return generate


chain = _generator(shapes.chain)
ring = _generator(shapes.ring)
grid = _generator(shapes.grid)
complete_tree = _generator(shapes.complete_tree, arity=(int, 2), depth=(int, 3))
random_geometric = _generator(shapes.random_geometric, side_latency=Latency)
preferential_attachment = _generator(shapes.preferential_attachment)
small_world = _generator(shapes.small_world)
flat_cluster = _generator(shapes.flat_cluster)
fat_tree = _generator(
    shapes.fat_tree,
    "Return a fat tree, given the children of a switch for each level from below.",
    children=tuple[int, ...],
    parents=tuple[int, ...] | None,
    parallel=tuple[int, ...] | None,
)
torus = _generator(
    shapes.torus, "Return a torus, by its size in each dimension.", sizes=tuple[int, ...]
)
dragonfly = _generator(
    shapes.dragonfly,
    "Return a dragonfly: groups of routers, all groups joined, all routers of a group joined.",
)
random_graph = _generator(
    random_graphs.random_graph,
    "Return a random graph of hosts: one of the shapes on which prices are tried.",
    routing="Full",
    latency=Latency,
)
random_tree = _generator(
    random_graphs.random_tree,
    "Return a random tree of hosts with root ``n0``, as Beaumont et al. draw them.",
    routing="Full",
    speeds=tuple[HostSpeed, HostSpeed],
    bandwidths=tuple[LinkBandwidth, LinkBandwidth],
    latency=Latency | tuple[Latency, Latency],
)


def five_hosts(latency: Latency = 1e-3, routing: Routing = "Full") -> Platform:
    """Return five equal hosts in a tree, the example of Bertin, Legrand and Touati.

    Speeds and bandwidths are those of their section 5.1. Which hosts are neighbours is an
    assumption (see `simplugin.platforms.topologies.shapes.FIVE_HOSTS_TREE`), as is the latency.
    """
    return shapes.five_hosts(latency=latency).platform(routing)


def star(
    workers: int = 10,
    speed: DrawnSpeed | None = None,
    bandwidth: DrawnBandwidth | None = None,
    latency: DrawnLatency = STAR_LATENCY,
    seed: Seed = 1,
) -> Platform:
    """Return a master and workers, each behind a link of its own, round figures by default.

    Parameters
    ----------
    workers
        See `shapes.star`.
    """
    generator = default_rng(seed)
    return shapes.star(workers, generator, speed=speed, bandwidth=bandwidth, latency=latency)


def two_topologies() -> Platform:
    """Return a fat tree and a torus of 64 hosts each, joined by one link: an example."""
    return shapes.two_topologies()
