"""Alpha-fair utilities of a throughput."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.elementary import log, power
from simplugin.errors import WorkloadError


@dataclass(frozen=True, slots=True)
class AlphaFair:
    r"""The utility :math:`U(\rho) = \rho^{1-\alpha}/(1-\alpha)`, and :math:`\log\rho` at 1 [1]_.

    Attributes
    ----------
    alpha : float
        0 for the largest total throughput, 1 for proportional fairness, 2 for the least
        potential delay, ``inf`` for max-min fairness, which has no utility function.

    Raises
    ------
    WorkloadError
        `alpha` is negative or not a number.

    References
    ----------
    .. [1] J. Mo, J. Walrand (2000). Fair end-to-end window-based congestion control. IEEE/ACM
       Transactions on Networking 8(5).
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Check the field."""
        if not self.alpha >= 0:
            raise WorkloadError(f"alpha is {self.alpha!r}; give a number from 0 to inf")

    def value(self, throughput: ArrayLike) -> NDArray[np.float64]:
        """Return the utility of each throughput, minus infinity at 0 from alpha 1 on."""
        rho = np.asarray(throughput, dtype=float)
        if self.alpha == 1:
            return np.asarray(log(rho))
        return np.asarray(power(rho, 1 - self.alpha) / (1 - self.alpha))

    def marginal(self, throughput: ArrayLike) -> NDArray[np.float64]:
        """Return the derivative of the utility at each throughput."""
        return np.asarray(power(np.asarray(throughput, dtype=float), -self.alpha))

    def objective(self, throughput: ArrayLike, weight: ArrayLike) -> NDArray[np.float64]:
        """Return the weighted sum of utilities.

        Parameters
        ----------
        throughput : array_like, shape (..., n_applications)
            Of each application [tasks/s].
        weight : array_like, shape (n_applications,)
            Of each application.

        Returns
        -------
        float64, shape (...)
            What fair sharing maximises.

        Raises
        ------
        WorkloadError
            Max-min fairness maximises no sum.
        """
        if math.isinf(self.alpha):
            raise WorkloadError("max-min fairness has no objective; compare the throughputs")
        weighted = np.asarray(weight, dtype=float) * self.value(throughput)
        return np.asarray(weighted.sum(axis=-1), dtype=float)
