"""Seeds as scenarios and the command give them."""

from __future__ import annotations

import numpy as np

from simplugin.platforms.validation import require_count


def draws(seed: int) -> np.random.Generator:
    """Return the source of draws that a seed stands for.

    Parameters
    ----------
    seed : int
        From 0 on.

    Raises
    ------
    PlatformError
        It is no such number.
    """
    require_count("the seed", seed, 0)
    return np.random.default_rng(seed)
