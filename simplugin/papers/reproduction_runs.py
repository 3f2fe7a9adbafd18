"""Doing one part of a reproduction."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from simplugin.campaigns.jobs import Measured
from simplugin.campaigns.keys import simgrid_version
from simplugin.rows import Metric, Row
from simplugin.scenarios.outputs import claim_document, figure_document

TARGET = f"{__name__}:measure"


def measure(arguments: Mapping[str, Any]) -> Measured:
    """Measure the claims of a part, or compute the curves of a figure.

    Parameters
    ----------
    arguments : mapping
        `module` of a capability; `kind`, ``PARTS`` or ``FIGURES``; the `part`, a key of that; and
        whether it is to be `quick`.

    Returns
    -------
    Measured
        In its contents a list of documents, under ``claims`` or ``figures``.
    """
    parts = getattr(importlib.import_module(arguments["module"]), arguments["kind"])
    found = list(parts[arguments["part"]](arguments["quick"]))
    provenance = {"simgrid": simgrid_version()}
    if arguments["kind"] == "FIGURES":
        row = Row((Metric("figures", len(found)),), provenance)
        return Measured(row, contents={"figures": [figure_document(each) for each in found]})
    agreeing = sum(bool(claim.agrees) for claim in found)
    row = Row((Metric("claims", len(found)), Metric("agreeing", agreeing)), provenance)
    claims = [claim_document(each) for each in found]
    return Measured(row, contents={"claims": claims})
