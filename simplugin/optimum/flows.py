"""Flows of tasks through the trees of applications, as a well-scaled linear program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import InfeasibleError
from simplugin.workloads.shared_deployment import SharedDeployment

if TYPE_CHECKING:
    from scipy.sparse import csc_array


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# By how much a way may be too cheap, relative to the value of a task, and still be noticed.
UNSEEN = 1e-8


@dataclass(frozen=True, eq=False)
class Program:
    """Columns ``z >= 0`` with ``usage @ z <= 1`` per resource and ``balance @ z = 0``.

    Attributes
    ----------
    flows : Flows
        The ways that tasks can take.
    usage : csc_array, shape (n_used_resources, n_columns)
        Share of each resource's capacity that a unit of each column takes.
    balance : csc_array, shape (n_branchings, n_columns)
        An agent computes or forwards all tasks that it receives.
    resource : int64, shape (n_used_resources,)
        Host, or number of hosts plus link, of each row of `usage`.
    master : int64, shape (n_applications,)
        Column of each application's throughput.
    agent, column : int64, shape (n_computing,)
        The agents that compute and the columns of their rates.
    unit : float64, shape (n_columns,)
        Unit of each column [tasks/s].
    """

    flows: Flows
    usage: csc_array[np.float64]
    balance: csc_array[np.float64]
    resource: Integers
    master: Integers
    agent: Integers
    column: Integers
    unit: Floats

    def rates(self, values: ArrayLike) -> Floats:
        """Return the rate of each agent [tasks/s] from the value of each column."""
        rate = np.zeros(self.flows.sharing.n_agents)
        of_column = np.asarray(values, dtype=float)[self.column] * self.unit[self.column]
        rate[self.agent] = np.maximum(of_column, 0.0)
        return rate

    def prices(self, duals: ArrayLike) -> Floats:
        """Return the price of each host's flop and each link's byte from each row's dual."""
        price = np.zeros(len(self.flows.capacity))
        of_row = np.maximum(-np.asarray(duals, dtype=float)[: len(self.resource)], 0.0)
        price[self.resource] = of_row / self.flows.capacity[self.resource]
        return price


