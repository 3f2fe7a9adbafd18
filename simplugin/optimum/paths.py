"""Ways of tasks from masters to hosts, and the certificate of a sharing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.flows import Flows

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


class Paths:
    """The resources that a task of each useful agent takes, in logarithms.

    Logarithms and shares keep their relative accuracy whatever the units and orders of magnitude
    of a platform are.

    Parameters
    ----------
    flows : Flows
        The ways that tasks can take.

    Attributes
    ----------
    agent, application : int64, shape (n_ways,)
        The agent that computes, and its application.
    resource : int64, shape (n_resources,)
        Host, or number of hosts plus link; those that some way uses.
    way, row : int64, shape (n_entries,)
        Way and position in `resource` of each entry, sorted by way.
    demand : float64, shape (n_entries,)
        Logarithm of the share of the capacity that a task per second takes.
    """

    def __init__(self, flows: Flows) -> None:
        from scipy.sparse import coo_array

        sharing = flows.sharing
        self.sharing = sharing
        self.agent = np.flatnonzero(flows.computes)
        self.application = sharing.application[self.agent]
        host, flop = sharing.host[self.agent], sharing.flop[self.application]
        number = np.arange(len(self.agent))
        parts = [(number, host, flop / sharing.speed[host])]
        at = self.agent
        while len(at):
            carried = flows.carries[at]
            link = sharing.link[at[carried]]
            byte = sharing.byte[sharing.application[at[carried]]]
            parts.append((number[carried], sharing.n_hosts + link, byte / sharing.bandwidth[link]))
            at = sharing.parent[at]
            number, at = number[at >= 0], at[at >= 0]
        way, used, demand = (np.concatenate(each) for each in zip(*parts, strict=True))
        self.resource, row = np.unique(used, return_inverse=True)
        # A route may pass a link twice; such entries are added up.
        table = coo_array((demand, (way, row)), shape=(len(self.agent), len(self.resource))).tocsr()
        self.row: Integers = table.indices
        self.first: Integers = table.indptr
        self.way = np.repeat(np.arange(len(self.agent)), np.diff(self.first))
        self.demand = np.log(table.data)
        self._by_row = np.argsort(self.row, kind="stable")
        self._by_application = np.argsort(self.application, kind="stable")

    def price(self, price: Floats) -> Floats:
        """Return logarithms of the price of each way from those of each whole resource."""
        return log_sums(self.demand + price[self.row], self.way)

    def throughput(self, rate: Floats) -> Floats:
        """Return logarithms of throughputs from those of the rate of each way."""
        order = self._by_application
        return log_sums(rate[order], self.application[order])

    def income(self, value: Floats) -> Floats:
        """Return logarithms of the sum over each resource from those of the entries."""
        return log_sums(value[self._by_row], self.row[self._by_row])

    def load(self, entries: Floats) -> Floats:
        """Return the sum of entries over each resource."""
        return np.bincount(self.row, entries, len(self.resource)).astype(np.float64, copy=False)

    def largest(self, entries: Floats) -> Floats:
        """Return the largest of the entries of each resource."""
        order = self._by_row
        return np.maximum.reduceat(entries[order], _starts(self.row[order]))

    def error(self, rate: Floats, price: Floats, worth: Floats) -> float:
        """Return by how much the conditions of optimality are missed, each in relative terms.

        These are: no resource is overloaded; no way is cheaper than a task is worth; a dearer one
        is not used, its share of the throughput times its excess price; a resource that is
        not full has no price, its largest share in the price of a way times its free part; and
        the values of all capacity and of the used part are equal.

        Parameters
        ----------
        rate : float64, shape (n_agents,)
            Tasks that each agent computes [tasks/s].
        price : float64, shape (n_resources,)
            Logarithm of the price of each whole resource, in any unit of utility.
        worth : float64, shape (n_applications,)
            Logarithm of the value of one more task, in the same unit.
        """
        used = rate[self.agent]
        throughput = np.bincount(self.application, used, self.sharing.n_applications)
        share = np.divide(
            used,
            throughput[self.application],
            out=np.zeros_like(used),
            where=throughput[self.application] > 0,
        )
        way_price = self.price(price)
        load = self.load(np.exp(self.demand) * used[self.way])
        dear = np.clip(way_price - worth[self.application], -700.0, 700.0)
        part = self.largest(np.exp(self.demand + price[self.row] - way_price[self.way]))
        whole = np.exp(price - price.max())
        errors = (
            np.max(load - 1, initial=0.0),
            np.max(-np.expm1(dear), initial=0.0),
            np.sum(share * np.abs(np.expm1(dear))),
            np.max(part * np.abs(1 - load)),
            np.sum(whole * np.abs(1 - load)) / np.sum(whole),
        )
        return float(max(errors))


def _starts(key: Integers) -> NDArray[np.intp]:
    """Return where each run of equal keys begins."""
    return np.flatnonzero(np.append(True, key[1:] != key[:-1]))


def log_sums(value: Floats, key: Integers) -> Floats:
    """Return the logarithm of the sum over each run of equal keys, from logarithms.

    Parameters
    ----------
    value : float64, shape (n,)
        Logarithms; minus infinity for 0.
    key : int64, shape (n,)
        Sorted.
    """
    start = _starts(key)
    top = np.maximum.reduceat(value, start)
    top = np.where(np.isfinite(top), top, 0.0)
    part = np.exp(value - np.repeat(top, np.diff(np.append(start, len(key)))))
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.add.reduceat(part, start)))
