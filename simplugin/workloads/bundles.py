"""Bundles: many identical independent tasks that arrive together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import WorkloadError
from simplugin.workloads.parameter_ranges import one_of, whole

# Computation and communication size of a task of each class, in units of `MEGA`, as in section 5.1
# of Zheng et al. (2011).
CLASSES = {
    "computation": (1000.0, 1.0),
    "neutral": (500.0, 500.0),
    "communication": (1.0, 1000.0),
}
MEGA = 1e6


@dataclass(frozen=True, eq=False)
class Bundle:
    """Identical independent tasks that arrive together.

    Attributes
    ----------
    name : str
        Of the bundle.
    count : int
        How many tasks, m.
    flop : float
        Computation size of a task, S_cp [flop].
    byte : float
        Communication size of a task, S_cm [byte].
    release : float
        When the bundle is submitted [s].
    work : float64, shape (count,), optional
        What tasks really compute, where they are identical only to the market [flop].

    Raises
    ------
    WorkloadError
        A field is out of its range; the message names the bundle.
    """

    name: str
    count: int
    flop: float
    byte: float
    release: float = 0.0
    work: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        what = f"of bundle {self.name!r}"
        object.__setattr__(self, "count", whole(f"count {what}", self.count))
        for field in ("flop", "byte", "release"):
            value = float(getattr(self, field))
            if not (np.isfinite(value) and value >= 0):
                raise WorkloadError(f"{field} {what} is {value!r}; give a finite number from 0 on")
            object.__setattr__(self, field, value)
        if self.flop == 0 and self.byte == 0:
            raise WorkloadError(f"tasks {what} neither compute nor move data; give flop or byte")
        if self.work is not None:
            work = np.array(self.work, dtype=np.float64)
            if work.shape != (self.count,) or not np.all(np.isfinite(work) & (work >= 0)):
                raise WorkloadError(
                    f"work {what} is not {self.count} finite numbers from 0 on; give one a task"
                )
            work.flags.writeable = False
            object.__setattr__(self, "work", work)

    @classmethod
    def of_class(cls, kind: str, count: int = 1000, name: str = "", release: float = 0.0) -> Bundle:
        """Return a bundle of one of the three classes of tasks of Zheng et al. (2011).

        Parameters
        ----------
        kind : {"computation", "neutral", "communication"}
            What tasks mostly do: 1000 : 1, 500 : 500 and 1 : 1000 Mflop : MB.
        count : int
            How many tasks.
        name : str
            That of the class without.
        release : float
            When the bundle is submitted [s].
        """
        one_of("kind", kind, CLASSES)
        flop, byte = CLASSES[kind]
        return cls(name or kind, count, flop * MEGA, byte * MEGA, release)
