"""Shipped generators of platforms, as scenarios call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simplugin.errors import PlatformError, UnitError, WorkloadError
from simplugin.market.section5_sites import SEED, consistent_site, scaled_site
from simplugin.platforms import Platform, random_graphs, random_trees
from simplugin.platforms.grid5000_subsets import SUBSETS
from simplugin.platforms.multi_clusters import MultiCluster
from simplugin.platforms.peer_grids import PeerGrid
from simplugin.platforms.peer_sites import PeerSite
from simplugin.units import parse_bandwidth, parse_speed, parse_time


def random_graph(seed: int = 0, **parameters: Any) -> Platform:
    """Return a random platform of hosts and links between neighbours.

    Parameters
    ----------
    seed : int
        Of the draws.
    **parameters
        Those of `simplugin.platforms.random_graphs.random_graph`, the generator apart.
    """
    generator = np.random.default_rng(seed)
    return random_graphs.random_graph(generator=generator, **parameters).platform()


def random_tree(seed: int = 0, **parameters: Any) -> Platform:
    """Return a random tree of hosts, ``n0`` its root.

    Parameters
    ----------
    seed : int
        Of the draws.
    **parameters
        Those of `simplugin.platforms.random_trees.random_tree`, the generator apart.
    """
    generator = np.random.default_rng(seed)
    return random_trees.random_tree(generator=generator, **parameters).platform()


def grid5000_subset(site: str) -> Platform:
    """Return a multi-cluster site of Grid'5000.

    Parameters
    ----------
    site : str
        A key of `simplugin.platforms.grid5000_subsets.SUBSETS`.
    """
    if site not in SUBSETS:
        raise ValueError(f"no subset is called {site!r}; give one of {', '.join(SUBSETS)}")
    return SUBSETS[site].platform()


def multi_cluster(clusters: Sequence[Any], name: str = "site", **parameters: Any) -> Platform:
    """Return clusters in one place.

    Parameters
    ----------
    clusters : sequence of mapping
        Of each its `name`, number of `processors` and their `speed` [flop/s].
    name : str
        Of the site.
    **parameters
        The other fields of `simplugin.platforms.multi_clusters.MultiCluster`; quantities may be
        texts with a unit.
    """
    parts = []
    for number, cluster in enumerate(clusters):
        if not isinstance(cluster, Mapping) or set(cluster) != {"name", "processors", "speed"}:
            raise ValueError(f"clusters[{number}] is {cluster!r}; give name, processors and speed")
        speed = cluster["speed"]
        speed = parse_speed(speed) if isinstance(speed, str) else float(speed)
        parts.append((cluster["name"], cluster["processors"], speed))
    for key, value in parameters.items():
        if isinstance(value, str):
            parameters[key] = (parse_time if key.endswith("latency") else parse_bandwidth)(value)
    try:
        return MultiCluster(name, tuple(parts), **parameters).platform()
    except PlatformError as error:
        raise ValueError(str(error)) from error


def peer_site(
    speed: Sequence[Any] | None = None,
    bandwidth: Sequence[Any] | None = None,
    seed: int | None = None,
    degree: float | None = None,
    **further: Any,
) -> Platform:
    """Return a site of computing peers, with the host ``scheduler`` of its local scheduler.

    Without speeds and bandwidths it has twelve peers, of which all that Zheng et al. (2011) tell
    of theirs is true.

    Parameters
    ----------
    speed, bandwidth : sequence, optional
        Capacities of the peers ``peer-1`` and so on [flop/s], [byte/s]; quantities may be texts
        with a unit.
    seed : int, optional
        Of `simplugin.market.section5_sites.consistent_site`; `chosen_site` without.
    degree : float, optional
        Heterogeneity degree of those twelve, if another one is wanted, as in `scaled_site`.
    **further
        `latency`, `uplink`, `prefix` and `scheduler` as in
        `simplugin.platforms.peer_sites.PeerSite`.
    """
    told = {"speed": speed, "bandwidth": bandwidth, "seed": seed, "degree": degree}
    try:
        return _peers(told | further).platform()
    except (PlatformError, UnitError, WorkloadError) as error:
        raise ValueError(str(error)) from error


def peer_grid(
    sites: int | Sequence[Any] = 3,
    seed: int | None = None,
    bandwidth: Any = 1.25e9,
    latency: Any = 0.0,
) -> Platform:
    """Return sites of computing peers under the host ``global-scheduler``.

    Parameters
    ----------
    sites : int or sequence of mapping
        How many sites with twelve peers each as `peer_site` has them, the first one that of the
        seed; or the parameters of `peer_site` for each. The first one's hosts are called
        ``scheduler-1``, ``peer-1-1`` and so on, if its parameters say nothing else.
    seed : int, optional
        Of the first site; each other has the next one.
    bandwidth : float or str
        Of the backbone between the schedulers [byte/s].
    latency : float or str
        Of the backbone [s].
    """
    first = SEED if seed is None else seed
    if isinstance(sites, int) and not isinstance(sites, bool):
        parameters: list[Any] = [{"seed": first + number} for number in range(sites)]
    else:
        parameters = list(sites) if isinstance(sites, Sequence) else []
        if seed is not None or not all(isinstance(each, Mapping) for each in parameters):
            raise ValueError(f"sites is {sites!r}; give a number, or a table each and no seed")
    numbers = range(1, len(parameters) + 1)
    names = [f"site-{at}" for at in numbers]
    usual = [{"prefix": f"peer-{at}", "scheduler": f"scheduler-{at}"} for at in numbers]
    try:
        found = [_peers(own | given) for own, given in zip(usual, parameters, strict=True)]
        backbone = _read("bandwidth", bandwidth), _read("latency", latency)
        return PeerGrid(tuple(names), tuple(found), *backbone).platform()
    except (PlatformError, UnitError, WorkloadError) as error:
        raise ValueError(str(error)) from error


def _peers(given: Mapping[str, Any]) -> PeerSite:
    """Return the peers that are told, or some that fit the paper."""
    further = {name: _read(name, value) for name, value in given.items()}
    speed, bandwidth, seed, degree = (
        further.pop(name, None) for name in ("speed", "bandwidth", "seed", "degree")
    )
    if (speed is None) != (bandwidth is None):
        raise ValueError("speed and bandwidth go together; give both or neither")
    if speed is None:
        site = _consistent(seed, degree)
        return PeerSite.numbered(site.speed, site.bandwidth, **further)
    if seed is not None or degree is not None:
        raise ValueError("seed and degree say nothing beside speed; remove them")
    return PeerSite.numbered(
        np.array([_read("speed", each) for each in speed]),
        np.array([_read("bandwidth", each) for each in bandwidth]),
        **further,
    )


def _consistent(seed: int | None, degree: float | None) -> PeerSite:
    """Return peers that fit the paper."""
    number = SEED if seed is None else seed
    return consistent_site(number) if degree is None else scaled_site(number, degree)


# How quantities that are texts are read.
_READ = {
    "speed": parse_speed,
    "bandwidth": parse_bandwidth,
    "uplink": parse_bandwidth,
    "latency": parse_time,
}


def _read(name: str, value: Any) -> Any:
    """Read a text with a unit where one may stand."""
    if isinstance(value, str) and name in _READ:
        return _READ[name](value)
    return value
