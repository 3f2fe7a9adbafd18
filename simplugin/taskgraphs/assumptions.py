"""Choices that the report of N'takpé and Suter leaves open."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from simplugin.workloads.parameter_ranges import one_of


@dataclass(frozen=True)
class ModelAssumptions:
    """Assumptions where the report leaves a choice open.

    The defaults follow its text, not the best agreement with its results.

    Attributes
    ----------
    reference_speed : {"slowest", "mean", "fastest"}
        Speed of the processors of the reference cluster: of the slowest cluster, the mean over all
        processors, or of the fastest cluster.
    translation : {"time", "power"}
        An allocation on the reference cluster becomes the fewest processors of a cluster on which
        the task takes no longer, or the number of the same total speed (rounded down).
    full_level : {"pass", "stop"}
        In SCRAP-MAX, skip tasks of a full level, or stop at the first of them.
    packing : {"earliest", "largest", "off"}
        Among smaller allocations that start earlier and finish no later: the one that finishes
        first, the largest, or none.
    order : {"bottom", "fifo"}
        Ready tasks by decreasing bottom level, or by graph and task.
    fixing : {"reserve", "start"}
        Map a ready task at once, with a reservation in the future if need be, or only when it can
        start.
    redistribution : {"alone", "together"}
        Estimate the time of a redistribution as if it had the network alone, or shared links with
        all others of the tasks at its ends.
    baseline : {"alone", "share"}
        Measure the makespan of each graph without the others with the whole site (beta = 1), or
        under its share among the others.
    transfers : bool
        True if estimates count redistributions; the simulation always does.

    Raises
    ------
    WorkloadError
        A choice is unknown.
    """

    reference_speed: Literal["slowest", "mean", "fastest"] = "slowest"
    translation: Literal["time", "power"] = "time"
    full_level: Literal["pass", "stop"] = "pass"
    packing: Literal["earliest", "largest", "off"] = "earliest"
    order: Literal["bottom", "fifo"] = "bottom"
    fixing: Literal["reserve", "start"] = "reserve"
    redistribution: Literal["alone", "together"] = "alone"
    baseline: Literal["alone", "share"] = "alone"
    transfers: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        hints = get_type_hints(ModelAssumptions)
        for name in (each.name for each in fields(self) if each.name != "transfers"):
            one_of(name, getattr(self, name), get_args(hints[name]))


PAPER = ModelAssumptions()
