"""Tolerances of no scenario and of no metric: they would be wrong in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from simplugin.near_names import perhaps
from simplugin.regression.tolerances import ToleranceFile


def remarks(
    file: ToleranceFile,
    present: Collection[str],
    metrics: Mapping[str, Collection[str]],
    *,
    is_whole: bool,
) -> Iterator[str]:
    """Yield what is odd about a file of tolerances.

    Parameters
    ----------
    file : ToleranceFile
        Of one directory.
    present : collection of str
        Names of all scenarios of the directory, without suffixes.
    metrics : mapping of str to collection of str
        Of each scenario that ran, the metrics that it has. What did not run may have any.
    is_whole : bool
        Whether these are all of the directory; else a metric may be one of the others.
    """
    for name in sorted(set(file.scenarios) - set(present)):
        yield _ending(f"{file.place_of(name)}: there is no scenario {name!r}", name, present)
    for scenario, known in metrics.items():
        for name, place in file.metrics_named(scenario):
            if name not in known:
                yield _ending(f"{place}: {scenario} has no metric {name!r}", name, known)
    if is_whole:
        every = {name for known in metrics.values() for name in known}
        for name, place in file.metrics_named():
            if name not in every:
                yield _ending(f"{place}: no scenario has a metric {name!r}", name, every)


def remarks_on_options(names: Collection[str], metrics: Collection[str]) -> Iterator[str]:
    """Yield which metrics of the command's tolerances no run has."""
    for name in sorted(set(names) - set(metrics)):
        yield _ending(f"--tolerance: no run has a metric {name!r}", name, metrics)


def scenarios_in(directory: Path) -> set[str]:
    """Return the names of the TOML files of a directory."""
    return {path.stem for path in directory.glob("*.toml")}


def _ending(text: str, name: str, known: Collection[str]) -> str:
    """Add what may be meant."""
    near = perhaps(name, known)
    return f"{text}; {near}" if near else text
