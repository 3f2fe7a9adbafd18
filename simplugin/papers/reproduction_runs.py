"""One part of a reproduction: an experiment with its statements, or a figure."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from simplugin.campaigns.keys import simgrid_version
from simplugin.papers.statements import Statement, judged, statements
from simplugin.regression.orders import under_orders
from simplugin.results.claims import Claim
from simplugin.results.row import Metric, Row, RunResult
from simplugin.scenarios.outputs import plain
from simplugin.simulation.process.server_client import cpu_time

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
    before = cpu_time()
    found = table(module, kind)[part](arguments["quick"])
    cpu = cpu_time() - before
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
    chosen = [each for each in chosen_statements(module, quick=True) if each.experiment == part]
    if not chosen:
        return claims
    usual, *others = under_orders(partial(_verdicts, module, part, chosen), number)
    same = {name: sum(each[name] == usual[name] for each in others) for name in usual if others}
    return [
        replace(each, quantity={**each.quantity, "orders": f"{same[each.id]} of {number}"})
        if each.id in same
        else each
        for each in claims
    ]


def _verdicts(module: str, part: str, chosen: list[Statement]) -> dict[str, bool | None]:
    """Return the quick verdicts of a part by their ids."""
    found = table(module, "EXPERIMENTS")[part](True)
    return {each.id: each.agrees for each in judged(chosen, found)}
