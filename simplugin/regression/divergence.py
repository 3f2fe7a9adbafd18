"""The first differences between the activities of two runs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from simplugin.regression.activities import Activities, TracedActivity, host_of
from simplugin.regression.tolerances import Tolerance

# Actors with the same name are distinguished by their hosts.
_Who = tuple[str, str]
Pair = tuple[TracedActivity | None, TracedActivity | None]

_NUMBERS = ("start", "end", "amount")
_WHAT = ("kind", "label", "resource")
# Fields in which two activities with the same beginning may differ.
_OUTCOME = frozenset(("end", "state"))


@dataclass(frozen=True, slots=True)
class Difference:
    """The first activity of an actor, or of indistinguishable actors, that differs.

    Attributes
    ----------
    actor : str
        Name of the actor.
    host : str
        Its host; empty if the name is unique.
    among : int
        Number of actors of this name on this host; 0 if it is the only one.
    position : int
        Number of the activity among those of the actor, in order of their start, from 1 on; 0 if
        the actor is not unique.
    recorded, now : TracedActivity or None
        Both versions of the activity; None if a run lacks it.
    fields : tuple of str
        Names of the different fields; empty if a version is missing.
    date : float
        First date at which the difference is visible [s].
    before : int
        Number of earlier activities of the actor that agree.
    after, after_different : int
        Number of later activities of the actor in the longer run, and of those that differ; without
        an order, of all others.
    unended : bool
        True if the missing version may only have ended after the end of the record.
    """

    actor: str
    host: str
    among: int
    position: int
    recorded: TracedActivity | None
    now: TracedActivity | None
    fields: tuple[str, ...]
    date: float
    before: int
    after: int
    after_different: int
    unended: bool = False


@dataclass(frozen=True, slots=True)
class Divergence:
    """The differences between the activities of two runs.

    Attributes
    ----------
    first : tuple of Difference
        The first difference of each actor, in order of the dates.
    added, missing : tuple of str
        Actors of the new and of the recorded run only, with hosts if names are not unique.
    agreeing, total : int
        Number of activities that agree, and of all in the longer run.
    until : float or None
        End of the comparison [s]; None if the runs were compared completely.
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
    """Find the first difference of each actor between two runs.

    The activities of an actor are compared one by one in order of their start; those with equal
    starts, in any order. The first difference is the one that is visible first in simulated time:
    another kind, amount or resource at the start of the activity, another duration at the end of
    the shorter version. Differences that follow from others are therefore visible later.

    Activities that ended after the end of an incomplete record count as equal. An activity that
    ended before it in the new run only may have lasted longer in the record: that difference is
    visible at its end.

    Parameters
    ----------
    recorded, now : Activities
        Of the two runs; the new one needs all activities that started before its last date.
    tolerance : Tolerance, optional
        Of dates and amounts.

    Returns
    -------
    Divergence or None
        None if all agree.
    """
    within = tolerance or Tolerance()
    cut, known = (_shortly_before(each.known_until) for each in (recorded, now))
    namesakes = {*recorded.namesakes, *now.namesakes}
    before, after = (
        _by_actor((row for row in each.known if row.start < known), namesakes)
        for each in (recorded, now)
    )
    differences, agreeing, total = [], 0, 0
    pairing = _Pairing(within, cut)
    for who in sorted({*before, *after}):
        among = max(each.sharing.get(who[0], {}).get(who[1], 0) for each in (recorded, now))
        paired = pairing.by_kind if among else pairing.in_order
        pairs = paired(before.get(who, []), after.get(who, []))
        same = [(mine and theirs and pairing.same(mine, theirs)) or False for mine, theirs in pairs]
        agreeing += sum(same)
        total += len(pairs)
        if not all(same):
            differences.append(pairing.difference((*who, among), pairs, same))
    if not differences:
        return None
    differences.sort(key=lambda each: (each.date, _start(each), each.actor, each.host))
    return Divergence(
        tuple(differences),
        # Actors may have ended no activity before the end of an incomplete record.
        tuple(called(*who) for who in sorted({*after} - {*before}) if math.isinf(cut)),
        tuple(called(*who) for who in sorted({*before} - {*after})),
        agreeing,
        total,
        None if math.isinf(min(cut, known)) else min(recorded.known_until, now.known_until),
    )


def called(actor: str, host: str) -> str:
    """Return the name of an actor for messages."""
    return f"{actor} on {host}" if host else actor


def _shortly_before(date: float) -> float:
    """Return a slightly earlier date: which of simultaneous ends are recorded is chance."""
    return date if math.isinf(date) else date - 1e-9 * abs(date)