class Flows:
    """The ways that tasks can take; agents that none can reach or leave are left out.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.

    Raises
    ------
    InfeasibleError
        An application reaches no host that may compute for it.
    """

    def __init__(self, sharing: SharedDeployment) -> None:
        self.sharing = sharing
        self.carries = (sharing.link >= 0) & (sharing.byte[sharing.application] > 0)
        reached = np.ones(sharing.n_agents, dtype=bool)
        reached[self.carries] = sharing.bandwidth[sharing.link[self.carries]] > 0
        for level in sharing.levels[1:]:
            reached[level] &= reached[sharing.parent[level]]
        self.computes = reached & sharing.computes & (sharing.speed[sharing.host] > 0)
        # An agent is of use if something below it computes; those are reached as well.
        self.useful = sharing.gather(self.computes.astype(np.float64)) > 0
        self._check(reached)

    def _check(self, reached: NDArray[np.bool_]) -> None:
        """Raise if an application reaches no host."""
        sharing, fast = self.sharing, self.sharing.speed > 0
        for number in np.flatnonzero(~self.useful[sharing.masters]):
            own = sharing.application == number
            name = sharing.hosts[int(np.argmax(fast))]
            if not np.any(fast):
                why = "no host has a speed above 0; give one a speed"
            elif not np.any(own & fast[sharing.host]):
                why = (
                    "no host of its tree has a speed above 0; lead the tree over links with a"
                    f" bandwidth to {name!r}, which has one"
                )
            elif not np.any(own & sharing.computes & fast[sharing.host]):
                name = sharing.hosts[sharing.host[np.argmax(own & fast[sharing.host])]]
                why = f"no host that may compute its tasks has a speed above 0; allow {name!r}"
            else:
                lost = np.flatnonzero(own & ~reached & reached[sharing.parent])[0]
                name = sharing.links[sharing.link[lost]]
                why = (
                    "no host that may compute its tasks is reached over links with a bandwidth;"
                    f" link {name!r} has bandwidth 0, give it one, or the tasks no data"
                )
            raise InfeasibleError(
                f"application {sharing.applications[number]!r} reaches no host: {why}"
            )

    @cached_property
    def capacity(self) -> Floats:
        """Of each host, then of each link [flop/s], [byte/s]; shape (n_hosts + n_links,)."""
        return np.concatenate([self.sharing.speed, self.sharing.bandwidth])

    @cached_property
    def _through(self) -> Floats:
        """Bound on the tasks that can come to each agent through its link [tasks/s]."""
        sharing, used = self.sharing, self.carries
        through = np.full(sharing.n_agents, np.inf)
        through[used] = (
            sharing.bandwidth[sharing.link[used]] / sharing.byte[sharing.application[used]]
        )
        return through

    @cached_property
    def most(self) -> Floats:
        """Bound on the tasks that can pass each agent, were it alone [tasks/s]."""
        sharing = self.sharing
        own = np.where(
            self.computes, sharing.speed[sharing.host] / sharing.flop[sharing.application], 0.0
        )
        for level in reversed(sharing.levels):
            own[level] = np.minimum(own[level], self._through[level])
            below = sharing.parent[level] >= 0
            np.add.at(own, sharing.parent[level][below], own[level][below])
        return own

    def cuts(self) -> Floats:
        """Return prices that prove what each application can reach alone: its minimum cut.

        Returns
        -------
        float64, shape (n_applications, n_hosts + n_links)
            Of a flop on each host, then of a byte on each link: each way costs 1, and all that
            has a price is full.
        """
        sharing = self.sharing
        full = self.most == self._through
        reached = self.useful.copy()
        for level in sharing.levels[1:]:
            reached[level] &= reached[sharing.parent[level]] & ~full[sharing.parent[level]]
        price = np.zeros((sharing.n_applications, sharing.n_hosts + sharing.n_links))
        links = np.flatnonzero(reached & full)
        owner = sharing.application[links]
        price[owner, sharing.n_hosts + sharing.link[links]] = 1 / sharing.byte[owner]
        hosts = np.flatnonzero(reached & ~full & self.computes)
        owner = sharing.application[hosts]
        price[owner, sharing.host[hosts]] = 1 / sharing.flop[owner]
        return price

    @cached_property
    def _scarcest(self) -> tuple[Integers, Floats]:
        """Host, or number of hosts plus link, that limits each agent most, and the limit."""
        sharing = self.sharing
        resource = np.where(self.carries, sharing.n_hosts + sharing.link, 0)
        limit = self._through.copy()
        for level in sharing.levels[1:]:
            parent = sharing.parent[level]
            narrower = limit[parent] < limit[level]
            resource[level] = np.where(narrower, resource[parent], resource[level])
            limit[level] = np.where(narrower, limit[parent], limit[level])
        alone = sharing.speed[sharing.host] / sharing.flop[sharing.application]
        slower = alone < limit
        return np.where(slower, sharing.host, resource), np.where(slower, alone, limit)

    def mended(self, price: Floats, worth: Floats) -> Floats:
        """Return prices at which no way is cheaper than a task is worth.

        A way over a slow link or host may bring in so little that a linear program does not see
        it; what limits such a way most gets the price that is missing.

        Parameters
        ----------
        price : float64, shape (n_hosts + n_links,)
            Of a flop on each host, then of a byte on each link.
        worth : float64, shape (n_applications,)
            Of a task.
        """
        sharing, application = self.sharing, self.sharing.application
        missing = worth[application] - self.carriage(price)
        missing -= sharing.flop[application] * price[sharing.host]
        low = self.computes & (missing > UNSEEN * worth[application])
        if not np.any(low):
            return price
        resource, limit = self._scarcest
        added = np.zeros(len(price))
        lost = missing[low] * limit[low] / self.capacity[resource[low]]
        np.maximum.at(added, resource[low], lost)
        return price + added

    def ways(self, price: Floats) -> Floats:
        """Return the price of a task at each agent, its way included, shape (n_agents,).

        Parameters
        ----------
        price : float64, shape (n_hosts + n_links,)
            Of a flop on each host, then of a byte on each link.
        """
        sharing = self.sharing
        return self.carriage(price) + sharing.flop[sharing.application] * price[sharing.host]

    def cheapest(self, price: Floats) -> Floats:
        """Return the price of the cheapest way of a task of each application.

        Parameters
        ----------
        price : float64, shape (n_hosts + n_links,)
            As of `ways`.

        Returns
        -------
        float64, shape (n_applications,)
            Of a task.
        """
        cheapest = np.full(self.sharing.n_applications, np.inf)
        of_agent = self.ways(price)[self.computes]
        np.minimum.at(cheapest, self.sharing.application[self.computes], of_agent)
        return cheapest

    def carriage(self, price: Floats) -> Floats:
        """Return the price of a task's way from its master to each agent, shape (n_agents,)."""
        sharing, used = self.sharing, self.carries
        way = np.zeros(sharing.n_agents)
        of_byte = price[sharing.n_hosts + sharing.link[used]]
        way[used] = sharing.byte[sharing.application[used]] * of_byte
        for level in sharing.levels[1:]:
            way[level] += way[sharing.parent[level]]
        return way

    @cached_property
    def _columns(self) -> tuple[Integers, Integers]:
        """Column of the flow into each useful agent, and of what each computes; -1 for none."""
        sharing = self.sharing
        useful = np.flatnonzero(self.useful)
        children = np.zeros(sharing.n_agents, dtype=np.int64)
        below = useful[sharing.parent[useful] >= 0]
        np.add.at(children, sharing.parent[below], 1)
        only = np.full(sharing.n_agents, -1, dtype=np.int64)
        only[sharing.parent[below]] = below
        rate = np.full(sharing.n_agents, -1, dtype=np.int64)
        rate[self.computes] = np.arange(np.count_nonzero(self.computes))
        # A leaf computes all that comes, a relay of one child sends all of it on: one column.
        leaf = self.useful & (children == 0)
        relay = self.useful & ~self.computes & (children == 1)
        flow = np.where(leaf, rate, -1)
        own = self.useful & ~leaf & ~relay
        flow[own] = np.count_nonzero(self.computes) + np.arange(np.count_nonzero(own))
        for level in reversed(sharing.levels):
            through = np.flatnonzero(relay[level]) + level.start
            flow[through] = flow[only[through]]
        return flow, rate

    def program(self, scale: Floats, *, capped: bool = True) -> Program:
        """Return the linear program with columns near one where throughputs are `scale`.

        Parameters
        ----------
        scale : float64, shape (n_applications,)
            Throughputs to expect [tasks/s], all positive.
        capped : bool
            True if a column's unit is at most what can pass there.
        """
        from scipy.sparse import coo_array

        sharing = self.sharing
        flow, rate = self._columns
        application = sharing.application
        unit = self._units(scale, capped=capped)
        computing = np.flatnonzero(self.computes)
        carried = np.flatnonzero(self.useful & self.carries)
        rows = np.concatenate([sharing.host[computing], sharing.n_hosts + sharing.link[carried]])
        columns = np.concatenate([rate[computing], flow[carried]])
        demand = np.concatenate(
            [sharing.flop[application[computing]], sharing.byte[application[carried]]]
        )
        resource, row = np.unique(rows, return_inverse=True)
        usage = coo_array(
            (demand * unit[columns] / self.capacity[rows], (row, columns)),
            shape=(len(resource), len(unit)),
        ).tocsc()
        return Program(
            self,
            usage,
            self._balance(flow, rate, unit),
            resource,
            flow[sharing.masters],
            computing,
            rate[computing],
            unit,
        )

    def _units(self, scale: Floats, *, capped: bool) -> Floats:
        """Return the unit of each column [tasks/s]."""
        sharing = self.sharing
        flow, rate = self._columns
        computing = np.flatnonzero(self.computes)
        size = scale[sharing.application]
        alone = np.full(sharing.n_agents, np.inf)
        if capped:
            alone = sharing.speed[sharing.host] / sharing.flop[sharing.application]
            size = np.minimum(size, self.most)
            for level in sharing.levels[1:]:
                size[level] = np.minimum(size[level], size[sharing.parent[level]])
        unit = np.zeros(int(max(flow.max(), rate.max())) + 1)
        # Of the agents of a chain the last, the deepest and smallest, stays.
        unit[flow[self.useful]] = size[self.useful]
        unit[rate[computing]] = np.minimum(alone, size)[computing]
        return unit

    def _balance(self, flow: Integers, rate: Integers, unit: Floats) -> csc_array[np.float64]:
        """Return the rows of balance: tasks that an agent receives are computed or forwarded."""
        from scipy.sparse import coo_array

        sharing = self.sharing
        n_rates = np.count_nonzero(self.computes)
        useful = np.flatnonzero(self.useful)
        # The agent that a column of its own belongs to is the last of its chain.
        owner = np.full(len(unit), -1, dtype=np.int64)
        owner[flow[useful]] = useful
        rows = np.arange(n_rates, len(unit))
        children = useful[sharing.parent[useful] >= 0]
        children = children[owner[flow[sharing.parent[children]]] == sharing.parent[children]]
        children = children[flow[sharing.parent[children]] >= n_rates]
        own = owner[rows][self.computes[owner[rows]]]
        row = np.concatenate([rows, flow[sharing.parent[children]], flow[own]]) - n_rates
        column = np.concatenate([rows, flow[children], rate[own]])
        value = np.concatenate(
            [
                np.ones(len(rows)),
                -unit[flow[children]] / unit[flow[sharing.parent[children]]],
                -unit[rate[own]] / unit[flow[own]],
            ]
        )
        return coo_array((value, (row, column)), shape=(len(rows), len(unit))).tocsc()
