"""The differences between a recorded run and a new one, and their explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from simplugin.core.formatting import listed
from simplugin.regression.activities import TracedActivity
from simplugin.regression.divergence import Difference, Divergence, diverge
from simplugin.regression.snapshots import Snapshot
from simplugin.regression.tolerances import Tolerance, Tolerances
from simplugin.results.row import Metric

Value = float | int | str | None
State = Literal["ok", "moved", "new", "missing"]
_UNITS = {
    **dict.fromkeys(("exec", "ptask"), "flop"),
    **dict.fromkeys(("comm", "read", "write"), "byte"),
    "sleep": "s",
    "bar": "processors",
}
_NO_ACTIVITIES = (
    "where it began is not known: this run has no activities; a scenario has them with "
    "simulation.trace or [output] gantt, unless `activities` in tolerances.toml is 0"
)
_NONE_RECORDED = (
    "where it began is not known: no activities are recorded; to know it, go back to what was "
    "recorded"
)
_MOST_METRICS = 40
_MOST_ACTORS = 5
_MOST_CAUSES = 12
_CONTENT = "content_sha256"
_CODE = "code_sha256"
_PLATFORM = "platform_sha256"
# Settings that the hash of everything includes, together with options and actors.
_IN_CONTENT = (_PLATFORM, "back_end", "seed", "until", "energy", "trace")


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric in both runs.

    Attributes
    ----------
    name : str
        Name of the metric.
    unit, recorded_unit : str
        Units of the values.
    recorded, now : float, int, str or None
        The values.
    state : {"ok", "moved", "new", "missing"}
        "ok" within the tolerance, "moved" outside; "new" is not recorded, "missing" is recorded
        only.
    """

    name: str
    unit: str
    recorded: Value
    now: Value
    state: State
    recorded_unit: str

    @property
    def difference(self) -> float | None:
        """The increase; None unless both are finite numbers of one unit."""
        if self.unit != self.recorded_unit:
            return None
        if isinstance(self.recorded, float | int) and isinstance(self.now, float | int):
            with suppress(OverflowError):  # of a count that no float is as large as
                if math.isfinite(difference := self.now - self.recorded):
                    return difference
        return None

    @property
    def relative(self) -> float | None:
        """The difference relative to the recorded value; None also if that is 0."""
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
class RunComparison:
    """The comparison of a new run with the recorded one.

    Attributes
    ----------
    recorded, now : Snapshot
        The two runs.
    changes : tuple of MetricChange
        One for each metric, and for the optimum or bound if there is one.
    divergence : Divergence, optional
        Differences of the activities; None if they agree, or a run has none.
    """

    recorded: Snapshot
    now: Snapshot
    changes: tuple[MetricChange, ...]
    divergence: Divergence | None

    @property
    def moved(self) -> tuple[MetricChange, ...]:
        """The metrics that differ from the record."""
        return tuple(each for each in self.changes if each.state != "ok")

    @property
    def agrees(self) -> bool:
        """True if all metrics agree; activities explain differences, but do not decide."""
        return not self.moved


def compare(
    recorded: Snapshot, now: Snapshot, tolerances: Tolerances | None = None
) -> RunComparison:
    """Compare a run with the recorded one, metric by metric and activity by activity.

    Parameters
    ----------
    recorded, now : Snapshot
        The two runs.
    tolerances : Tolerances, optional
        Of metrics, and of the dates and amounts of activities.
    """
    within = tolerances or Tolerances()
    before, after = _metrics(recorded), _metrics(now)
    changes = tuple(
        _change(before.get(key), after.get(key), within.of(key[-1])) for key in {**before, **after}
    )
    divergence = None
    if recorded.activities is not None and now.activities is not None:
        divergence = diverge(recorded.activities, now.activities, within.general)
    return RunComparison(recorded, now, changes, divergence)


# The name of a metric; for a best value, its kind comes first.
_Key = tuple[str, ...]


def _metrics(snapshot: Snapshot) -> dict[_Key, Metric]:
    """Return the metrics, with the best value of one of them."""
    found: dict[_Key, Metric] = {(metric.name,): metric for metric in snapshot.metrics}
    if (best := snapshot.best) is not None:
        name, unit = f"{best.proof} of {best.metric}", found[best.metric,].unit
        found[best.proof, best.metric] = Metric(name, best.value, unit)
    return found