def _by_actor(
    rows: Iterable[TracedActivity], namesakes: Collection[str]
) -> dict[_Who, list[TracedActivity]]:
    """Return the activities of each actor in order of their start."""
    found: dict[_Who, list[TracedActivity]] = defaultdict(list)
    for row in rows:
        # The actor of a transfer is the sender, on the source host.
        host = host_of(row.resource) if row.actor in namesakes else ""
        found[row.actor, host].append(row)
    for each in found.values():
        each.sort(key=lambda row: (row.start, row.end, row[:4]))
    return found


def _start(difference: Difference) -> float:
    """Return the start of the earlier version."""
    return min(each.start for each in (difference.recorded, difference.now) if each is not None)


_Test = Callable[[TracedActivity, TracedActivity], bool]


@dataclass(frozen=True, slots=True)
class _Pairing:
    """Pairs activities of two runs and compares them.

    Attributes
    ----------
    within : Tolerance
        Of dates and amounts.
    cut : float
        End of the record [s]; activities that ended later are not in it.
    """

    within: Tolerance
    cut: float

    def difference(
        self, who: tuple[str, str, int], pairs: Sequence[Pair], same: Sequence[bool]
    ) -> Difference:
        """Describe the pair of an actor whose difference is visible first."""
        dates = [
            math.inf if agrees else self._date(pairs, number) for number, agrees in enumerate(same)
        ]
        at = dates.index(min(dates))
        recorded, now = pairs[at]
        ordered = not who[2]
        rest = same[at + 1 :] if ordered else [*same[:at], *same[at + 1 :]]
        return Difference(
            *who,
            position=at + 1 if ordered else 0,
            recorded=recorded,
            now=now,
            fields=self.fields(recorded, now) if recorded and now else (),
            date=dates[at],
            before=sum(same[:at]) if ordered else 0,
            after=len(rest),
            after_different=rest.count(False),
            unended=self._is_unended(pairs, at),
        )

    def _date(self, pairs: Sequence[Pair], at: int) -> float:
        """Return the date at which the difference of a pair becomes visible."""
        recorded, now = pairs[at]
        begun = recorded is not None and now is not None and self.begin_alike(recorded, now)
        ends = begun or self._is_unended(pairs, at)
        return min(each.end if ends else each.start for each in (recorded, now) if each)

    def _is_unended(self, pairs: Sequence[Pair], at: int) -> bool:
        """Return True if an activity may be missing because the record ended first."""
        recorded, now = pairs[at]
        if math.isinf(self.cut) or recorded is not None or now is None:
            return False
        following, then = pairs[at + 1] if at + 1 < len(pairs) else (None, None)
        # If its successor is recorded without it, the activity did not exist.
        return following is None or then is None or then.start < now.end

    def fields(self, recorded: TracedActivity, now: TracedActivity) -> tuple[str, ...]:
        """Return the names of the different fields of two activities."""
        if recorded == now:
            return ()
        texts = [
            name for name in (*_WHAT, "state") if getattr(recorded, name) != getattr(now, name)
        ]
        numbers = [
            name
            for name in _NUMBERS
            if not self.within.accepts(getattr(recorded, name), getattr(now, name))
        ]
        return (*texts, *numbers)

    def same(self, recorded: TracedActivity, now: TracedActivity) -> bool:
        """Return True if two activities agree."""
        return not self.fields(recorded, now)

    def begin_alike(self, recorded: TracedActivity, now: TracedActivity) -> bool:
        """Return True if two activities differ at most in end and state."""
        return set(self.fields(recorded, now)) <= _OUTCOME

    def in_order(
        self, recorded: Sequence[TracedActivity], now: Sequence[TracedActivity]
    ) -> list[Pair]:
        """Pair the activities of one actor, equal ones as long as they begin alike.

        After the first pair that does not, activities are paired by kind, not by date. Both lists
        are in order of the starts; simultaneous starts have no order.
        """
        pairs: list[Pair] = []
        mine, theirs = list(recorded), list(now)
        at = 0
        while at < min(len(mine), len(theirs)):
            if not self._like_at(mine, theirs, at):
                if not self._may_be_unrecorded(mine[at], theirs, at):
                    break
                extra = theirs.pop(at)
                if extra.end < self.cut:
                    pairs.append((None, extra))
                continue
            pairs.append((mine[at], theirs[at]))
            at += 1
        left = [each for each in theirs[at:] if each.end < self.cut]
        if mine[at:] and theirs[at:] and left[:1] != theirs[at : at + 1]:
            left.insert(0, theirs[at])
        return [*pairs, *_rest(mine[at:], left)]

    def by_kind(
        self, recorded: Sequence[TracedActivity], now: Sequence[TracedActivity]
    ) -> list[Pair]:
        """Pair the activities of several indistinguishable actors.

        Equal activities first, then the remaining ones with simultaneous starts.
        """
        pairs: list[Pair] = []
        mine, theirs = list(recorded), list(now)
        # Keys and tests of pairs with simultaneous starts, from equal to any.
        kinds: list[tuple[Callable[[TracedActivity], object], _Test]] = [
            (lambda row: row, lambda *_: True),
            (_what, self.same),
            (_what, self.begin_alike),
            (lambda _: None, lambda mine, theirs: self.within.accepts(mine.start, theirs.start)),
        ]
        for key, alike in kinds:
            waiting: dict[object, list[TracedActivity]] = defaultdict(list)
            for each in theirs:
                waiting[key(each)].append(each)
            left = []
            for each in mine:
                among = waiting.get(key(each), [])
                if (found := self._like(each, among, alike)) is None:
                    left.append(each)
                else:
                    pairs.append((each, among.pop(found)))
            rest = (each for several in waiting.values() for each in several)
            mine, theirs = left, sorted(rest, key=lambda row: (row.start, row.end))
        pairs += [(each, None) for each in mine]
        return [*pairs, *((None, each) for each in theirs if each.end < self.cut)]

    def _like(
        self, wanted: TracedActivity, among: Sequence[TracedActivity], alike: _Test
    ) -> int | None:
        """Return the index of the first similar activity with a simultaneous start."""
        # Twice the tolerance, which is relative to the larger date.
        early = wanted.start - 2 * max(
            self.within.absolute, self.within.relative * abs(wanted.start)
        )
        at = bisect_left(among, early, key=lambda row: row.start)
        while at < len(among):
            each = among[at]
            if each.start > wanted.start and not self.within.accepts(wanted.start, each.start):
                return None
            if self.within.accepts(wanted.start, each.start) and alike(wanted, each):
                return at
            at += 1
        return None

    def _like_at(self, mine: list[TracedActivity], theirs: list[TracedActivity], at: int) -> bool:
        """Return True if both have like activities at a position, after moving one there."""
        # Simultaneous starts have no order.
        return any(
            alike(mine[at], theirs[at])
            or self._bring(mine[at], theirs, at, alike)
            or self._bring(theirs[at], mine, at, alike)
            for alike in (self.same, self.begin_alike)
        )

    def _bring(
        self, wanted: TracedActivity, among: list[TracedActivity], at: int, alike: _Test
    ) -> bool:
        """Move a like activity to a position if its start is simultaneous with the one there."""
        for other in range(at + 1, len(among)):
            if not self.within.accepts(among[at].start, among[other].start):
                return False
            if alike(wanted, among[other]):
                among.insert(at, among.pop(other))
                return True
        return False

    def _may_be_unrecorded(
        self, wanted: TracedActivity, theirs: Sequence[TracedActivity], at: int
    ) -> bool:
        """Return True if a new activity may be missing because the record ended first."""
        extra = theirs[at]
        if math.isinf(self.cut) or extra.start >= wanted.start:
            return False
        like = self._later(wanted, theirs, at + 1)
        if extra.end >= self.cut:
            return like is not None or _what(extra) != _what(wanted)
        # If the actor waited for it, the next activity could not have started before its end.
        return like is not None and like.start < extra.end

    def _later(
        self, wanted: TracedActivity, among: Sequence[TracedActivity], at: int
    ) -> TracedActivity | None:
        """Return the first activity from a position on that began like another one."""
        for each in among[at:]:
            if each.start > wanted.start and not self.within.accepts(wanted.start, each.start):
                return None
            if self.begin_alike(wanted, each):
                return each
        return None


def _rest(mine: Sequence[TracedActivity], theirs: Sequence[TracedActivity]) -> list[Pair]:
    """Pair the remaining activities; the first of either list may have no partner."""
    if mine and theirs and _what_and_amount(mine[0]) != _what_and_amount(theirs[0]):
        longer = len(mine) - len(theirs)
        if longer > 0 and _what_and_amount(mine[1]) == _what_and_amount(theirs[0]):
            return [(mine[0], None), *zip_longest(mine[1:], theirs)]
        if longer < 0 and _what_and_amount(mine[0]) == _what_and_amount(theirs[1]):
            return [(None, theirs[0]), *zip_longest(mine, theirs[1:])]
    return list(zip_longest(mine, theirs))


def _what(activity: TracedActivity) -> tuple[str, str, str]:
    """Return the kind, label and resource of an activity."""
    return (activity.kind, activity.label, activity.resource)


def _what_and_amount(activity: TracedActivity) -> tuple[str, str, str, float]:
    """Return the kind, label, resource and amount of an activity."""
    return (*_what(activity), activity.amount)
