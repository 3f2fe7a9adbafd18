"""The largest weighted sum of throughputs, and what all ways to reach it have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.optimum.bottlenecks import NOISE, highs
from simplugin.optimum.linear_programs import solved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.optimum.flows import Flows

    Floats = NDArray[np.float64]

# By how much a way may be dearer than the weight, relative to it, and still be the cheapest.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest weighted sum of throughputs.

    Attributes
    ----------
    host_price, link_price : float64, shapes (n_hosts,) and (n_links,)
        Shadow prices: no way to have a task computed costs less than its application's weight,
        and what all capacity brings in is the sum.
    served : bool, shape (n_applications,)
        What may have a throughput at all.
    equal : float64, shape (n_groups, n_applications)
        The sum is reached if and only if ``equal @ throughput`` is 1, besides the bounds. An
        equation for each group of applications whose cheapest ways have no resource in common
        with those of others, so that small ones do not drown in the sum.
    """

    host_price: Floats
    link_price: Floats
    served: NDArray[np.bool_]
    equal: Floats


def largest(flows: Flows) -> Largest:
    """Return the largest weighted sum of throughputs, by HiGHS.

    Parameters
    ----------
    flows : Flows
        The ways that tasks can take.
    """
    sharing = flows.sharing
    # One unit of utility in each column: reduced costs are relative to each weight.
    worth = float(np.median(sharing.weight * flows.most[sharing.masters]))
    program = flows.program(worth / sharing.weight, capped=False)
    solver = highs(program)
    load = len(program.unit)
    columns = np.append(program.master, load).astype(np.int32)
    cost = np.append(-np.ones(sharing.n_applications), 0.0)
    solver.changeColsCost(len(columns), columns, cost)
    solver.changeColBounds(load, 1.0, 1.0)
    # Prices are in units of `worth`.
    price = program.prices(solved(solver).row_dual, sharing)
    price = flows.mended(price, sharing.weight / worth)
    # Utility per flop and byte; no way may be cheaper than its weight, not even by rounding.
    host_price, link_price = price[: sharing.n_hosts], price[sharing.n_hosts :]
    ratio = float(np.max(sharing.weight / flows.cheapest(host_price, link_price)))
    return _face(flows, host_price * ratio, link_price * ratio)


def _face(flows: Flows, host_price: Floats, link_price: Floats) -> Largest:
    """Return what complementary slackness says of all optima."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sharing = flows.sharing
    application = sharing.application
    price = flows.carriage(link_price) + sharing.flop[application] * host_price[sharing.host]
    cheap = flows.computes & (price <= sharing.weight[application] * (1 + EQUAL))
    income = np.concatenate([host_price * sharing.speed, link_price * sharing.bandwidth])
    priced = income > NOISE * income.sum()
    below = sharing.gather(cheap.astype(np.float64)) > 0
    on_host = np.flatnonzero(cheap & priced[sharing.host])
    on_link = np.flatnonzero(below & flows.carries)
    on_link = on_link[priced[sharing.n_hosts + sharing.link[on_link]]]
    users = np.concatenate([application[on_host], application[on_link]])
    used = np.concatenate([sharing.host[on_host], sharing.n_hosts + sharing.link[on_link]])
    size = sharing.n_applications + len(income)
    graph = coo_array(
        (np.ones(len(users)), (users, sharing.n_applications + used)), shape=(size, size)
    )
    _, group = connected_components(graph, directed=False)
    served = np.zeros(sharing.n_applications, dtype=bool)
    served[users] = True
    groups, of = np.unique(group[: sharing.n_applications][served], return_inverse=True)
    sums = np.bincount(group[sharing.n_applications :], income, minlength=int(group.max()) + 1)
    equal = np.zeros((len(groups), sharing.n_applications))
    equal[of, np.flatnonzero(served)] = sharing.weight[served] / sums[groups][of]
    return Largest(host_price, link_price, served, equal)
