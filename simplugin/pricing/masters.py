"""What the master of an application decides: the throughput that is best for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp, log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import AlphaFair

    Floats = NDArray[np.float64]


def best_throughput(
    middle: Floats, slack: Floats, weight: Floats, utility: AlphaFair
) -> tuple[Floats, Floats]:
    r"""Return :math:`\arg\max w U(\rho) - (\rho - m)^2 / 2u`, and :math:`w U'` there.

    Step 4 of a round of `simplugin.pricing.markets`.

    Parameters
    ----------
    middle, slack, weight : float64, shape (n_applications,)
        :math:`m` [tasks/s], :math:`u` [(tasks/s)^2/utility] and :math:`w`.
    utility : AlphaFair
        :math:`U`, with a finite alpha. At 0 no throughput needs to be above 0.

    Returns
    -------
    reached : float64, shape (n_applications,)
        The throughputs [tasks/s].
    value : float64, shape (n_applications,)
        What one more task per second is worth [utility/(tasks/s)].
    """
    alpha = utility.alpha
    scaled = slack * weight
    if alpha == 0:
        reached = np.maximum(middle + scaled, 0.0)
        return reached, np.where(reached > 0, weight, -middle / slack)
    if alpha == 1:
        root = np.sqrt(middle**2 + 4 * scaled)
        half = (np.abs(middle) + root) / 2
        reached = np.where(middle > 0, half, scaled / half)
        return reached, weight / reached
    # Newton on ln(rho - m) + alpha ln(rho) = ln(u w): in ln(rho - m) above m = 0, where this is
    # convex from the right, and in ln(rho) below, likewise.
    positive = middle > 0
    size = np.abs(middle)
    y = log(scaled) / (1 + alpha)
    # Each application stops by itself, so that its master alone comes to the same.
    going = np.ones(len(y), dtype=bool)
    for _ in range(100):
        above = exp(y)
        whole = size + above
        slope = np.where(positive, 1 + alpha * above / whole, above / whole + alpha)
        value = np.where(positive, y + alpha * log(whole), log(whole) + alpha * y)
        step = (value - log(scaled)) / slope
        y = np.where(going, y - step, y)
        going &= np.abs(step) > 1e-15 * np.maximum(np.abs(y), 1.0)
        if not np.any(going):
            break
    reached = np.where(positive, size + exp(y), exp(y))
    return reached, weight * utility.marginal(reached)
