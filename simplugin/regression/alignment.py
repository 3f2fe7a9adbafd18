"""Which activity of a new run stands for which recorded one."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import zip_longest

from simplugin.regression.activities import Activity
from simplugin.regression.tolerances import Tolerance

Pair = tuple[Activity | None, Activity | None]

_NUMBERS = ("start", "end", "amount")
_WHAT = ("kind", "label", "resource")
# In these two versions of an activity may differ that began alike.
_OUTCOME = frozenset(("end", "state"))


def fields_that_differ(recorded: Activity, now: Activity, within: Tolerance) -> tuple[str, ...]:
    """Return in what two activities differ."""
    if recorded == now:
        return ()
    texts = [name for name in (*_WHAT, "state") if getattr(recorded, name) != getattr(now, name)]
    numbers = [
        name for name in _NUMBERS if not within.accepts(getattr(recorded, name), getattr(now, name))
    ]
    return (*texts, *numbers)


def begin_alike(recorded: Activity, now: Activity, within: Tolerance) -> bool:
    """Whether two activities differ only in how and when they end."""
    return set(fields_that_differ(recorded, now, within)) <= _OUTCOME


def paired_in_order(
    recorded: Sequence[Activity], now: Sequence[Activity], within: Tolerance, cut: float = math.inf
) -> list[Pair]:
    """Pair the activities of one actor: each with its like as long as they begin alike.

    After the first that do not, they are paired by what they are, not by their dates.

    Parameters
    ----------
    recorded, now : sequence of Activity
        Both in order of their start; those that start together have no order.
    within : Tolerance
        Of dates and amounts.
    cut : float
        What ended later was not recorded [s].
    """
    pairs: list[Pair] = []
    mine, theirs = list(recorded), list(now)
    at = 0
    while at < min(len(mine), len(theirs)):
        if not _like_at(mine, theirs, at, within):
            if not _may_be_unrecorded(mine[at], theirs, at, within, cut):
                break
            extra = theirs.pop(at)
            if extra.end < cut:
                pairs.append((None, extra))
            continue
        pairs.append((mine[at], theirs[at]))
        at += 1
    left = [each for each in theirs[at:] if each.end < cut]
    if mine[at:] and theirs[at:] and left[:1] != theirs[at : at + 1]:
        left.insert(0, theirs[at])
    return [*pairs, *_rest(mine[at:], left)]


def paired_by_kind(
    recorded: Sequence[Activity], now: Sequence[Activity], within: Tolerance, cut: float = math.inf
) -> list[Pair]:
    """Pair the activities of several actors that nothing tells apart.

    Each stands for any other that is like it; what is left, for one that starts together with it.
    The parameters are those of `paired_in_order`.
    """
    pairs: list[Pair] = []
    mine, theirs = list(recorded), list(now)
    kinds: list[tuple[_Key, _Test]] = [
        (lambda row: row, lambda *_: True),
        (_what, lambda mine, theirs: not fields_that_differ(mine, theirs, within)),
        (_what, lambda mine, theirs: begin_alike(mine, theirs, within)),
        (lambda _: None, lambda mine, theirs: within.accepts(mine.start, theirs.start)),
    ]
    for key, alike in kinds:
        mine, theirs = _match(pairs, mine, theirs, key, alike, within)
    pairs += [(each, None) for each in mine]
    return [*pairs, *((None, each) for each in theirs if each.end < cut)]


_Key = Callable[[Activity], object]
_Test = Callable[[Activity, Activity], bool]


def _match(
    pairs: list[Pair],
    mine: Sequence[Activity],
    theirs: Sequence[Activity],
    key: _Key,
    alike: _Test,
    within: Tolerance,
) -> tuple[list[Activity], list[Activity]]:
    """Pair those that start together, have the same key and are alike; return what is left."""
    waiting: dict[object, list[Activity]] = defaultdict(list)
    for each in theirs:
        waiting[key(each)].append(each)
    left = []
    for each in mine:
        among = waiting.get(key(each), [])
        found = _like(each, among, alike, within)
        if found is None:
            left.append(each)
        else:
            pairs.append((each, among.pop(found)))
    rest = [each for several in waiting.values() for each in several]
    return left, sorted(rest, key=lambda row: (row.start, row.end))


def _like(
    wanted: Activity, among: Sequence[Activity], alike: _Test, within: Tolerance
) -> int | None:
    """Return where the first is that starts together with an activity and is like it."""
    # Twice the tolerance, as it is of the larger date.
    early = wanted.start - 2 * max(within.absolute, within.relative * abs(wanted.start))
    at = bisect_left(among, early, key=lambda row: row.start)
    while at < len(among):
        each = among[at]
        if each.start > wanted.start and not within.accepts(wanted.start, each.start):
            return None
        if within.accepts(wanted.start, each.start) and alike(wanted, each):
            return at
        at += 1
    return None


def _like_at(mine: list[Activity], theirs: list[Activity], at: int, within: Tolerance) -> bool:
    """Whether both have the like of each other at a position; bring it there if it is close."""
    fields = fields_that_differ(mine[at], theirs[at], within)
    if not fields:
        return True

    def exact(one: Activity, other: Activity) -> bool:
        return not fields_that_differ(one, other, within)

    def begun(one: Activity, other: Activity) -> bool:
        return begin_alike(one, other, within)

    # The end of another one that started together is no difference.
    if _bring(mine[at], theirs, at, exact, within) or _bring(theirs[at], mine, at, exact, within):
        return True
    if set(fields) <= _OUTCOME:
        return True
    return _bring(mine[at], theirs, at, begun, within) or _bring(
        theirs[at], mine, at, begun, within
    )


def _bring(
    wanted: Activity, among: list[Activity], at: int, alike: _Test, within: Tolerance
) -> bool:
    """Put the like of an activity to a position, if it starts together with what is there."""
    for other in range(at + 1, len(among)):
        if not within.accepts(among[at].start, among[other].start):
            return False
        if alike(wanted, among[other]):
            among.insert(at, among.pop(other))
            return True
    return False


def _may_be_unrecorded(
    wanted: Activity, theirs: Sequence[Activity], at: int, within: Tolerance, cut: float
) -> bool:
    """Whether what is at a position is not recorded only because it had not ended at the cut."""
    extra = theirs[at]
    if math.isinf(cut) or extra.start >= wanted.start:
        return False
    like = _later(wanted, theirs, at + 1, within)
    if extra.end >= cut:
        return like is not None or _what(extra) != _what(wanted)
    # An actor that waited for it now has not done what follows without it.
    return like is not None and like.start < extra.end


def _later(
    wanted: Activity, among: Sequence[Activity], at: int, within: Tolerance
) -> Activity | None:
    """Return the one from a position on that began as an activity did."""
    for each in among[at:]:
        if each.start > wanted.start and not within.accepts(wanted.start, each.start):
            return None
        if begin_alike(wanted, each, within):
            return each
    return None


def _rest(mine: Sequence[Activity], theirs: Sequence[Activity]) -> list[Pair]:
    """Pair what is left: at its beginning one may have been left out or come in between."""
    if mine and theirs and _what_and_amount(mine[0]) != _what_and_amount(theirs[0]):
        longer = len(mine) - len(theirs)
        if longer > 0 and _what_and_amount(mine[1]) == _what_and_amount(theirs[0]):
            return [(mine[0], None), *zip_longest(mine[1:], theirs)]
        if longer < 0 and _what_and_amount(mine[0]) == _what_and_amount(theirs[1]):
            return [(None, theirs[0]), *zip_longest(mine, theirs[1:])]
    return list(zip_longest(mine, theirs))


def _what(activity: Activity) -> tuple[str, str, str]:
    """Return what an activity is, whenever it is."""
    return (activity.kind, activity.label, activity.resource)


def _what_and_amount(activity: Activity) -> tuple[str, str, str, float]:
    """Return what an activity is and how large, whenever it is."""
    return (*_what(activity), activity.amount)
