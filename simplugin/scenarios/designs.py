"""Designs of sensitivity analyses: keys of a sweep that vary together.

References
----------
.. [1] A. Saltelli et al. (2010). Variance based sensitivity analysis of model output. Computer
   Physics Communications 181(2).
.. [2] M. D. Morris (1991). Factorial sampling plans for preliminary computational experiments.
   Technometrics 33(2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from simplugin.inputs.messages import InvalidValueError
from simplugin.scenarios.ranges import ParameterTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SensitivityMethod = Literal["sobol", "morris"]
# Distance of the ends of a step among the four levels of a trajectory, as a share of the range.
_STEP = 2 / 3
_MOST_POINTS = 2**14


def is_design(table: Mapping[str, Any]) -> bool:
    """Return True if a table describes a range of a design, rather than more keys to sweep."""
    return "sobol" in table or "morris" in table


class DesignTable(ParameterTable):
    """A range of a key of ``[sweep]`` of which the influence on metrics is computed.

    Attributes
    ----------
    low, high : float
        The ends.
    scale : {"linear", "log"}
        Values are uniform on this scale.
    whole : bool
        True for whole numbers; with ``sobol`` the ends are as probable as those between.
    unit : str
        Unit of the ends; values are then texts such as ``"2.5Gf"``.
    choices : list
        Instead of a range, with ``sobol``: values of equal probability.
    sobol : int, optional
        Sobol indices: number of rows of each matrix, a power of 2.
    morris : int, optional
        Morris screening: number of trajectories.
    """

    sobol: Annotated[int, Field(ge=4, le=_MOST_POINTS)] | None = None
    morris: Annotated[int, Field(ge=4, le=_MOST_POINTS)] | None = None

    @model_validator(mode="after")
    def _one_design(self) -> DesignTable:
        """Raise unless there is one design that varies the key."""
        if self.sobol is not None and self.morris is not None:
            raise InvalidValueError("{key} excludes sobol", "remove one of the two", ("morris",))
        if self.sobol is not None and self.sobol & (self.sobol - 1):
            less = 1 << self.sobol.bit_length() - 1
            message = f"{{key}} is {self.sobol}, which is no power of 2"
            raise InvalidValueError(message, f"give {less} or {2 * less}", ("sobol",))
        if self.choices is not None:
            if self.morris is not None:
                message = "{key} excludes morris: values without an order have no differences"
                raise InvalidValueError(message, "give a range, or sobol", ("choices",))
            return self
        steps = ((0.0, 1.0),) if self.morris is None else ((0.0, _STEP), (1 - _STEP, 1.0))
        if any(self.number(start) == self.number(end) for start, end in steps):
            message = f"{{key}}: values from {self.low!r} to {self.high!r} are rounded to one"
            raise InvalidValueError(message, "give a wider range")
        return self

    @property
    def margin(self) -> float:
        """Half a number for whole ones, so that the ends are as probable as others."""
        can_be_wider = self.scale == "linear" or (self.low or 0.0) > 0.5
        return 0.5 if self.whole and self.sobol is not None and can_be_wider else 0.0

    @property
    def ends(self) -> list[Any]:
        """The ends of the range, or the choices."""
        return self.choices or [self.value(0.0), self.value(1.0)]


@dataclass(frozen=True, eq=False)
class Design:
    """The points at which an analysis needs the metrics.

    A larger design has the points of a smaller one of the same keys.

    Attributes
    ----------
    method : {"sobol", "morris"}
        The analysis.
    count : int
        The number of blocks: rows of a matrix, or trajectories.
    tables : mapping of str to DesignTable
        The ranges of the keys.
    """

    method: SensitivityMethod
    count: int
    tables: Mapping[str, DesignTable]

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The points as shares of the ranges, shape (count, n_rows, n_keys).

        A block of Sobol's design has a row of matrix A, the row of B, and for each key that of A
        with the key's value of B [1]_. One of Morris's is a trajectory, in which each key is
        changed once [2]_.
        """
        import numpy as np

        n_keys = len(self.tables)
        keys = np.arange(n_keys)
        if self.method == "sobol":
            from scipy.stats import qmc

            drawn = qmc.Sobol(2 * n_keys, seed=0).random_base2(self.count.bit_length() - 1)
            found: NDArray[np.float64] = np.repeat(drawn[:, None, :n_keys], n_keys + 2, axis=1)
            found[:, 1] = found[:, 2 + keys, keys] = drawn[:, n_keys:]
            return found
        drawn = np.random.default_rng(0).random((self.count, 3, n_keys))
        low = np.floor(2 * drawn[:, :1]) * (1 - _STEP)
        is_upwards = drawn[:, 1:2] < 0.5
        # The place of each key in the order of changes.
        order = np.argsort(drawn[:, 2:], axis=2)
        is_changed = np.arange(n_keys + 1)[:, None] > order
        points: NDArray[np.float64] = low + _STEP * (is_changed == is_upwards)
        return points

    def values(self) -> list[list[Any]]:
        """Return the values of each key at all points."""
        return [[table.value(share) for share in column] for table, column in self._columns()]

    def reached(self) -> NDArray[np.float64]:
        """Return the points after the rounding of values, as `shares`; ranges only."""
        import numpy as np

        pairs = self._columns()
        found = [[table.share(table.number(share)) for share in column] for table, column in pairs]
        return np.transpose(found).reshape(self.shares.shape)

    def _columns(self) -> list[tuple[DesignTable, list[float]]]:
        """Return the range of each key with its shares at all points."""
        columns = self.shares.reshape(-1, len(self.tables)).T.tolist()
        return list(zip(self.tables.values(), columns, strict=True))
