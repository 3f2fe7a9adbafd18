"""Where two runs of the same actors begin to differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from simplugin.campaigns.regression.activities import Activities, Activity
from simplugin.campaigns.regression.tolerances import Tolerance

# Actors with the same name are told apart by their hosts.
_Who = tuple[str, str]
_NUMBERS = ("start", "end", "amount")
_WHAT = ("kind", "label", "resource")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first activity of an actor that is not as recorded.

    Attributes
    ----------
    actor : str
        Its name.
    host : str
        Where it is; empty where its name tells it from all others.
    position : int
        Number of the activity among the actor's own, in order of their start, from 1 on.
    recorded, now : Activity or None
        Both versions of it; None where one run does not have it.
    fields : tuple of str
        In what they differ; empty where one is missing.
    date : float
        From when on one could see the difference [s].
    before : int
        How many activities of the actor come before it, which all agree.
    after, after_different : int
        How many come after it in the longer run, and how many of them differ.
    """

    actor: str
    host: str
    position: int
    recorded: Activity | None
    now: Activity | None
    fields: tuple[str, ...]
    date: float
    before: int
    after: int
    after_different: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """How the activities of two runs differ.

    Attributes
    ----------
    first : tuple of Difference
        The first of each actor concerned, the earliest first.
    added, missing : tuple of str
        Actors that only one of the runs has, with their hosts where names are shared.
    agreeing, total : int
        How many activities are as recorded, of how many in the longer run.
    until : float or None
        Up to where they could be compared [s]; None if as a whole.
    """

    first: tuple[Difference, ...]
    added: tuple[str, ...]
    missing: tuple[str, ...]
    agreeing: int
    total: int
    until: float | None = None


def diverge(
    recorded: Activities, now: Activities, tolerance: Tolerance | None = None
) -> Divergence | None:
    """Find what each actor first does otherwise than recorded.

    The activities of an actor are compared one by one in order of their start; those that start
    together, in whatever order. The difference that can be seen first in simulated time is the
    first: that of another kind, size or place when it starts, that of another length when the
    shorter one ends. An activity that differs only because of another one shows it later.

    Parameters
    ----------
    recorded, now : Activities
        Of the two runs. Where one was cut, only what ended before the cut is compared.
    tolerance : Tolerance, optional
        Of dates and amounts.

    Returns
    -------
    Divergence or None
        None if all agree.
    """
    within = tolerance or Tolerance()
    until = _horizon(recorded, now)
    namesakes = {**recorded.namesakes, **now.namesakes}
    before = _by_actor(_seen(recorded, until), namesakes)
    after = _by_actor(_seen(now, until), namesakes)
    differences, agreeing, total = [], 0, 0
    for who in sorted({*before, *after}):
        pairs = _pairs(before.get(who, []), after.get(who, []), within)
        same = [_agree(mine, theirs, within) for mine, theirs in pairs]
        agreeing += sum(same)
        total += len(pairs)
        if not all(same):
            differences.append(_difference(who, pairs, same, within))
    if not differences:
        return None
    differences.sort(key=lambda each: (each.date, _start(each), each.actor, each.host))
    return Divergence(
        tuple(differences),
        tuple(called(*who) for who in sorted({*after} - {*before})),
        tuple(called(*who) for who in sorted({*before} - {*after})),
        agreeing,
        total,
        until,
    )


def called(actor: str, host: str) -> str:
    """Return how an actor is called in a message."""
    return f"{actor} on {host}" if host else actor


def _horizon(recorded: Activities, now: Activities) -> float | None:
    """Return the date up to which both runs are known; None if as a whole."""
    cuts = [each.rows[-1].end for each in (recorded, now) if each.cut and each.rows]
    return min(cuts, default=None)


def _seen(activities: Activities, until: float | None) -> Iterator[Activity]:
    """Go through what ended before a date."""
    # A little before it: which of those that end together were kept is chance.
    return (
        each for each in activities.rows if until is None or each.end < until - 1e-9 * abs(until)
    )