def _change(recorded: Metric | None, now: Metric | None, within: Tolerance) -> MetricChange:
    """Compare one metric."""
    known = now or recorded
    assert known is not None
    before, after = (each or replace(known, value=None) for each in (recorded, now))
    state: State = "new" if recorded is None else "missing"
    if recorded is not None and now is not None:
        same = within.accepts(recorded.value, now.value) and recorded.unit == now.unit
        state = "ok" if same else "moved"
    return MetricChange(known.name, after.unit, before.value, after.value, state, before.unit)


def _finite(value: Value) -> Value:
    """Return a value for JSON; infinities and NaN become texts."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def explain(comparison: RunComparison, update: str = "--update") -> list[str]:
    """Return lines that explain the differences of a run from the recorded one.

    First the metrics that moved, then the first different activity and the actors concerned
    next, then other changes: platform, scenario, files, seed, versions, options.

    Parameters
    ----------
    comparison : RunComparison
        Both runs.
    update : str
        The option that records results.
    """
    moved, divergence = comparison.moved, comparison.divergence
    if not moved and divergence is None:
        return []
    lines = [f"{len(moved)} of {len(comparison.changes)} metrics not as recorded"]
    lines += _first_of(list(map(change_text, moved)), _MOST_METRICS)
    lines += _where(comparison, update)
    if reasons := causes(comparison.recorded, comparison.now):
        lines.append("what else changed since it was recorded:")
        lines += _first_of(reasons, _MOST_CAUSES)
    elif same := unchanged(comparison.recorded, comparison.now):
        lines.append(f"recorded and unchanged: {', '.join(same)}")
    return lines


def _first_of(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, indented, and the number of the others."""
    more = [f"  ... and {len(lines) - most} more"] if len(lines) > most else []
    return [*(f"  {each}" for each in lines[:most]), *more]


def change_text(change: MetricChange) -> str:
    """Return the change of a metric in one line."""
    before = value_text(change.recorded, change.recorded_unit)
    now = value_text(change.now, change.unit)
    if change.state == "new":
        return f"{change.name}: not recorded -> {now}"
    if change.state == "missing":
        return f"{change.name}: {before} -> gone"
    reasons = f"{change.name}: {before} -> {now}"
    if change.unit != change.recorded_unit:
        return f"{reasons} (unit {change.recorded_unit or 'none'} -> {change.unit or 'none'})"
    if change.difference is None:
        return reasons
    relative = "" if change.relative is None else f", {relative_text(change.relative)}"
    return f"{reasons} ({change.difference:+.6g}{relative})"


def value_text(value: Value, unit: str = "") -> str:
    """Write a value with all digits."""
    if value is None:
        return "none"
    return f"{value!r} {unit}".rstrip() if not isinstance(value, str) else repr(value)


def relative_text(relative: float | None) -> str:
    """Write a relative difference, in percent where that is readable."""
    if relative is None:
        return ""
    return f"{100 * relative:+.3g} %" if 1e-5 <= abs(relative) < 10 else f"{relative:+.2g} relative"


def first_difference(
    divergence: Divergence, names: tuple[str, str] = ("recorded", "now")
) -> list[str]:
    """Describe the first different activity of two runs, which have names, in a few lines."""
    width = max(map(len, names)) + 1
    first = divergence.first[0]
    before = first.position - 1
    some = "the" if first.before == before else f"{first.before} of the"
    reasons = f"{some} {before} before agree" if before else "none before it"
    lines = [
        f"first difference at {first.date:.9g} s: {first.actor}, its activity number "
        f"{first.position} ({reasons})",
        f"  {names[0] + ':':{width}} {_activity_text(first.recorded)}",
        f"  {names[1] + ':':{width}} {_activity_text(first.now)}",
    ]
    return lines + ([f"  differs in {', '.join(first.fields)}"] if first.fields else [])


def _where(comparison: RunComparison, update: str) -> list[str]:
    """Describe the first differences between the activities of the runs."""
    divergence, now = comparison.divergence, comparison.now
    if divergence is None:
        if now.digest is not None and now.activities is None:
            return [_NO_ACTIVITIES]
        if now.digest is not None and comparison.recorded.activities is None:
            return [f"{_NONE_RECORDED}, run that with {update}, and then this again"]
        return ["the activities are as recorded"] if now.activities else []
    first = divergence.first[0]
    lines = [
        *first_difference(divergence),
        f"  after it, {first.after_different} of the actor's {first.after} differ; "
        f"of all {divergence.total} activities, {divergence.agreeing} agree",
        *_actors(divergence),
    ]
    if divergence.until is not None:
        until = f"activities were recorded that start before {divergence.until:.9g} s"
        lines.append(f"{until}; later ones were not compared")
    return lines


