"""The columns of a table of runs, the same in pandas, files and SQL.

In this order: where the run is (`campaign`, `position`, `key`, `status`), what tells it from
others (the dotted keys of a sweep), what came out (the metrics, then `optimum`, `bound` and
`gap`), and how it was made (`seed` to `digest`).
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field

_FIRST = ("campaign", "position", "key", "status")
_BEST = ("optimum", "bound", "gap")
_LAST = (
    "seed",
    "duration",
    "started",
    "place",
    "attempts",
    "failure",
    "error",
    "simplugin",
    "simgrid",
    "digest",
)


@dataclass(frozen=True)
class Columns:
    """The columns of a table of runs.

    Attributes
    ----------
    varied : dict of str to str
        Dotted keys that were varied, and the columns that they are: themselves, unless that is
        the name of another column.
    metrics : dict of str to str
        Likewise the metrics.
    units : dict of str to str
        Units of the metrics, by their columns.
    """

    varied: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, in their order."""
        return (*_FIRST, *self.varied.values(), *self.metrics.values(), *_BEST, *_LAST)


def columns_of(connection: sqlite3.Connection, campaign: int | None = None) -> Columns:
    """Return the columns that the runs of a campaign have, or those of all."""
    where, values = ("WHERE campaign = ?", [campaign]) if campaign is not None else ("", [])
    taken = set((*_FIRST, *_BEST, *_LAST))
    keys: dict[str, None] = {}
    for (varied,) in connection.execute(f"SELECT varied FROM members {where}", values):
        keys.update(dict.fromkeys(json.loads(varied)))
    runs = f"SELECT shape FROM runs WHERE job IN (SELECT job FROM members {where})"
    shapes = connection.execute(
        f"SELECT text FROM texts WHERE number IN ({runs}) ORDER BY number", values
    )
    units: dict[str, str] = {}
    for (shape,) in shapes:
        units.update(json.loads(shape)["units"])
    varied = {key: f"varied.{key}" if key in taken else key for key in keys}
    taken |= set(varied.values())
    metrics = {name: f"metric.{name}" if name in taken else name for name in units}
    return Columns(varied, metrics, {metrics[name]: unit for name, unit in units.items()})
