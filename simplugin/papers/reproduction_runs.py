"""One part of a reproduction: an experiment with its statements, or a figure."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from simplugin.campaigns.keys import simgrid_version
from simplugin.papers.statements import Statement, judged, statements
from simplugin.results.row import Metric, Row, RunResult
from simplugin.scenarios.outputs import plain
from simplugin.simulation.process.operating_system import cpu_seconds
from simplugin.simulation.process.server_client import server_processes

TARGET = f"{__name__}:measure"


def table(paper: str, kind: str) -> dict[str, Callable[[bool], Any]]:
    """Return the experiments or figures of a paper, each a function of `quick`."""
    module = importlib.import_module(f"{paper}.experiments")
    found: dict[str, Callable[[bool], Any]] = getattr(module, kind)
    return found


def chosen_statements(paper: str, *, quick: bool) -> list[Statement]:
    """Return the statements of a paper that a full or a quick reproduction measures."""
    return [each for each in statements(paper) if each.quick or not quick]


def measure(arguments: Mapping[str, Any]) -> RunResult:
    """Judge the statements that an experiment measures, or compute the curves of a figure.

    Parameters
    ----------
    arguments : mapping
        `module`, the package of a paper; `kind`, ``EXPERIMENTS`` or ``FIGURES``; the `part`, a key
        of that table in the package's module `experiments`; and `quick`.

    Returns
    -------
    RunResult
        In its contents a list of documents, under ``claims`` or ``figures``, and the CPU time that
        it took, under ``cpu`` [s].
    """
    module, kind, part = (arguments[name] for name in ("module", "kind", "part"))
    before = _cpu_time()
    found = table(module, kind)[part](arguments["quick"])
    cpu = _cpu_time() - before
    if kind == "FIGURES":
        counts = [Metric("figures", len(found))]
        kept = {"figures": [plain(each) for each in found]}
    else:
        chosen = chosen_statements(module, quick=arguments["quick"])
        claims = judged((each for each in chosen if each.experiment == part), found)
        agreeing = sum(bool(claim.agrees) for claim in claims)
        counts = [Metric("claims", len(claims)), Metric("agreeing", agreeing)]
        kept = {"claims": [plain(each.document()) for each in claims]}
    row = Row(tuple(counts), {"simgrid": simgrid_version()})
    return RunResult(row, contents={**kept, "cpu": cpu})


def _cpu_time() -> float:
    """Return the CPU time of this process, of its children that ended, and of its servers [s]."""
    return sum([*os.times()[:4], *map(cpu_seconds, server_processes())])
