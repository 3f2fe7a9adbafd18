"""Seeds of negotiations."""

from __future__ import annotations

import numpy as np


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
