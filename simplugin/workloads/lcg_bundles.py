"""Bundles that users of the LCG grid submitted in eleven days of 2005.

They were taken on 21 November 2026, by ``python tools/lcg_bundles.py LCG-2005.swf.gz``, from the
trace that Hui Li provided to the Parallel Workloads Archive [1]_: 188,041 jobs of one processor
each, from 20 November 2005 on. A bundle is at least 100 jobs that a user submitted to a site, each
at most 120 s after the one before it; see `simplugin.workloads.trace_bundles.trace_bundles`. The
trace knows neither executables nor whether jobs completed.

References
----------
.. [1] D. Feitelson, D. Tsafrir, D. Krakov (2014). Experience with using the Parallel Workloads
   Archive. Journal of Parallel and Distributed Computing 74(10). The trace:
   https://www.cs.huji.ac.il/labs/parallel/workload/l_lcg/
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp, log1p
from simplugin.errors import WorkloadError
from simplugin.workloads.bundles import Bundle

if TYPE_CHECKING:
    from simplugin.workloads.job_traces import Floats


@dataclass(frozen=True, slots=True)
class LcgBundle:
    """What is known of a bundle.

    Attributes
    ----------
    release : float
        When its last job was submitted, since 20 November 2005 00:00:05 GMT [s].
    count : int
        How many jobs.
    user, partition : int
        Numbers of the user and of the site.
    mean : float
        Mean run time, to the millisecond [s].
    variation : float
        Coefficient of variation of run times, to the sixth digit.
    """

    release: float
    count: int
    user: int
    partition: int
    mean: float
    variation: float

    def bundle(
        self, speed: float, byte: float, generator: np.random.Generator | None = None
    ) -> Bundle:
        """Return the bundle of tasks for a market.

        Parameters
        ----------
        speed : float
            Of the processors that the trace is of: a task computes its run time times this
            [flop/s]. The trace does not say it.
        byte : float
            Communication size of a task [byte]; invented, as the trace says nothing of it.
        generator : numpy.random.Generator, optional
            If tasks are to differ as the jobs did: draws what each really computes, see
            `drawn_sizes`. Otherwise all compute the mean, as the market believes in any case.

        Returns
        -------
        Bundle
            Released when the last job was submitted.

        Raises
        ------
        WorkloadError
            A number is out of its range.
        """
        if not 0 < speed < np.inf:
            raise WorkloadError(f"speed is {speed!r}; give a positive number of flop/s")
        flop = self.mean * speed
        work = None
        if generator is not None:
            work = flop * drawn_sizes(self.count, self.variation, generator)
        name = f"user {self.user}, partition {self.partition}, {self.release:.0f} s"
        return Bundle(name, self.count, flop, byte, self.release, work)


def drawn_sizes(count: int, variation: float, generator: np.random.Generator) -> Floats:
    """Return sizes of tasks with a mean of exactly 1, from a lognormal distribution.

    That the mean is that of the draw, not of the distribution, keeps the amount of work the same
    whatever is drawn; the coefficient of variation of a draw differs from that of the
    distribution.

    Parameters
    ----------
    count : int
        How many.
    variation : float
        Coefficient of variation of the distribution.
    generator : numpy.random.Generator
        What to draw from.

    Returns
    -------
    float64, shape (count,)
        Sizes over their mean.
    """
    if not 0 <= variation < np.inf:
        raise WorkloadError(f"variation is {variation!r}; give a number from 0 on")
    sizes: Floats = exp(np.sqrt(log1p(variation**2)) * generator.standard_normal(count))
    sizes /= sizes.mean()
    return sizes


@cache
def lcg_bundles() -> tuple[LcgBundle, ...]:
    """Return the bundles of the LCG grid, by release."""
    from simplugin.workloads.lcg_bundle_rows import ROWS

    return tuple(LcgBundle(*row) for row in ROWS)
