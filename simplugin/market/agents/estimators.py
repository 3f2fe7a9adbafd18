"""How a site of a grid answers how long it would take for a bundle, by what its peers told it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.market.agents.messages import (
    ESTIMATE,
    Estimate,
    capacity_of,
    estimates_of,
    questions_for,
)
from simplugin.market.dispatch import completion_of_best
from simplugin.market.model import task_time
from simplugin.workloads.bundle_markets import BundleMarket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.market.agents.messages import Announcement, Capacity
    from simplugin.market.agents.stations import SchedulerStation
    from simplugin.simulation.api import Actor


async def estimator(me: Actor, station: SchedulerStation) -> None:
    """Hear what each peer can do, then answer all questions, beside what else the site does.

    Parameters
    ----------
    me : Actor
        On the local scheduler's host.
    station : SchedulerStation
        Whom it serves.
    """
    questions = me.mailbox(questions_for(station.host))
    answers = me.mailbox(estimates_of(station.host))
    # Questions are under way while peers still speak.
    asking = questions.get_async()
    telling = [me.mailbox(capacity_of(peer)).get_async() for peer in station.peers]
    capacities: list[Capacity] = [await each for each in telling]
    while True:
        asked: Announcement = await asking
        asking = questions.get_async()
        estimate = Estimate(asked.number, station.site, seconds(capacities, asked))
        answers.put_detached(estimate, ESTIMATE, label="estimate")


def seconds(capacities: Sequence[Capacity], asked: Announcement) -> float:
    """Return how long peers would take for a bundle, if no discounts of earlier ones are left.

    Parameters
    ----------
    capacities : sequence of Capacity, shape (n_peers,)
        What they said of themselves.
    asked : Announcement
        The bundle.

    Returns
    -------
    float
        What the assignment of the largest benefit takes by their estimated completion times [s];
        inf if they cannot take the bundle.
    """
    columns = [
        (each.speed, each.bandwidth, each.setup, each.price_unit, each.q, each.n_max)
        for each in capacities
    ]
    speed, bandwidth, setup, price_unit, q, n_max = np.array(columns, dtype=np.float64).T
    times = task_time(asked.flop, asked.byte, speed, bandwidth, setup)
    caps = np.minimum(n_max, asked.m).astype(np.int64)
    try:
        market = BundleMarket(price_unit / times, asked.m, caps, q)
    except InfeasibleError:
        return math.inf
    return completion_of_best(market, times)
