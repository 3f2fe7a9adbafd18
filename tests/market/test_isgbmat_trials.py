import dataclasses

import numpy as np
import pytest

from simplugin.market.isgbmat import REPAIRED, REPAIRS
from simplugin.market.isgbmat_trials import STAGES, _failure, drawn_markets, ends, trials, without


def test_each_stage_repairs_more():
    made = [sum(dataclasses.astuple(repairs)) for repairs in STAGES.values()]
    assert made == [0, 1, 2, 3, 5, 7]


def test_all_runs_are_counted():
    for repairs in STAGES.values():
        assert sum(ends(repairs, quick=True).values()) == 100


def test_optimal_is_judged_by_all_pairs_of_peers():
    # Nothing is gained by moving one task from any peer to another: enough, as values fall.
    for trial in trials(REPAIRED, quick=True):
        market, amounts = trial.drawn.market, trial.run.amounts
        with np.errstate(divide="ignore"):
            last = np.where(amounts > 0, market.worth(amounts), np.inf)
            following = np.where(amounts < market.caps, market.worth(amounts + 1), 0)
        assert trial.is_put_out
        assert following.max() <= last.min() * (1 + 1e-9)
        assert trial.clears
        assert trial.run.price == pytest.approx(last.min(), rel=1e-9)


def test_too_few_tasks_are_not_optimal():
    repairs = dataclasses.replace(REPAIRED, last_round=False)
    assert not any(trial.is_put_out for trial in trials(repairs, quick=True))
    assert without("last_round", quick=True).failures == 100


def test_markets_of_peers_that_are_alike():
    for drawn, best in drawn_markets(quick=True, alike=True):
        assert len(set(drawn.values.tolist())) == 1
        assert best.amounts.sum() == drawn.m


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.key)
def test_every_repair_is_missed(repair):
    found = without(repair.key, quick=True)
    assert 0 < found.failures <= found.count == 100
    assert found.words.startswith(str(found.failures))


def test_failures_are_called_what_they_are():
    trial = next(
        each
        for each in trials(REPAIRED, quick=True)
        if np.ptp(each.best.amounts) > 1 and np.all(each.drawn.caps > each.best.amounts)
    )
    assert _failure(trial) == ""
    amounts = trial.best.amounts
    one = np.eye(len(amounts), dtype=int)
    most, least = one[np.argmax(amounts)], one[np.argmin(amounts)]
    for change, words in (
        (-most, "put out too few tasks"),
        (least, "put out too many tasks"),
        (least - most, "put out too little benefit"),
    ):
        run = dataclasses.replace(trial.run, amounts=amounts + change)
        assert _failure(trial._replace(run=run)) == words
    run = dataclasses.replace(trial.run, price=2 * trial.run.price)
    assert _failure(trial._replace(run=run)) == "put out no clearing price"
