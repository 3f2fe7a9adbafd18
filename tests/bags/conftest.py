"""Measurements that no simulation made."""

from dataclasses import replace

import pytest

from simplugin.bags import (
    deviation_claims,
    past_claims,
    section6_claims,
    section6_figures,
)
from simplugin.bags.campaign import Measurement
from simplugin.bags.instances import NODES

ROW = Measurement("A", 2008, 0, "lp", 5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, True)


@pytest.fixture
def row():
    """Return one of LP on a tree of five hosts, all throughputs 1."""
    return ROW


@pytest.fixture
def column():
    """Return what makes a list of them, of given fair throughputs."""
    return _column


def _column(*fair, setting="lp", hosts=NODES, **fields):
    return [
        replace(
            ROW, setting=setting, number=number, fair=each, slope=each,
            n_hosts=hosts[number % len(hosts)], **fields,
        )
        for number, each in enumerate(fair)
    ]  # fmt: skip


@pytest.fixture
def fake(monkeypatch):
    """Let settings come to what a function of reading, number and setting says."""

    def given(fair):
        def invented(reading, seed, number, setting):
            value = fair(reading, number, setting)
            return replace(
                ROW, reading=reading, seed=seed, number=number, setting=setting.key, fair=value,
                slope=value, n_hosts=NODES[number % 5], all_done=value != 0.123,
            )  # fmt: skip

        for module in (section6_claims, deviation_claims, section6_figures, past_claims):
            monkeypatch.setattr(module, "measured", invented)
        section6_claims.paper_campaign.cache_clear()

    yield given
    section6_claims.paper_campaign.cache_clear()
