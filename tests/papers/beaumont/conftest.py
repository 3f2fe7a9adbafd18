"""Measurements that no simulation made."""

from dataclasses import replace

import pytest

from simplugin.papers.beaumont import campaign, heuristics
from simplugin.papers.beaumont.campaign import PolicySetting, ThroughputMeasurement
from simplugin.papers.beaumont.instances import NODES
from simplugin.papers.statements import Quantity, judged, statements

ROW = ThroughputMeasurement("A", 2008, 0, PolicySetting("lp"), 5, 1.0, 1.0, 1.0, 1.0, True)
# The throughput of an execution that leaves tasks undone.
UNDONE = 0.123


@pytest.fixture
def column():
    """Return a function that makes a list of measurements from fair throughputs."""

    def given(*fair, **fields):
        return [
            replace(ROW, number=number, fair=each, n_hosts=NODES[number % 5], **fields)
            for number, each in enumerate(fair)
        ]

    return given


@pytest.fixture
def fake(monkeypatch):
    """Replace measurements by a function of reading, number and setting: throughput and theory."""

    def given(fair):
        def invented(reading, seed, number, setting):
            value = fair(reading, number, setting)
            value, theory = value if isinstance(value, tuple) else (value, 1.0)
            row = replace(ROW, reading=reading, seed=seed, number=number, setting=setting)
            done = {"all_done": value != UNDONE, "n_hosts": NODES[number % 5]}
            return replace(row, fair=value, slope=value, theory=theory, **done)

        monkeypatch.setattr(campaign, "measured", invented)
        heuristics.campaign.cache_clear()

    yield given
    heuristics.campaign.cache_clear()


@pytest.fixture
def verdicts():
    """Return a function that gives verdicts by the ids of the statements of quantities."""

    def given(experiment, quantities: dict[str, Quantity]):
        known = statements("simplugin.papers.beaumont")
        about = [each for each in known if each.experiment == experiment]
        chosen = [each for each in about if each.quantity in quantities]
        assert {each.quantity for each in chosen} == set(quantities)
        return {claim.id: claim.agrees for claim in judged(chosen, quantities)}

    return given
