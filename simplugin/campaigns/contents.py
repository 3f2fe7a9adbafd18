"""What is kept of a run for reports: curves, charts, tables and claims as plain containers.

Numbers are as they are; the store has a way to write NaN and infinities, which JSON lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplugin.charts import Bar, ScheduleChart
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing

if TYPE_CHECKING:
    from simplugin.campaigns.kinds import Outcome
    from simplugin.simulation import Result

# Of a run; the first ones by their end.
MOST_ACTIVITIES = 20_000
# Columns of activities; of the trace all that a Gantt chart needs.
_TEXTS = ("actor", "resource", "kind", "label", "state")
_NUMBERS = ("start", "end", "amount")


def contents_of(outcome: Outcome, title: str = "") -> dict[str, Any]:
    """Return what is kept of a run.

    Parameters
    ----------
    outcome : Outcome
        What came out of the scenario.
    title : str
        For the charts.

    Returns
    -------
    dict
        ``title``; ``figures``, a list for `figure_from`; ``listings``, for `listing_from`; and if
        there is one ``schedule``, for `chart_from`, else if there is a trace ``activities``, for
        `result_from`.
    """
    found: dict[str, Any] = {
        "title": title,
        "figures": [figure_document(each) for each in outcome.figures],
        "listings": [listing_document(each) for each in outcome.listings],
    }
    if outcome.schedule is not None:
        found["schedule"] = chart_document(outcome.schedule)
    elif len(outcome.result.trace):
        found["activities"] = activities_document(outcome.result)
    return found


def _plain(value: Any) -> Any:
    """Return containers and arrays as lists and mappings, what is no number or text by `repr`."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def figure_document(figure: Figure) -> dict[str, Any]:
    """Return curves as plain containers."""
    found: dict[str, Any] = _plain(
        {
            "name": figure.name,
            "title": figure.title,
            "x_label": figure.x_label,
            "y_label": figure.y_label,
            "series": [
                {"name": name, "x": np.asarray(x), "y": np.asarray(y)}
                for name, (x, y) in figure.series.items()
            ],
            # Lists of pairs, since their order shows and JSON's need not last.
            "lines": [[name, level] for name, level in figure.lines.items()],
            "log_y": figure.log_y,
            "cycle": figure.cycle,
            "bars": figure.bars,
            "names": [[name, list(names)] for name, names in figure.names.items()],
            "whole": figure.whole,
        }
    )
    return found


def figure_from(document: Mapping[str, Any]) -> Figure:
    """Return the curves that `figure_document` wrote down; points as arrays."""
    given = dict(document)
    series = {each["name"]: (np.array(each["x"]), np.array(each["y"])) for each in given["series"]}
    names = {name: tuple(listed) for name, listed in given["names"]}
    return Figure(**given | {"series": series, "lines": dict(given["lines"]), "names": names})


def chart_document(chart: ScheduleChart) -> dict[str, Any]:
    """Return a schedule as plain containers."""
    found: dict[str, Any] = _plain(
        {
            "name": chart.name,
            "title": chart.title,
            "clusters": chart.clusters,
            "groups": chart.groups,
            "bars": [
                [each.group, each.processors, each.start, each.finish, each.label]
                for each in chart.bars
            ],
            "facts": chart.facts,
            "dates": [[name, date] for name, date in chart.dates.items()],
            "completion": chart.completion,
        }
    )
    return found


def chart_from(document: Mapping[str, Any]) -> ScheduleChart:
    """Return the schedule that `chart_document` wrote down."""
    given = dict(document)
    bars = tuple(
        Bar(group, tuple(processors), start, finish, label)
        for group, processors, start, finish, label in given["bars"]
    )
    read = {
        "clusters": tuple((name, size) for name, size in given["clusters"]),
        "groups": tuple(given["groups"]),
        "bars": bars,
        "dates": dict(given["dates"]),
        "completion": tuple(given["completion"]),
    }
    return ScheduleChart(**given | read)


def listing_document(listing: Listing) -> dict[str, Any]:
    """Return a table as plain containers."""
    found: dict[str, Any] = _plain(listing.document())
    return found


