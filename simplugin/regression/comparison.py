"""What moved between a recorded run and a new one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from simplugin.regression.divergence import Divergence, diverge
from simplugin.regression.snapshots import Snapshot
from simplugin.regression.tolerances import Tolerance, Tolerances
from simplugin.rows import Metric

Value = float | int | str | None
State = Literal["ok", "moved", "new", "missing"]


@dataclass(frozen=True, slots=True)
class Change:
    """A metric in both runs.

    Attributes
    ----------
    name : str
        Of the metric.
    unit, recorded_unit : str
        Of its values.
    recorded, now : float, int, str or None
        Its values.
    state : {"ok", "moved", "new", "missing"}
        Whether they agree; "new" is not recorded, "missing" is recorded only.
    """

    name: str
    unit: str
    recorded: Value
    now: Value
    state: State
    recorded_unit: str

    @property
    def difference(self) -> float | None:
        """How much more it is now; None between what are no finite numbers of one unit."""
        if self.unit != self.recorded_unit:
            return None
        if isinstance(self.recorded, float | int) and isinstance(self.now, float | int):
            try:
                difference = self.now - self.recorded
                return difference if math.isfinite(difference) else None
            except OverflowError:  # of a count that no float is as large as
                return None
        return None

    @property
    def relative(self) -> float | None:
        """The difference over what was recorded; None also where that is 0."""
        difference = self.difference
        if difference is None or not self.recorded:
            return None
        assert isinstance(self.recorded, float | int)
        return difference / abs(self.recorded)

    def document(self) -> dict[str, Any]:
        """Return it as plain containers, for JSON."""
        return {
            "metric": self.name,
            "unit": self.unit,
            "recorded_unit": self.recorded_unit,
            "state": self.state,
            "recorded": _finite(self.recorded),
            "now": _finite(self.now),
            "difference": _finite(self.difference),
            "relative": _finite(self.relative),
        }


@dataclass(frozen=True)
class Comparison:
    """A new run beside the recorded one.

    Attributes
    ----------
    recorded, now : Snapshot
        The two runs.
    changes : tuple of Change
        Each metric, and the optimum or bound if there is one.
    divergence : Divergence, optional
        How the activities differ; None if they do not, or one of the runs has none.
    """

    recorded: Snapshot
    now: Snapshot
    changes: tuple[Change, ...]
    divergence: Divergence | None

    @property
    def moved(self) -> tuple[Change, ...]:
        """The metrics that are not as recorded."""
        return tuple(each for each in self.changes if each.state != "ok")

    @property
    def agrees(self) -> bool:
        """Whether all metrics are as recorded; activities explain, but do not decide."""
        return not self.moved


def compare(recorded: Snapshot, now: Snapshot, tolerances: Tolerances | None = None) -> Comparison:
    """Compare a run with the recorded one, metric by metric and activity by activity.

    Parameters
    ----------
    recorded, now : Snapshot
        The two runs.
    tolerances : Tolerances, optional
        How far metrics, and the dates and amounts of activities, may be apart.
    """
    within = tolerances or Tolerances()
    before, after = _metrics(recorded), _metrics(now)
    changes = tuple(
        _change(before.get(key), after.get(key), within.of(key[-1])) for key in {**before, **after}
    )
    divergence = None
    if recorded.activities is not None and now.activities is not None:
        divergence = diverge(recorded.activities, now.activities, within.general)
    return Comparison(recorded, now, changes, divergence)


# The metric's name; before it what kind of best value it is, for the best.
_Key = tuple[str, ...]


def _metrics(snapshot: Snapshot) -> dict[_Key, Metric]:
    """Return the metrics, and what one of them could be at best."""
    found: dict[_Key, Metric] = {(metric.name,): metric for metric in snapshot.metrics}
    best = snapshot.best
    if best is not None:
        name = f"{best.proof} of {best.metric}"
        unit = found[best.metric,].unit
        found[best.proof, best.metric] = Metric(name, best.value, unit)
    return found


def _change(recorded: Metric | None, now: Metric | None, within: Tolerance) -> Change:
    """Compare one metric."""
    if recorded is None:
        assert now is not None
        return Change(now.name, now.unit, None, now.value, "new", now.unit)
    if now is None:
        return Change(recorded.name, recorded.unit, recorded.value, None, "missing", recorded.unit)
    same = within.accepts(recorded.value, now.value) and recorded.unit == now.unit
    state: State = "ok" if same else "moved"
    return Change(now.name, now.unit, recorded.value, now.value, state, recorded.unit)


def _finite(value: Value) -> Value:
    """Return a value as JSON has it; what is not finite as a text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