def _actors(divergence: Divergence) -> list[str]:
    """Describe the next actors that differ, and those of one run only."""
    later = [_brief(each) for each in divergence.first[1:]]
    lines = ["then:", *_first_of(later, _MOST_ACTORS - 1)] if later else []
    for names, what in ((divergence.added, "new"), (divergence.missing, "no longer there")):
        if names:
            lines.append(f"{what}: {listed(names, _MOST_ACTORS)}")
    return lines


def _brief(difference: Difference) -> str:
    """Describe the first difference of an actor in one line."""
    activity = difference.now or difference.recorded
    assert activity is not None
    absent = "missing" if difference.now is None else "extra"
    how = ", ".join(difference.fields) or absent
    where = f"{difference.actor} at {difference.date:.9g} s, number {difference.position}"
    return f"{where}: {_what(activity)} ({how})"


def _what(activity: TracedActivity) -> str:
    """Return the kind, label and resource of an activity."""
    return " ".join(
        word for word in (activity.kind, activity.label, "on", activity.resource) if word
    )


def _activity_text(activity: TracedActivity | None) -> str:
    """Write one version of an activity in one line."""
    if activity is None:
        return "nothing"
    amount = f"{activity.amount:.9g} {_UNITS.get(activity.kind, '')}"
    state = "" if activity.state == "done" else f", {activity.state}"
    return f"{_what(activity)}, {amount}, {activity.start!r} .. {activity.end!r} s{state}"


def causes(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Return the changes of platform, sources, settings, versions and options since the record."""
    reasons = []
    if _differ(recorded, now, _PLATFORM):
        reasons.append("the platform changed")
    reasons += _changed_sources(recorded.sources, now.sources)
    reasons += _changed(_shown(recorded.settings), _shown(now.settings))
    reasons += _changed_actors(recorded, now)
    reasons += _changed(recorded.versions, now.versions)
    version = now.versions.get("simplugin")
    if recorded.versions.get("simplugin") == version and _differ(recorded, now, _CODE):
        reasons.append(f"simplugin's own code, which still calls itself {version}")
    return reasons + [f"option {each}" for each in _changed(recorded.options, now.options)]


def unchanged(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Return the kinds of causes that are known for both runs."""

    def both(setting: str) -> bool:
        return None not in (recorded.settings.get(setting), now.settings.get(setting))

    known = {
        "versions": recorded.versions and now.versions,
        "options": recorded.options and now.options,
        "seed": both("seed"),
        "platform": both(_PLATFORM),
        "actors": both(_CONTENT),
        "simplugin's code": both(_CODE),
        "the scenario, its files and modules": recorded.sources and now.sources,
    }
    return [name for name, is_known in known.items() if is_known]


def _changed_actors(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Return a line if the hash of everything shows that the actors changed."""
    runs = (recorded, now)
    if None in (run.settings.get(_CONTENT) for run in runs) or not _differ(*runs, _CONTENT):
        return []
    if any(_differ(*runs, name) for name in _IN_CONTENT) or recorded.options != now.options:
        return []
    before, after = (run.versions.get("python", "").split(".")[:2] for run in runs)
    if before != after:
        # Functions count by their byte code.
        return ["perhaps the actors, too: the versions of Python write them down differently"]
    return ["the actors changed: their functions, arguments or hosts"]


def _differ(recorded: Snapshot, now: Snapshot, setting: str) -> bool:
    """Return True if both runs have a setting, with different values."""
    before, after = recorded.settings.get(setting), now.settings.get(setting)
    return None not in (before, after) and bool(before != after)


def _shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are not hashes."""
    return {name: value for name, value in settings.items() if "sha256" not in name}


def _changed_sources(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return a line for each table, file and module that changed; none if a run has no sources."""
    if not before or not after:
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    common = before.keys() & after.keys()
    return [
        f"{name} changed" if name in common else f"{name} is {'gone' if name in before else 'new'}"
        for name in names
    ]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the entries that differ."""
    return [
        f"{name}: {before.get(name, 'none')} -> {after.get(name, 'none')}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