def listing_from(document: Mapping[str, Any]) -> Listing:
    """Return the table that `listing_document` wrote down."""
    given = dict(document)
    columns = tuple((each["name"], each["unit"]) for each in given["columns"])
    lines = tuple(tuple(line) for line in given["lines"])
    return Listing(given["title"], columns, lines, given.get("note", ""))


def claim_document(claim: Claim) -> dict[str, Any]:
    """Return a claim as plain containers."""
    found: dict[str, Any] = _plain(claim.document())
    return found


def claim_from(document: Mapping[str, Any]) -> Claim:
    """Return the claim that `claim_document` wrote down."""
    return Claim(**dict(document))


def activities_document(result: Result, most: int = MOST_ACTIVITIES) -> dict[str, Any]:
    """Return the activities of a simulation as plain containers.

    Parameters
    ----------
    result : Result
        With its trace.
    most : int
        How many to keep; those that end first.

    Returns
    -------
    dict
        ``columns``, a list each: texts ``actor``, ``resource``, ``kind``, ``label`` and ``state``,
        numbers ``start``, ``end`` [s], ``amount`` [flop, byte or s] and ``actor_code``, which
        tells actors of the same name apart; ``total``, how many there were; ``clock``, the end
        date [s]; ``hosts``, those on which something was done; ``actor_names`` and
        ``actor_hosts``, of all actors.
    """
    trace = result.trace
    columns: dict[str, Any] = {name: getattr(trace, name)[:most] for name in _TEXTS + _NUMBERS}
    columns["actor_code"] = trace.actor_code[:most]
    # A transfer's resource is "source->destination", a parallel task's "host,host".
    ends = re.compile("->|,")
    used = {end for name in trace.resource_names for end in (name, *ends.split(name))}
    found: dict[str, Any] = _plain(
        {
            "columns": columns,
            "total": len(trace),
            "clock": result.clock,
            "hosts": [name for name in result.hosts.name if name in used],
            "actor_names": trace.actor_names,
            "actor_hosts": [each.host for each in result.returned],
        }
    )
    return found


def result_from(document: Mapping[str, Any]) -> Result:
    """Return the part of a result that `activities_document` wrote down, as Gantt charts need it.

    Hosts are those that something was done on; totals are not known.
    """
    from simplugin.simulation import Result
    from simplugin.simulation.result import HostTotals, LinkTotals, Returned
    from simplugin.simulation.trace import KINDS, STATES, Trace

    given = dict(document)
    columns = given["columns"]
    resources, resource_code = _coded(columns["resource"])
    labels, label_code = _coded(columns["label"])
    trace = Trace(
        actor_code=columns["actor_code"],
        resource_code=resource_code,
        kind_code=_positions(columns["kind"], KINDS),
        label_code=label_code,
        **{name: columns[name] for name in _NUMBERS},
        state_code=_positions(columns["state"], STATES),
        actor_names=tuple(given["actor_names"]),
        resource_names=resources,
        label_names=labels,
    )
    actors = zip(given["actor_names"], given["actor_hosts"], strict=False)
    unknown = np.full(len(given["hosts"]), np.nan)
    return Result(
        clock=given["clock"],
        returned=tuple(Returned(name, host, None, "ended") for name, host in actors),
        hosts=HostTotals(tuple(given["hosts"]), unknown, unknown, unknown),
        links=LinkTotals((), np.empty(0), np.empty(0)),
        trace=trace,
        provenance={"trace": True},
    )


def _coded(texts: list[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return distinct texts, and the position of each; -1 for the empty one, which is none."""
    names = tuple(name for name in dict.fromkeys(texts) if name)
    codes = {"": -1} | {name: code for code, name in enumerate(names)}
    return names, np.array([codes[text] for text in texts], dtype=np.int32)


def _positions(texts: list[str], known: tuple[str, ...]) -> NDArray[np.int8]:
    """Return the position of each text among the known ones."""
    return np.array([known.index(text) for text in texts], dtype=np.int8)
