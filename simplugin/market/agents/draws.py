"""Random numbers of negotiations."""

from __future__ import annotations

import numpy as np

# Sets these streams apart from those of markets and sites, which start with small seeds.
_NEGOTIATIONS = 0x6E65676F


def negotiation_seed(seed: int, bundle: int, site: int) -> int:
    """Return the seed of one negotiation; that of the first bundle at the first site is the run's.

    Parameters
    ----------
    seed : int
        Of the execution.
    bundle, site : int
        Numbers.
    """
    if not bundle and not site:
        return seed
    return int(np.random.SeedSequence([seed, bundle, site]).generate_state(1, np.uint64)[0])


def own_generator(seed: int, peer: int | None = None) -> np.random.Generator:
    """Return the random numbers of a peer, or of the local scheduler, which nobody else draws.

    Parameters
    ----------
    seed : int
        Of the negotiation.
    peer : int, optional
        Its number; the local scheduler without.
    """
    # No zero at the end: numpy takes [s] and [s, 0] for the same.
    return np.random.default_rng([_NEGOTIATIONS, seed, 1 if peer is None else peer + 2])
