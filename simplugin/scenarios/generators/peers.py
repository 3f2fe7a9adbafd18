"""Computing peers, as scenarios ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simplugin.errors import PlatformError, UnitError
from simplugin.platforms import Platform
from simplugin.platforms.laws import QUANTITIES, read_number
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.twelve_peers import SEED, consistent_site, scaled_site
from simplugin.platforms.validation import require_count


def peer_site(
    speed: Sequence[Any] | None = None,
    bandwidth: Sequence[Any] | None = None,
    seed: int | None = None,
    degree: float | None = None,
    **further: Any,
) -> Platform:
    """Return a site of computing peers, with the host ``scheduler`` of its local scheduler.

    Without speeds and bandwidths it has twelve peers, with all
    properties that Zheng et al. (2011) give of theirs.

    Parameters
    ----------
    speed, bandwidth : sequence, optional
        Capacities of the peers ``peer-1`` and so on [flop/s], [byte/s]; quantities may be texts
        with a unit.
    seed : int, optional
        Of `simplugin.platforms.twelve_peers.consistent_site`; `chosen_site` without.
    degree : float, optional
        Heterogeneity degree of those twelve, if another one is wanted, as in `scaled_site`.
    **further
        `latency`, `uplink`, `prefix` and `scheduler` as in
        `simplugin.platforms.peers.PeerSite`.
    """
    given = {"speed": speed, "bandwidth": bandwidth, "seed": seed, "degree": degree}
    try:
        return _peers(given | further).platform()
    except (PlatformError, UnitError) as error:
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
    require_count("the seed", first, 0)
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
    except (PlatformError, UnitError) as error:
        raise ValueError(str(error)) from error


def _peers(given: Mapping[str, Any]) -> PeerSite:
    """Return the peers given, or some that fit the paper."""
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
    require_count("the seed", number, 0)
    return consistent_site(number) if degree is None else scaled_site(number, degree)


def _read(name: str, value: Any) -> Any:
    """Read a text with a unit if it is one."""
    kind = {"uplink": "bandwidth"}.get(name, name)
    if isinstance(value, str) and kind in QUANTITIES:
        return read_number(name, value, QUANTITIES[kind])
    return value
