"""What is found missing or contradictory while a reference of Grid'5000 is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simplugin.platforms import radical
from simplugin.platforms.grid5000.facts import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable

LEFT_OUT = "left-out"
CONTRADICTION = "contradiction"
ASSUMED = "assumed"


@dataclass(slots=True)
class Remarks:
    """Remarks as they come up.

    Attributes
    ----------
    found : list of Remark
        In the order in which they came up.
    about : tuple of str
        What they concern, as in `Remark`.
    """

    found: list[Remark] = field(default_factory=list)
    about: tuple[str, ...] = ()

    def on(self, *about: str) -> Remarks:
        """Return what takes remarks on something else into the same list."""
        return Remarks(self.found, about)

    def left_out(self, place: str, message: str) -> None:
        """Say that something is not in the result."""
        self.found.append(Remark(LEFT_OUT, place, message, self.about))

    def contradiction(self, place: str, message: str) -> None:
        """Say that two places disagree, and which one was believed."""
        self.found.append(Remark(CONTRADICTION, place, message, self.about))

    def assumed(self, place: str, message: str) -> None:
        """Say that a fact is missing, and what took its place."""
        self.found.append(Remark(ASSUMED, place, message, self.about))


@dataclass(slots=True)
class NodeRemarks:
    """Remarks on the nodes of one cluster; those that say the same become one.

    Attributes
    ----------
    cluster : str
        Uid of the cluster.
    found : dict
        Numbers of the nodes for each pair of kind and message.
    """

    cluster: str
    found: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, number: int, kind: str, message: str) -> None:
        """Say something of a node."""
        self.found.setdefault((kind, message), []).append(number)

    def into(self, remarks: Remarks, place: str) -> None:
        """Hand over one remark for all nodes of which the same is said."""
        for (kind, message), numbers in self.found.items():
            nodes = radical.of_numbers(sorted(numbers))
            remarks.found.append(
                Remark(kind, place, f"{self.cluster}-{nodes}: {message}", remarks.about)
            )


def rate_text(rate: float) -> str:
    """Return a rate as remarks show it, in Gbit/s."""
    return f"{rate / 1e9:g} Gbit/s"


def listed(names: Iterable[str], most: int = 10) -> str:
    """Return names as remarks list them, cut where there are many."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def quoted(value: Any) -> str:
    """Return a value as remarks quote it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
