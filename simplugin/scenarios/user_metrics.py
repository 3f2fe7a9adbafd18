"""Metrics of ``[metrics]``: values that actors returned, measures of hosts, those of a function."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from simplugin.core.errors import DeploymentError, ScenarioError
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import dotted, suggestion
from simplugin.inputs.references import place_of_failure
from simplugin.platforms import Platform
from simplugin.platforms.host_choices import HostChoice
from simplugin.results.row import Metric
from simplugin.scenarios.scenario import Scenario, ScenarioResult
from simplugin.scenarios.sections import MetricsSection, MetricTable
from simplugin.simulation import Result
from simplugin.simulation.metrics import HOST_MEASURES, of_hosts

_COMBINED: dict[str, Callable[[list[Any]], float]] = {
    # Rounded once, so that neither order nor CPU matters.
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "median": statistics.median,
    "min": min,
    "max": max,
    "count": len,
}
_OF_NONE = {"sum": 0.0, "count": 0}


def add_user_metrics(
    section: MetricsSection, scenario: Scenario, outcome: ScenarioResult
) -> ScenarioResult:
    """Add the metrics of ``[metrics]`` to the row of a result.

    Raises
    ------
    ScenarioError
        A value is missing, or is neither a number nor a text; the error has the key.
    """
    found = {metric.name: metric for metric in outcome.row}
    sources = _Sources(scenario, outcome.result)
    if section.function is not None:
        sources.add(found, "function", sources.of_function(section.function))
    for name, table in section.tables.items():
        if table.value is not None or table.measure is not None:
            sources.add(found, name, sources.of_table(name, table))
        elif name in found:
            known = found[name]
            if known.unit and table.unit is not None:
                raise sources.error(f"it is in {known.unit}", name, "unit", remedy="remove it")
            sense = table.sense or known.sense
            found[name] = replace(known, unit=table.unit or known.unit, sense=sense)
        else:
            remedy = f"give it a value or a measure; {suggestion(name, found, 'there are')}"
            raise sources.error(f"there is no metric {name!r}", name, remedy=remedy)
    return replace(outcome, row=replace(outcome.row, metrics=tuple(found.values())))


def host_choice(platform: Path | Platform) -> HostChoice:
    """Return the hosts of a platform, or of its file, to choose among."""
    if isinstance(platform, Path):
        from simplugin.formats.platform_xml import read_platform

        platform = read_platform(platform)
    return HostChoice(platform)


class _Sources:
    """Takes metrics from the result of a scenario."""

    def __init__(self, scenario: Scenario, result: Result) -> None:
        self._scenario = scenario
        self._result = result

    @cached_property
    def _choice(self) -> HostChoice:
        """The hosts of the platform."""
        return host_choice(self._scenario.make_platform())

    def error(self, message: str, *key: str, remedy: str | None = None) -> ScenarioError:
        """Return an exception about a key of ``[metrics]``."""
        return self._scenario.error(
            f"{dotted(('metrics', *key))}: {message}", "metrics", *key, remedy=remedy
        )

    def add(self, found: dict[str, Metric], key: str, metrics: Iterator[Metric]) -> None:
        """Add metrics; raise if a name exists."""
        for metric in metrics:
            if metric.name in found:
                raise self.error(f"there is a metric {metric.name!r}", key, remedy="rename it")
            found[metric.name] = metric

    def of_function(self, reference: str) -> Iterator[Metric]:
        """Yield the metrics of the user's function of the result."""
        function = self._scenario.function(reference, "metrics", "function")
        try:
            given = function(self._result)
        except Exception as error:
            message = f"it raises {type(error).__name__}: {error}{place_of_failure(error)}"
            raise self.error(message, "function") from error
        if not isinstance(given, Mapping):
            remedy = "return a mapping of names to numbers or texts"
            raise self.error(f"it returned {shown(given)}", "function", remedy=remedy)
        for name, value in given.items():
            yield Metric(str(name), self._number_or_text(value, f"{name!r}", "function"))

    def of_table(self, name: str, table: MetricTable) -> Iterator[Metric]:
        """Yield the metric of a table, or those of each host."""
        if table.value is not None:
            found = self._returned(name, table.value, table.hosts)
        else:
            found = self._measured(name, str(table.measure), table.hosts)
        unit = table.unit or HOST_MEASURES.get(table.measure or "", "")
        if table.combine == "each":
            for host, value in found:
                plain = self._number_or_text(value, f"that of {host!r}", name)
                yield Metric(f"{name}.{host}", plain, unit, table.sense)
            return
        values = [value for _, value in found]
        if table.combine is None and len(values) > 1:
            ways = ", ".join((*_COMBINED, "each"))
            message = f"there are {len(values)} values"
            raise self.error(message, name, remedy=f"add combine, one of {ways}")
        if table.combine is None:
            combined = self._number_or_text(values[0], "the value", name) if values else None
        else:
            combined = self._combined(name, table.combine, values)
        yield Metric(name, combined, unit, table.sense)

    def _combined(self, name: str, how: str, values: list[Any]) -> float | None:
        """Return one number for several values; those in lists count one by one."""
        every = chain.from_iterable(
            each if isinstance(each, list | tuple | np.ndarray) else [each] for each in values
        )
        plain = [self._number_or_text(each, "a value", name) for each in every]
        numbers = [each for each in plain if each is not None]
        if how != "count" and any(isinstance(each, str) for each in numbers):
            raise self.error(f"texts have no {how}", name, remedy="return numbers, or count them")
        return _COMBINED[how](numbers) if numbers else _OF_NONE.get(how)

    def _measured(self, name: str, measure: str, hosts: str | None) -> list[tuple[str, Any]]:
        """Return the hosts concerned, each with its measure."""
        if (values := of_hosts(self._result, measure)) is None:
            needed = "energy" if measure == "energy" else "trace"
            remedy = f"set simulation.{needed} = true"
            raise self.error(f"{measure} needs the simulation's {needed}", name, remedy=remedy)
        of_host = dict(zip(self._result.hosts.name, values.tolist(), strict=True))
        chosen = of_host if hosts is None else self._hosts(name, hosts)
        return [(host, None if math.isnan(of_host[host]) else of_host[host]) for host in chosen]

    def _returned(self, name: str, value: str, hosts: str | None) -> list[tuple[str, Any]]:
        """Return the hosts of the actors concerned, each with what its actor returned."""
        chosen = None if hosts is None else set(self._hosts(name, hosts))
        found, known = [], False
        for actor in self._result.returned:
            keys = _keys_after(value, actor.name)
            known |= keys is not None
            counts = chosen is None or actor.host in chosen
            # Who was killed, or cut off by the end, has returned nothing.
            if keys is not None and counts and actor.state == "ended":
                taken = actor.value
                for key in keys:
                    taken = self._item(taken, key, name, f"{actor.name!r} on {actor.host!r}")
                found.append((actor.host, taken))
        if not known:
            actors = {actor.name for actor in self._result.returned}
            remedy = suggestion(value.partition(".")[0], actors, "there are")
            raise self.error(f"no actor is called as {value!r} says", name, remedy=remedy)
        return found

    def _item(self, value: Any, key: str, name: str, actor: str) -> Any:
        """Return an item of what an actor returned: of a mapping, a sequence or an object."""
        try:
            if isinstance(value, Mapping):
                return value[key]
            return value[int(key)] if key.isdigit() else getattr(value, key)
        except (LookupError, AttributeError, TypeError):
            known = list(map(str, value)) if isinstance(value, Mapping) else []
            message = f"what actor {actor} returned has no {key!r}"
            remedy = suggestion(key, known, "it has") if known else "return a mapping with it"
            raise self.error(message, name, remedy=remedy) from None

    def _hosts(self, name: str, hosts: str) -> tuple[str, ...]:
        """Return the hosts that a choice names."""
        try:
            return self._choice.chosen(hosts)
        except DeploymentError as error:
            raise self.error(error.message, name, "hosts", remedy=error.remedy) from None

    def _number_or_text(self, value: Any, what: str, name: str) -> float | int | str | None:
        """Return a number or a text as one of Python's own."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, bool):
            return int(plain)
        if plain is None or isinstance(plain, float | int | str):
            return plain
        message = f"{what} is {shown(value)}"
        raise self.error(message, name, remedy="give a number or a text; keys lead into mappings")


def _keys_after(text: str, actor: str) -> list[str] | None:
    """Return the keys after the name or pattern that an actor's name fits; None if it does not."""
    words = text.split(".")
    for count in range(len(words), 0, -1):
        if fnmatchcase(actor, ".".join(words[:count])):
            return words[count:]
    return None
