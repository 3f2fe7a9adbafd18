"""Where two runs of the same actors begin to differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from simplugin.regression.activities import Activities, Activity, host_of
from simplugin.regression.alignment import (
    Pair,
    begin_alike,
    fields_that_differ,
    paired_by_kind,
    paired_in_order,
)
from simplugin.regression.tolerances import Tolerance

# Actors with the same name are told apart by their hosts.
_Who = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first activity of an actor, or of actors not told apart, that is not as recorded.

    Attributes
    ----------
    actor : str
        Its name.
    host : str
        Where it is; empty where its name tells it from all others.
    among : int
        How many actors have this name on this host; 0 where that tells one from all others.
    position : int
        Number of the activity among the actor's own, in order of their start, from 1 on; 0 where
        it is not known whose they are.
    recorded, now : Activity or None
        Both versions of it; None where one run does not have it.
    fields : tuple of str
        In what they differ; empty where one is missing.
    date : float
        From when on one could see the difference [s].
    before : int
        How many of the actor's activities before it agree.
    after, after_different : int
        How many come after it in the longer run, and how many of them differ; where there is no
        order, of all others.
    unended : bool
        Whether one is missing that may just not have ended when the record was cut.
    """

    actor: str
    host: str
    among: int
    position: int
    recorded: Activity | None
    now: Activity | None
    fields: tuple[str, ...]
    date: float
    before: int
    after: int
    after_different: int
    unended: bool = False


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

    Where a run was cut, what ended later is not known of it, and no difference. What ended before
    in the other run only, may not have ended in this one: that is seen when it ends.

    Parameters
    ----------
    recorded, now : Activities
        Of the two runs; of the new one all that started before its cut is needed.
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
    for who in sorted({*before, *after}):
        among = max(each.sharing.get(who[0], {}).get(who[1], 0) for each in (recorded, now))
        paired = paired_by_kind if among else paired_in_order
        pairs = paired(before.get(who, []), after.get(who, []), within, cut)
        same = [_agree(mine, theirs, within) for mine, theirs in pairs]
        agreeing += sum(same)
        total += len(pairs)
        if not all(same):
            differences.append(_difference((*who, among), pairs, same, within, cut))
    if not differences:
        return None
    differences.sort(key=lambda each: (each.date, _start(each), each.actor, each.host))
    return Divergence(
        tuple(differences),
        # Those of a record that was cut may not have ended anything.
        tuple(called(*who) for who in sorted({*after} - {*before}) if math.isinf(cut)),
        tuple(called(*who) for who in sorted({*before} - {*after})),
        agreeing,
        total,
        None if math.isinf(min(cut, known)) else min(recorded.known_until, now.known_until),
    )


def called(actor: str, host: str) -> str:
    """Return how an actor is called in a message."""
    return f"{actor} on {host}" if host else actor


def _shortly_before(date: float) -> float:
    """Return a date that is a little earlier."""
    # Which of those that end together were kept is chance.
    return date if math.isinf(date) else date - 1e-9 * abs(date)


def _by_actor(rows: Iterable[Activity], namesakes: Collection[str]) -> dict[_Who, list[Activity]]:
    """Return the activities of each actor in order of their start."""
    found: dict[_Who, list[Activity]] = defaultdict(list)
    for row in rows:
        # A transfer's actor is the one that sends, from its own host.
        host = host_of(row.resource) if row.actor in namesakes else ""
        found[row.actor, host].append(row)
    for each in found.values():
        each.sort(key=lambda row: (row.start, row.end, row[:4]))
    return found


def _agree(recorded: Activity | None, now: Activity | None, within: Tolerance) -> bool:
    """Whether both versions of an activity are there and agree."""
    return (
        recorded is not None and now is not None and not fields_that_differ(recorded, now, within)
    )


def _difference(
    who: tuple[str, str, int],
    pairs: Sequence[Pair],
    same: Sequence[bool],
    within: Tolerance,
    cut: float,
) -> Difference:
    """Describe the first pair of an actor that differs: the one that is seen first."""
    dates = [
        math.inf if agrees else _date(pairs, number, within, cut)
        for number, agrees in enumerate(same)
    ]
    at = dates.index(min(dates))
    recorded, now = pairs[at]
    ordered = not who[2]
    fields: tuple[str, ...] = ()
    if recorded is not None and now is not None:
        fields = fields_that_differ(recorded, now, within)
    rest = same[at + 1 :] if ordered else [*same[:at], *same[at + 1 :]]
    return Difference(
        *who,
        position=at + 1 if ordered else 0,
        recorded=recorded,
        now=now,
        fields=fields,
        date=dates[at],
        before=sum(same[:at]) if ordered else 0,
        after=len(rest),
        after_different=rest.count(False),
        unended=_is_unended(pairs, at, cut),
    )


def _date(pairs: Sequence[Pair], at: int, within: Tolerance, cut: float) -> float:
    """Return from when on the activities of a pair are seen to differ."""
    recorded, now = pairs[at]
    present = [each for each in (recorded, now) if each is not None]
    begun = recorded is not None and now is not None and begin_alike(recorded, now, within)
    if begun or _is_unended(pairs, at, cut):
        return min(each.end for each in present)
    return min(each.start for each in present)


def _is_unended(pairs: Sequence[Pair], at: int, cut: float) -> bool:
    """Whether an activity may be missing in a record only because that was cut before its end."""
    recorded, now = pairs[at]
    if math.isinf(cut) or recorded is not None or now is None:
        return False
    following, then = pairs[at + 1] if at + 1 < len(pairs) else (None, None)
    # What followed when this had ended is recorded without it: it was not there.
    return following is None or then is None or then.start < now.end


def _start(difference: Difference) -> float:
    """Return when the earlier one of both versions starts."""
    present = (difference.recorded, difference.now)
    return min(each.start for each in present if each is not None)
