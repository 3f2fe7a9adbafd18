"""Entries of a reference of Grid'5000, and warnings about invalid ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from simplugin.platforms.grid5000.facts import DataWarning


@dataclass(slots=True)
class DataWarnings:
    """Warnings about a reference, in the order found.

    Attributes
    ----------
    found : list of DataWarning
        In the order in which they came up.
    place, about : str, tuple of str
        Their place and subject, as in `DataWarning`.
    """

    found: list[DataWarning] = field(default_factory=list)
    place: str = ""
    about: tuple[str, ...] = ()

    def on(self, place: str, *about: str) -> DataWarnings:
        """Return what takes warnings about something else into the same list."""
        return DataWarnings(self.found, place, about)

    def left_out(self, message: str) -> None:
        """Record that something is not in the result."""
        self.found.append(DataWarning("left-out", self.place, message, self.about))

    def contradiction(self, message: str) -> None:
        """Record that two places disagree, and which one is used."""
        self.found.append(DataWarning("contradiction", self.place, message, self.about))

    def assumed(self, message: str) -> None:
        """Record that a fact is missing, and its replacement."""
        self.found.append(DataWarning("assumed", self.place, message, self.about))


def rate_text(rate: float) -> str:
    """Return a rate as warnings show it, in Gbit/s."""
    return f"{rate / 1e9:g} Gbit/s"


def quoted(value: Any) -> str:
    """Return a value as warnings quote it, cut where it is long."""
    text = "unknown" if value is None else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


# Possible parts of an entry; the rest of the reference (servers, pdus, sensors) is no platform.
KINDS = ("sites", "clusters", "nodes", "network_equipments")
_NAME = re.compile(r"[\w.+-]+")
# Far above every rate and speed that exists, far below the largest float.
_LARGEST = 1e30


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """A site, cluster, node or equipment as the reference describes it.

    Attributes
    ----------
    uid : str
        Its name.
    place : str
        Its file within the reference, or its path within the dump.
    content : dict
        Its keys and values.
    parts : dict
        The entries below it for each of `KINDS`, in the order of their uids.
    """

    uid: str
    place: str
    content: dict[str, Any]
    parts: dict[str, tuple[ReferenceEntry, ...]]


def grid_entry(
    content: dict[str, Any], warnings: DataWarnings, *, extension: str = ""
) -> ReferenceEntry:
    """Return the entry of the whole grid.

    Parameters
    ----------
    content : dict
        The grid with all that is in it, as the API's deep description has it: each of `KINDS` a
        list of objects with ``uid``, an object keyed by uid, or an object with ``items``.
    warnings : DataWarnings
        Receives a warning for each entry that is skipped.
    extension : str
        Suffix of file names, for the places of entries with a file of their own.

    Returns
    -------
    ReferenceEntry
        The grid.
    """
    return ReferenceEntry("grid5000", "", content, _parts(content, "", (), warnings, extension))


def number(content: dict[str, Any], key: str) -> float | None:
    """Return a positive number, or None where there is none."""
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < _LARGEST else None


def text(content: dict[str, Any], key: str) -> str:
    """Return a text, empty where there is none."""
    value = content.get(key)
    return value if isinstance(value, str) else ""


def is_retired(content: dict[str, Any]) -> bool:
    """Return True if an entry says that it is out of service for good."""
    return "retired" in (text(content, "status").lower(), text(content, "state").lower())


def objects(
    content: dict[str, Any], key: str, warnings: DataWarnings
) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a list with their indices; skip all other values."""
    values = content.get(key)
    if values is None:
        return []
    if not isinstance(values, list):
        warnings.left_out(f"{key} is no list")
        return []
    found = []
    for index, value in enumerate(values):
        if isinstance(value, dict):
            found.append((index, value))
        elif value is not None:
            warnings.left_out(f"{key}[{index}] is no object: {quoted(value)}")
    return found


def _parts(
    content: dict[str, Any],
    place: str,
    above: tuple[str, ...],
    warnings: DataWarnings,
    extension: str,
) -> dict[str, tuple[ReferenceEntry, ...]]:
    """Return the entries below an entry (of these uids), each kind in the order of uids."""
    parts = {}
    for kind in KINDS:
        found: dict[str, ReferenceEntry] = {}
        for index, (key, value) in enumerate(_members(content.get(kind))):
            where = f"{place}/{kind}/{key or f'[{index}]'}".removeprefix("/")
            given = value.get("uid") if isinstance(value, dict) else None
            uid, fault = key if given is None else given, ""
            if not isinstance(value, dict):
                fault = f"this is no object: {quoted(value)}"
            elif not isinstance(uid, str) or not _NAME.fullmatch(uid):
                fault = f"uid {quoted(uid)} is no name" if uid else "it has no uid"
                uid = key
            elif uid in found:
                fault = f"there are two entries of uid {uid!r}"
            about = warnings.on(where, *_about(kind, above, uid))
            if fault:
                about.left_out(fault)
                continue
            own = where if key else f"{where.rpartition('/')[0]}/{uid}"
            file = own + extension if kind in ("nodes", "network_equipments") else own
            if key and uid != key:
                about.on(file, *about.about).contradiction(f"its uid is {uid!r}, which is kept")
            inner = _parts(value, own, (*above, uid), warnings, extension)
            found[uid] = ReferenceEntry(uid, file, value, inner)
        parts[kind] = tuple(found[uid] for uid in sorted(found))
    return parts


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a collection in any of its forms, with their keys if any."""
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        value = value["items"]
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from (("", member) for member in value)
    elif value is not None:
        yield "", value


def _about(kind: str, above: tuple[str, ...], uid: str) -> tuple[str, ...]:
    """Return the subject of a warning on an entry; the uid is empty if it is missing."""
    if kind == "nodes" and len(above) == 2:
        return ("cluster", *above)
    if kind == "clusters" and len(above) == 1:
        return ("cluster", *above, uid)
    if kind == "network_equipments" and len(above) == 1:
        return ("switch", *above, uid) if uid else ("site", *above)
    if kind == "network_equipments" and not above:
        return ("point", uid) if uid else ("backbone",)
    # A site that is in the result nowhere; other kinds at other places are not read.
    return ("site", uid) if kind == "sites" and uid and not above else ("grid",)
