"""A difference in words: which metrics moved, where it began, what may be the cause."""

from __future__ import annotations

from simplugin.regression.activities import Activity
from simplugin.regression.causes import causes, unchanged
from simplugin.regression.comparison import Change, Comparison, Value
from simplugin.regression.divergence import Difference, Divergence, called

_UNITS = {"exec": "flop", "ptask": "flop", "comm": "byte", "sleep": "s", "bar": "processors"}
_NO_ACTIVITIES = (
    "where it began is not known: this run has no activities; a scenario has them with "
    "simulation.trace or [output] gantt, unless `activities` in tolerances.toml is 0"
)
_NONE_RECORDED = (
    "where it began is not known: no activities are recorded; to know it, go back to what was "
    "recorded"
)
_UNENDED = "not ended when the record was cut"
_MOST_METRICS = 40
_MOST_ACTORS = 5
_MOST_CAUSES = 12


def explain(comparison: Comparison, update: str = "--update") -> list[str]:
    """Return lines that tell in what a run differs from the recorded one; none if in nothing.

    First the metrics that moved, then the first activity that differs and the actors concerned
    next, then what else changed: platform, scenario, files, seed, versions, options.

    Parameters
    ----------
    comparison : Comparison
        Of both runs.
    update : str
        The option that records results.
    """
    moved, divergence = comparison.moved, comparison.divergence
    if not moved and divergence is None:
        return []
    lines = [f"{len(moved)} of {len(comparison.changes)} metrics not as recorded"]
    lines += [f"  {change_text(each)}" for each in moved[:_MOST_METRICS]]
    if len(moved) > _MOST_METRICS:
        lines.append(f"  ... and {len(moved) - _MOST_METRICS} more")
    lines += _where(comparison, update)
    told = causes(comparison.recorded, comparison.now)
    same = unchanged(comparison.recorded, comparison.now)
    if told:
        lines.append("what else changed since it was recorded:")
        lines += [f"  {each}" for each in told[:_MOST_CAUSES]]
        if len(told) > _MOST_CAUSES:
            lines.append(f"  ... and {len(told) - _MOST_CAUSES} more")
    elif same:
        lines.append(f"nothing else changed as far as is recorded: {', '.join(same)}")
    return lines


def change_text(change: Change) -> str:
    """Tell in one line how a metric moved."""
    if change.state == "new":
        return f"{change.name}: not recorded -> {value_text(change.now, change.unit)}"
    if change.state == "missing":
        return f"{change.name}: {value_text(change.recorded, change.recorded_unit)} -> gone"
    told = (
        f"{change.name}: {value_text(change.recorded, change.recorded_unit)} -> "
        f"{value_text(change.now, change.unit)}"
    )
    if change.unit != change.recorded_unit:
        return f"{told} (unit {change.recorded_unit or 'none'} -> {change.unit or 'none'})"
    if change.difference is None:
        return told
    relative = "" if change.relative is None else f", {relative_text(change.relative)}"
    return f"{told} ({change.difference:+.6g}{relative})"


def value_text(value: Value, unit: str = "") -> str:
    """Write a value with every digit, so that any difference can be seen."""
    if value is None:
        return "none"
    return f"{value!r} {unit}".rstrip() if not isinstance(value, str) else repr(value)


def relative_text(relative: float | None) -> str:
    """Write a relative difference: in percent where that is readable."""
    if relative is None:
        return ""
    return f"{100 * relative:+.3g} %" if 1e-5 <= abs(relative) < 10 else f"{relative:+.2g} relative"


def first_difference(divergence: Divergence) -> list[str]:
    """Tell in a few lines which activity is the first that differs."""
    first = divergence.first[0]
    lines = [
        f"first difference at {first.date:.9g} s: {_who(first)}{_number(first)}",
        f"  recorded: {_activity_text(first, first.recorded)}",
        f"  now:      {_activity_text(first, first.now)}",
    ]
    if first.fields:
        lines.append(f"  differs in {', '.join(first.fields)}")
    return lines


def _who(difference: Difference) -> str:
    """Tell whose an activity is, as far as it is known."""
    who = called(difference.actor, difference.host)
    return f"one of {difference.among} actors {who}" if difference.among > 1 else who


def _number(difference: Difference) -> str:
    """Tell the number of an activity among the actor's, where these have one."""
    if difference.among:
        return ""
    before, agreeing = difference.position - 1, difference.before
    told = "none before it" if not before else f"the {before} before agree"
    if agreeing < before:
        told = f"{agreeing} of the {before} before agree"
    return f", its activity number {difference.position} ({told})"


def _where(comparison: Comparison, update: str) -> list[str]:
    """Tell where the runs begin to differ, as far as that is known."""
    divergence = comparison.divergence
    if divergence is None:
        if comparison.now.digest is not None:
            if comparison.now.activities is None:
                return [_NO_ACTIVITIES]
            if comparison.recorded.activities is None:
                return [f"{_NONE_RECORDED}, run that with {update}, and then this again"]
        return ["the activities are as recorded"] if comparison.now.activities else []
    lines = first_difference(divergence)
    first = divergence.first[0]
    others = "after it, {} of the actor's {}" if not first.among else "{} of the {} others of these"
    lines.append(
        f"  {others.format(first.after_different, first.after)} differ; "
        f"of all {divergence.total} activities, {divergence.agreeing} agree"
    )
    lines += _actors(divergence)
    if divergence.until is not None:
        lines.append(
            f"activities were recorded up to {divergence.until:.9g} s; "
            "what comes later was not compared"
        )
    return lines


def _actors(divergence: Divergence) -> list[str]:
    """Tell which actors come next, and which are there in one run only."""
    lines = []
    later = divergence.first[1:_MOST_ACTORS]
    if later:
        lines.append("then:")
        lines += [f"  {_brief(each)}" for each in later]
        rest = len(divergence.first) - 1 - len(later)
        if rest:
            lines.append(f"  ... and {rest} more actor{'s' * (rest > 1)}")
    for names, what in ((divergence.added, "new"), (divergence.missing, "no longer there")):
        if names:
            more = f" and {len(names) - _MOST_ACTORS} more" if len(names) > _MOST_ACTORS else ""
            lines.append(f"{what}: {', '.join(names[:_MOST_ACTORS])}{more}")
    return lines


def _brief(difference: Difference) -> str:
    """Tell in one line what an actor first does otherwise."""
    activity = difference.now or difference.recorded
    assert activity is not None
    absent = "missing" if difference.now is None else "extra"
    if difference.unended:
        absent = _UNENDED
    how = ", ".join(difference.fields) or absent
    number = "" if difference.among else f", number {difference.position}"
    what = " ".join(word for word in (activity.kind, activity.label) if word)
    return (
        f"{_who(difference)} at {difference.date:.9g} s{number}: "
        f"{what} on {activity.resource} ({how})"
    )


def _activity_text(difference: Difference, activity: Activity | None) -> str:
    """Write one version of an activity in one line."""
    if activity is None and difference.unended:
        return _UNENDED
    if activity is None:
        return "no further one that starts then" if difference.among else "nothing"
    what = " ".join(word for word in (activity.kind, activity.label) if word)
    unit = _UNITS.get(activity.kind, "")
    state = "" if activity.state == "done" else f", {activity.state}"
    return (
        f"{what} on {activity.resource}, {activity.amount:.9g} {unit}, "
        f"{activity.start!r} .. {activity.end!r} s{state}"
    )
