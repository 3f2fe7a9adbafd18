"""Sites of twelve peers that agree with the figures of Zheng et al. (2011).

Section 5 of the paper shows the capacities of its peers in a picture only (Fig. 3). It gives three
numbers: the heterogeneity degree, what the first computation-intensive task is worth to peer 10,
and the mean of that over all peers (the market price of Fig. 4, which can only be the first one,
Eq. (8)). Capacities are therefore drawn, and scaled to these three.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp
from simplugin.core.errors import PlatformError
from simplugin.platforms.peers import PeerSite

Floats = NDArray[np.float64]

N_PEERS = 12
# Of a computation-intensive task: setup time [s], size [Mflop], data [MB]. Its price is that of a
# task that takes an hour [G$ s].
SETUP, FLOP, BYTE, HOUR = 0.005, 1000.0, 1.0, 3600.0
MEGA = 1e6
# Fig. 3, and twice Fig. 4 (a), where peers count from 1.
DEGREE = 11.0468
SLOW_PEER = 9
SLOW_PRICE = 4.5
MEAN_PRICE = 83.3
# Heterogeneity degrees for Fig. 5: the paper's, its half and its quarter.
DEGREES = (DEGREE / 4, DEGREE / 2, DEGREE)
# Standard deviation of the logarithms of capacities, both kinds alike; the paper gives none.
SPREAD = 0.5
# The first seed, chosen before its results were known.
SEED = 0
# Each step leaves a few thousandths of the error of most draws.
_STEPS = 60


def consistent_site(seed: int, spread: float = SPREAD) -> PeerSite:
    """Return a site of twelve peers with the three numbers of the paper.

    Speeds and bandwidths are drawn from a lognormal distribution. Then the speed of peer 10 is set
    to where its first computation-intensive task is worth 4.5, the speeds of the others are scaled
    by one factor until the mean over all peers is 83.3, and bandwidths by another until H_D is
    11.0468 in units of 10^6 flop/s and 10^6 byte/s (Eq. (13) adds the two). Prices are in G$ for a
    task an hour, t_setup is 5 ms. Draws whose speeds alone exceed that H_D are drawn anew.

    Parameters
    ----------
    seed : int
        Of the draw.
    spread : float
        Standard deviation of the logarithms of capacities.

    Raises
    ------
    PlatformError
        Capacities of that spread hardly ever reach so low a degree.
    """
    generator = np.random.default_rng([seed, 5])
    for _ in range(1000):
        speed, bandwidth = exp(spread * generator.standard_normal((2, N_PEERS)))
        fitted = _fitted(speed, bandwidth)
        if fitted is not None:
            return PeerSite.numbered(fitted[0] * MEGA, fitted[1] * MEGA)
    raise PlatformError(
        f"no draw of spread {spread!r} has a heterogeneity degree of {DEGREE}; give less, say"
        f" {SPREAD}"
    )


def _fitted(speed: Floats, bandwidth: Floats) -> tuple[Floats, Floats] | None:
    """Return capacities of the same proportions that fit the paper, if there are any."""
    others = np.arange(N_PEERS) != SLOW_PEER
    wanted = N_PEERS * MEAN_PRICE - SLOW_PRICE
    # A start where transfers take no time; they take a few thousandths of tasks' times.
    speed = speed * wanted * FLOP / HOUR / speed[others].sum()
    for _ in range(_STEPS):
        rest = 2 * DEGREE - float(np.std(speed))
        if rest <= 0:
            return None
        bandwidth = bandwidth * (rest / np.std(bandwidth))
        besides = SETUP + BYTE / bandwidth
        time = HOUR / SLOW_PRICE - besides[SLOW_PEER]
        if time <= 0:
            return None
        speed[SLOW_PEER] = FLOP / time
        prices = HOUR / (besides + FLOP / speed)
        speed[others] *= wanted / prices[others].sum()
    return speed, bandwidth


@cache
def chosen_site() -> PeerSite:
    """Return the consistent site of the first seed, which stands for the paper's own."""
    return consistent_site(SEED)


def scaled_site(seed: int, degree: float) -> PeerSite:
    """Return a consistent site with another heterogeneity degree, for Fig. 5.

    The means of speeds and of bandwidths stay; all deviations from them are scaled by one factor,
    so that H_D is exactly the degree.

    Parameters
    ----------
    seed : int
        Of `consistent_site`.
    degree : float
        H_D wanted, in units of 10^6 flop/s and 10^6 byte/s; from 0 to 11.0468.

    Raises
    ------
    PlatformError
        The degree is out of its range.
    """
    if not 0 <= degree <= DEGREE:
        raise PlatformError(
            f"degree is {degree!r}; give a number from 0 to {DEGREE}, beyond which the slow peer"
            " has no speed left"
        )
    site = consistent_site(seed)
    factor = degree / DEGREE
    capacities = (
        values.mean() + factor * (values - values.mean()) for values in (site.speed, site.bandwidth)
    )
    return PeerSite.numbered(*capacities)
