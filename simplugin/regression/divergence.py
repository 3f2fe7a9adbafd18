"""The first differences between the activities of two runs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from simplugin.regression.activities import Activities, TracedActivity
from simplugin.regression.tolerances import Tolerance

Pair = tuple[TracedActivity | None, TracedActivity | None]

_NUMBERS = ("start", "end", "amount")
_WHAT = ("kind", "label", "resource")
# Fields in which two activities with the same beginning may differ.
_OUTCOME = frozenset(("end", "state"))


@dataclass(frozen=True, slots=True)
class Difference:
    """The first activity of an actor that differs.

    Attributes
    ----------
    actor : str
        Name of the actor; with its host if several actors have the name.
    position : int
        Number of the activity among those of the actor, in order of their start, from 1 on.
    recorded, now : TracedActivity or None
        Both versions of the activity; None if a run lacks it.
    fields : tuple of str
        Names of the different fields; empty if a version is missing.
    date : float
        First date at which the difference is visible [s].
    before : int
        Number of earlier activities of the actor that agree.
    after, after_different : int
        Number of later activities of the actor in the longer run, and of those that differ.
    """

    actor: str
    position: int
    recorded: TracedActivity | None
    now: TracedActivity | None
    fields: tuple[str, ...]
    date: float
    before: int
    after: int
    after_different: int


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

    Equal activities of an actor with equal starts are paired first, then those that differ only
    after their start, then the others in order. The first difference is the one that is visible
    first in simulated time: another kind, amount or resource at the start of the activity, another
    duration at the end of the shorter version. Differences that follow from others are therefore
    visible later.

    Activities that start after the end of an incomplete record are not compared.

    Parameters
    ----------
    recorded, now : Activities
        Of the two runs.
    tolerance : Tolerance, optional
        Of dates and amounts.

    Returns
    -------
    Divergence or None
        None if all agree.
    """
    pairing = _Pairing(tolerance or Tolerance())
    until = min(recorded.until, now.until)
    # Which of simultaneous starts are recorded is chance.
    cut = until if math.isinf(until) else pairing.earliest(until - 1e-9 * abs(until))
    namesakes = {*recorded.namesakes, *now.namesakes}
    before, after = (_by_actor(each.rows, namesakes) for each in (recorded, now))
    differences, agreeing, total = [], 0, 0
    actors = []
    for actor in sorted({*before, *after}):
        pairs = pairing.pairs(before.get(actor, []), after.get(actor, []))
        pairs = [pair for pair in pairs if _start(pair) < cut]
        if pairs:
            actors.append(actor)
        same = [pairing.agree(pair) for pair in pairs]
        agreeing += sum(same)
        total += len(pairs)
        if not all(same):
            differences.append(pairing.difference(actor, pairs, same))
    if not differences:
        return None
    differences.sort(key=lambda each: (each.date, _start((each.recorded, each.now)), each.actor))
    return Divergence(
        tuple(differences),
        tuple(actor for actor in actors if actor not in before),
        tuple(actor for actor in actors if actor not in after),
        agreeing,
        total,
        None if math.isinf(until) else until,
    )


def _by_actor(
    rows: Iterable[TracedActivity], namesakes: Collection[str]
) -> dict[str, list[TracedActivity]]:
    """Return the activities of each actor in order of their start."""
    found: dict[str, list[TracedActivity]] = defaultdict(list)
    for row in rows:
        # The actor of a transfer is the sender, on the source host.
        host = f" on {row.resource.partition('->')[0]}" if row.actor in namesakes else ""
        found[f"{row.actor}{host}"].append(row)
    for each in found.values():
        each.sort(key=lambda row: (row.start, row.end, row[:4]))
    return found


def _start(pair: Pair) -> float:
    """Return the start of the earlier version."""
    return min(each.start for each in pair if each is not None)


_Test = Callable[[TracedActivity, TracedActivity], bool]


@dataclass(frozen=True, slots=True)
class _Pairing:
    """Pairs activities of two runs and compares them.

    Attributes
    ----------
    within : Tolerance
        Of dates and amounts.
    """

    within: Tolerance

    def earliest(self, date: float) -> float:
        """Return a date before all that are equal to a date."""
        # Twice the tolerance, which is relative to the larger date.
        return date - 2 * max(self.within.absolute, self.within.relative * abs(date))

    def difference(self, actor: str, pairs: Sequence[Pair], same: Sequence[bool]) -> Difference:
        """Describe the pair of an actor whose difference is visible first."""
        dates = [
            math.inf if agrees else self._date(*pair)
            for pair, agrees in zip(pairs, same, strict=True)
        ]
        at = dates.index(min(dates))
        recorded, now = pairs[at]
        rest = same[at + 1 :]
        return Difference(
            actor,
            position=at + 1,
            recorded=recorded,
            now=now,
            fields=self.fields(recorded, now) if recorded and now else (),
            date=dates[at],
            before=sum(same[:at]),
            after=len(rest),
            after_different=rest.count(False),
        )

    def _date(self, recorded: TracedActivity | None, now: TracedActivity | None) -> float:
        """Return the date at which the difference of a pair becomes visible."""
        if recorded is not None and now is not None and self.begin_alike(recorded, now):
            return min(recorded.end, now.end)
        return _start((recorded, now))

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

    def agree(self, pair: Pair) -> bool:
        """Return True if both versions are there and agree."""
        recorded, now = pair
        return recorded is not None and now is not None and not self.fields(recorded, now)

    def begin_alike(self, recorded: TracedActivity, now: TracedActivity) -> bool:
        """Return True if two activities differ at most in end and state."""
        return set(self.fields(recorded, now)) <= _OUTCOME

    def pairs(
        self, recorded: Iterable[TracedActivity], now: Iterable[TracedActivity]
    ) -> list[Pair]:
        """Pair the activities of an actor in order of their starts; simultaneous ones in any."""
        pairs: list[Pair] = []
        mine, theirs = list(recorded), list(now)
        # Keys and tests of pairs, from equal ones to those that have only begun alike.
        kinds: list[tuple[Callable[[TracedActivity], object], _Test]] = [
            (lambda row: row, lambda *_: True),
            (_what, lambda *pair: self.agree(pair)),
            (_what, self.begin_alike),
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
        return sorted([*pairs, *_rest(mine, theirs)], key=_start)

    def _like(
        self, wanted: TracedActivity, among: Sequence[TracedActivity], alike: _Test
    ) -> int | None:
        """Return the index of the first similar activity with a simultaneous start."""
        at = bisect_left(among, self.earliest(wanted.start), key=lambda row: row.start)
        while at < len(among):
            each = among[at]
            if each.start > wanted.start and not self.within.accepts(wanted.start, each.start):
                return None
            if self.within.accepts(wanted.start, each.start) and alike(wanted, each):
                return at
            at += 1
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