def _by_actor(rows: Iterator[Activity], namesakes: Mapping[str, int]) -> dict[_Who, list[Activity]]:
    """Return the activities of each actor in order of their start."""
    found: dict[_Who, list[Activity]] = defaultdict(list)
    for row in rows:
        # A transfer's actor is the one that sends, from its own host.
        host = row.resource.partition("->")[0] if row.actor in namesakes else ""
        found[row.actor, host].append(row)
    for each in found.values():
        each.sort(key=lambda row: (row.start, row.end, row[:4]))
    return found


_Pair = tuple[Activity | None, Activity | None]


def _pairs(recorded: Sequence[Activity], now: Sequence[Activity], within: Tolerance) -> list[_Pair]:
    """Pair the activities of one actor: each with its like as long as there is one.

    After the first without one, they are paired by what they are, not by their dates.
    """
    pairs: list[_Pair] = []
    mine, theirs = list(recorded), list(now)
    at = 0
    while at < min(len(mine), len(theirs)):
        if _fields(mine[at], theirs[at], within) and not (
            _bring(mine[at], theirs, at, within) or _bring(theirs[at], mine, at, within)
        ):
            break
        pairs.append((mine[at], theirs[at]))
        at += 1
    return [*pairs, *_rest(mine[at:], theirs[at:])]


def _bring(wanted: Activity, among: list[Activity], at: int, within: Tolerance) -> bool:
    """Put the like of an activity to a position, if it starts together with what is there."""
    for other in range(at + 1, len(among)):
        if not within.accepts(among[at].start, among[other].start):
            return False
        if not _fields(wanted, among[other], within):
            among.insert(at, among.pop(other))
            return True
    return False


def _rest(mine: list[Activity], theirs: list[Activity]) -> list[_Pair]:
    """Pair what is left: at its beginning one may have been left out or come in between."""
    if mine and theirs and _sort(mine[0]) != _sort(theirs[0]):
        longer = len(mine) - len(theirs)
        if longer > 0 and _sort(mine[1]) == _sort(theirs[0]):
            return [(mine[0], None), *zip_longest(mine[1:], theirs)]
        if longer < 0 and _sort(mine[0]) == _sort(theirs[1]):
            return [(None, theirs[0]), *zip_longest(mine, theirs[1:])]
    return list(zip_longest(mine, theirs))


def _sort(activity: Activity) -> tuple[str, str, str, float]:
    """Return what an activity is, whenever it is."""
    return (activity.kind, activity.label, activity.resource, activity.amount)


def _agree(recorded: Activity | None, now: Activity | None, within: Tolerance) -> bool:
    """Whether both versions of an activity are there and agree."""
    return recorded is not None and now is not None and not _fields(recorded, now, within)


def _fields(recorded: Activity, now: Activity, within: Tolerance) -> tuple[str, ...]:
    """Return in what two activities differ."""
    if recorded == now:
        return ()
    texts = [name for name in (*_WHAT, "state") if getattr(recorded, name) != getattr(now, name)]
    numbers = [
        name for name in _NUMBERS if not within.accepts(getattr(recorded, name), getattr(now, name))
    ]
    return (*texts, *numbers)


def _difference(
    who: _Who, pairs: Sequence[_Pair], same: Sequence[bool], within: Tolerance
) -> Difference:
    """Describe the first pair of an actor that differs."""
    at = same.index(False)
    recorded, now = pairs[at]
    fields = () if recorded is None or now is None else _fields(recorded, now, within)
    return Difference(
        *who,
        position=at + 1,
        recorded=recorded,
        now=now,
        fields=fields,
        date=_date(recorded, now, fields),
        before=at,
        after=len(pairs) - at - 1,
        after_different=same[at + 1 :].count(False),
    )


def _date(recorded: Activity | None, now: Activity | None, fields: tuple[str, ...]) -> float:
    """Return from when on two activities are seen to differ."""
    present = [each for each in (recorded, now) if each is not None]
    if set(fields) and set(fields) <= {"end", "state"}:
        return min(each.end for each in present)
    return min(each.start for each in present)


def _start(difference: Difference) -> float:
    """Return when the earlier one of both versions starts."""
    present = (difference.recorded, difference.now)
    return min(each.start for each in present if each is not None)
