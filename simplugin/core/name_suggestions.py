"""Names that may be meant where a name is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near_names(name: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return the names that may be meant by a wrong one.

    Those that it begins, up to a dot (``gros-1`` of ``gros-1.nancy.grid5000.fr``); if there are
    none, those that are spelt alike, as a whole or, for a name without dots, up to their first.

    Parameters
    ----------
    name : str
        The wrong one.
    known : iterable of str
        Those that there are.
    most : int
        How many to return at most.

    Returns
    -------
    tuple of str
        The likeliest first; none where nothing is near.
    """
    names = dict.fromkeys(known)
    qualified = [each for each in names if each.startswith(f"{name}.")]
    if qualified:
        return tuple(qualified[:most])
    spelt = dict.fromkeys(names, "")
    for each in names if "." not in name else ():
        spelt.setdefault(each.partition(".")[0], each)
    near = (spelt[word] or word for word in get_close_matches(name, spelt, most))
    return tuple(dict.fromkeys(near))


def did_you_mean(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return ``did you mean 'a' or 'b'?`` of similar names; the empty string if there is none.

    Parameters
    ----------
    name, known, most
        As `near_names` takes them.
    """
    near = near_names(name, known, most)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""
