"""One part of a reproduction: an experiment with its statements, or a figure."""

from __future__ import annotations

import importlib
import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from simplugin.campaigns.keys import simgrid_version
from simplugin.papers.statements import Statement, judged, statements
from simplugin.results.claims import Claim
from simplugin.results.row import Metric, Row, RunResult
from simplugin.scenarios.outputs import plain
from simplugin.simulation.process.operating_system import cpu_seconds
from simplugin.simulation.process.server_client import server_processes
from simplugin.simulation.simulate import DrawnOrder

TARGET = f"{__name__}:measure"
# Orders of actors that are ready at one date, in a full reproduction.
N_ORDERS = 10


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
        claims = judged([each for each in chosen if each.experiment == part], found)
        if not arguments["quick"]:
            claims = with_orders(module, part, claims)
        agreeing = sum(bool(claim.agrees) for claim in claims)
        counts = [Metric("claims", len(claims)), Metric("agreeing", agreeing)]
        kept = {"claims": [plain(each.document()) for each in claims]}
    row = Row(tuple(counts), {"simgrid": simgrid_version()})
    return RunResult(row, contents={**kept, "cpu": cpu})


def with_orders(module: str, part: str, claims: list[Claim], number: int = N_ORDERS) -> list[Claim]:
    """Return claims with the number of orders under which their verdicts are the same.

    The part is measured again as in a quick reproduction, in the usual order and in others. Claims
    of the full one only, or without simulations, stay as they are.
    """
    # New processes, since parts cache what they measure.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        usual = pool.submit(_verdicts, module, part, None).result()
        if not usual:
            return claims
        found = list(pool.map(partial(_verdicts, module, part), range(number)))
    same = {name: sum(each[name] == usual[name] for each in found) for name in usual}
    return [
        replace(each, quantity={**each.quantity, "orders": f"{same[each.id]} of {number}"})
        if each.id in same
        else each
        for each in claims
    ]


def _verdicts(module: str, part: str, order: int | None) -> dict[str, bool | None]:
    """Return the quick verdicts of a part by their ids; none if it simulates nothing."""
    chosen = [each for each in chosen_statements(module, quick=True) if each.experiment == part]
    if not chosen:
        return {}
    with DrawnOrder(order) as drawn:
        again = judged(chosen, table(module, "EXPERIMENTS")[part](True))
    return {each.id: each.agrees for each in again} if drawn.simulations else {}


def _cpu_time() -> float:
    """Return the CPU time of this process, of its children that ended, and of its servers [s]."""
    return sum([*os.times()[:4], *map(cpu_seconds, server_processes())])
