r"""Local markets: a decentralised method without steps to tune.

Fair sharing splits between *resources* and *applications*. Every resource (a host, a directed
link) holds a market in which agents bid for it; every application makes the offers of all
markets agree on its tree. Taking turns (Douglas-Rachford splitting, that is ADMM [1]_) leads to
the fair throughputs and the shadow prices. The two sweeps along the tree solve the coupling of
an application's agents exactly, where a gradient only approaches it.

An agent :math:`n` of application :math:`k` has up to two *slots* :math:`j`: computing, for which
a task demands :math:`a = w_k` of the host, if it may compute; receiving, :math:`a = b_k` of the
link above it, if it has one. A slot has a request :math:`d_j` and a metric :math:`\theta_j`
[utility per (tasks/s)^2]. A round:

1. **Market** of resource :math:`r` of capacity :math:`c_r`, its participants in agent order.
   The price :math:`\lambda_r` is the least :math:`\geq 0` at which the offers
   :math:`z'_j = [d_j - \lambda_r a_j / \theta_j]^+` fit, :math:`\sum_j a_j z'_j \leq c_r`. Begin
   with all slots of :math:`d_j > 0`, take
   :math:`\lambda = [(\sum a_j d_j - c_r) / \sum a_j^2 / \theta_j]^+`, drop the slots with an
   offer :math:`\leq 0`, and again, until none is dropped (exact, in as many passes as slots
   at most).
2. Each slot answers :math:`t_j = 2 z'_j - d_j`.
3. **Up**, leaves first. With :math:`t^x, t^f` and :math:`\theta^x, \theta^f` of the agent's two
   slots, a parent sums, first its own, then its children' in order,
   :math:`m_n = t^x_n + \sum_c M_c`, and, when the metric has changed,
   :math:`u_n = 1/\theta^x_n + \sum_c u_c v_c`; it sends
   :math:`M_n = v_n (m_n + \theta^f_n u_n t^f_n)` where :math:`v_n = 1 / (1 + \theta^f_n u_n)`.
   A missing computing slot has :math:`t^x = 1/\theta^x = 0`, a missing receiving slot
   :math:`\theta^f = 0`.
4. **Master**: throughput :math:`\rho_k = \arg\max w U(\rho) - (\rho - m)^2 / 2u` and its worth
   :math:`\nu = w U'(\rho_k)`.
5. **Down**: :math:`\nu_n = v_n (\nu_{parent} + \theta^f_n (t^f_n - m_n))`. The plan is
   :math:`x_n = t^x_n + \nu_n / \theta^x_n` and :math:`f_n = m_n + u_n \nu_n`. The slots' worths
   are :math:`y^x_n = \nu_n` and :math:`y^f_n = \nu_{parent} - \nu_n`.
6. **Request**: :math:`d_j \leftarrow z'_j + y_j / \theta_j + (\gamma - 1)(z_j - z'_j)`, with the
   new metric if it changes; :math:`z = (x, f)` and :math:`\gamma` is the relaxation. While the
   metric stays this is :math:`d_j \leftarrow d_j + \gamma (z_j - z'_j)`.

Nothing is known at the start: all requests are 0, and the first metric comes from what each
application would reach alone, :math:`F_k`, which one sweep up finds. With
:math:`\hat\rho_k = \rho_k` clipped to `LEAST` :math:`F_k` and :math:`F_k` (to begin with
:math:`F_k`), the value :math:`\pi_k = w U'(\hat\rho_k)` and the size :math:`X_j` of a slot, the
lesser of its bound and :math:`\hat\rho_k`, the first metric is
:math:`\theta_j =` `SIZE` :math:`\pi_k / X_j`. It changes after rounds 1, 3, 5, 8, 13, 21...
(`GROWTH`):

.. math:: \theta_j = \mathrm{SIZE} \frac{\pi_k}{X_j} \varphi_r \sqrt{
    \frac{\min(a_j \lambda_r / \pi_k, \mathrm{CEILING}) + \mathrm{FLOOR}}
    {\min(z'_j / X_j, \mathrm{CEILING}) + \mathrm{FLOOR}}}.

Each resource balances what its slots' offers and prices still do. Every round, with
:math:`p_j = \theta_j (d_j - z'_j)` as the market saw them, summed over its slots in agent order,

.. math::
    P_r &\leftarrow \mathrm{MEMORY}\, P_r
        + \sum_j ((z_j - z'_j) / X_j)^2 + ((p_j - p_j^{before}) / \pi_k)^2 \\
    D_r &\leftarrow \mathrm{MEMORY}\, D_r
        + \sum_j (\theta_j (z'_j - z'^{before}_j) / \pi_k)^2 + (\theta_j (z_j - z'_j) / \pi_k)^2

with the :math:`\pi` and :math:`X` of the round's :math:`\rho_k`, and, when the metric changes,
:math:`\varphi_r \leftarrow \varphi_r (P_r / D_r)^{STRENGTH}`, this factor clipped to
`REBALANCE`; :math:`\varphi_r = 1` at first, and stays where :math:`P_r` or :math:`D_r` is 0.

Along each edge of each tree go :math:`M_n` up, and :math:`u_n v_n` when the metric has changed;
:math:`\nu_n` and :math:`\rho_k` down. All else stays between an agent and the managers of its host
and of the link above it.

References
----------
.. [1] S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein (2011). Distributed optimization and
   statistical learning via the alternating direction method of multipliers. Foundations and
   Trends in Machine Learning 3(1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simplugin.core.elementary import exp, log, power
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.workloads.shared_deployment import AlphaFair, Floats, Integers, SharedDeployment

# How fast the rounds at which the metric changes grow apart.
GROWTH = 1.5
# The metric relative to marginal value over size, and how little and how much of a price or an
# offer counts.
SIZE = 0.5
FLOOR, CEILING = 0.01, 3.0
# Part of its residuals that a resource remembers after a round; strength and bounds of their effect
# on its metric.
MEMORY = 0.5
STRENGTH = 0.4
REBALANCE = 0.25, 4.0
# Lower bound on an application's estimated throughput, relative to its throughput alone.
LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class MarketState:
    r"""State of all slots, agents, resources and applications.

    Attributes
    ----------
    slots : Slots
        The slots.
    request, metric : float64, shape (2, n_agents)
        For the next round [tasks/s], [utility/(tasks/s)^2]; 0 without a slot.
    offer, plan : float64, shape (2, n_agents)
        Offers of the markets, and plans of the applications [tasks/s].
    paid : float64, shape (2, n_agents)
        Cost of each slot's offer per task [utility/(tasks/s)]; less without an offer.
    price : float64, shape (n_hosts + n_links,)
        Of each resource [utility/flop], [utility/byte].
    inverse, give : float64, shape (2, n_agents)
        :math:`1/\theta` and :math:`a/\theta` of the metric; 0 without a slot.
    slack, share : float64, shape (n_agents,)
        :math:`u` and :math:`v` of the metric.
    reached : float64, shape (n_applications,)
        The throughput that each application planned [tasks/s].
    balance, planned, moved : float64, shape (n_hosts + n_links,)
        Each resource's factor of the metric, and the residuals that led to it.
    part : float64, shape (n_agents,)
        Part of each agent's offer that is computed: 1, or what its links can carry (`feasible`).
    number, next_metric : int
        Rounds done, and the round after which the metric changes next.
    step : float
        Rounds between the last two changes of the metric.
    """

    slots: Slots
    request: Floats
    metric: Floats
    offer: Floats
    plan: Floats
    paid: Floats
    price: Floats
    inverse: Floats
    give: Floats
    slack: Floats
    share: Floats
    reached: Floats
    balance: Floats
    planned: Floats
    moved: Floats
    part: Floats
    number: int = 0
    next_metric: int = 1
    step: float = 1.0

    @property
    def rate(self) -> Floats:
        """Tasks that each agent computes [tasks/s], shape (n_agents,)."""
        return np.asarray(self.offer[0] * self.part)

    @property
    def host_price(self) -> Floats:
        """Price of computation on each host [utility/flop], shape (n_hosts,)."""
        return self.price[: self.slots.n_hosts]

    @property
    def link_price(self) -> Floats:
        """Price of traffic on each link [utility/byte], shape (n_links,)."""
        return self.price[self.slots.n_hosts :]


@dataclass(frozen=True)
class MarketIteration:
    """The method with local knowledge only.

    Attributes
    ----------
    relaxation : float
        Step of a request towards the plan, above 0 and below 2; 0.2 to 0.5 without rounds.
    feasible : bool
        True if an agent computes at most the offers of all links on its route: no resource is
        overloaded in any round, at the cost of one more number up and down each edge of a tree.
        Otherwise the offers of hosts are in force, which overload links in early rounds. In runs
        without rounds messages are old, and even feasible rates may overload a resource.

    Raises
    ------
    WorkloadError
        `relaxation` is out of its range.
    """

    relaxation: float = 1.5
    feasible: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        # Parameters of a scenario may be of any type.
        given: object = self.relaxation
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 2:
            raise WorkloadError(
                f"relaxation is {self.relaxation!r}; give a number between 0 and 2, without either"
            )

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> MarketState:
        """Return the state before the first round: nothing is known but the bounds."""
        if math.isinf(utility.alpha):
            raise WorkloadError("max-min fairness has no utility to trade; give a finite alpha")
        asked = slots(sharing)
        zero, none = np.zeros_like(asked.demand), np.zeros(len(asked.capacity))
        agents, one = np.zeros(sharing.n_agents), np.ones(len(asked.capacity))
        state = MarketState(
            *(asked, zero, zero, zero, zero, zero, none, zero, zero, agents, agents, asked.alone),
            *(one, none, none, np.ones(sharing.n_agents)),
        )
        return with_metric(sharing, state, first_metric(sharing, utility, state))

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: MarketState
    ) -> MarketState:
        """Return the state after one more round."""
        offer, price = clear(state)
        plan, worth, reached = plan_applications(sharing, utility, state, 2 * offer - state.request)
        after = replace(
            state,
            offer=offer,
            plan=plan,
            paid=state.metric * (state.request - offer),
            price=price,
            reached=reached,
            part=carried(sharing, state.slots, offer) if self.feasible else state.part,
            number=state.number + 1,
        )
        after = remember(sharing, utility, state, after)
        if after.number >= state.next_metric:
            after = adapt(sharing, utility, after)
        request = offer + worth * after.inverse + (self.relaxation - 1) * (plan - offer)
        return replace(after, request=state.slots.cleared(request))


def clear(state: MarketState) -> tuple[Floats, Floats]:
    """Return the offers and the prices of all markets: step 1.

    Returns
    -------
    offer : float64, shape (2, n_agents)
        Of each slot [tasks/s].
    price : float64, shape (n_hosts + n_links,)
        Of each resource [utility/flop], [utility/byte].
    """
    asked = state.slots
    capacity = asked.capacity
    price = np.zeros(len(capacity))
    left = np.flatnonzero(state.request > 0)
    resource, demand = asked.resource[left], asked.demand.ravel()[left]
    request, give = state.request.ravel()[left], state.give.ravel()[left]
    wants, yields = demand * request, demand * give
    offer = np.zeros_like(state.request)
    while True:
        wanted = np.bincount(resource, wants, len(capacity))
        yielded = np.bincount(resource, yields, len(capacity))
        np.divide(wanted - capacity, yielded, out=price, where=yielded > 0)
        np.maximum(price, 0.0, out=price)
        spent = price[resource] * give
        stays = request > spent
        offer.ravel()[left] = np.where(stays, request - spent, 0.0)
        if np.all(stays):
            return offer, price
        # Resources are done once all their slots stay.
        going = np.zeros(len(capacity), dtype=bool)
        going[resource[~stays]] = True
        stays &= going[resource]
        left, resource = left[stays], resource[stays]
        request, give, wants, yields = (each[stays] for each in (request, give, wants, yields))


def carried(sharing: SharedDeployment, asked: Slots, offer: Floats) -> Floats:
    """Return the part of each agent's offer that all links on its way are offered, too.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.
    asked : Slots
        Its slots.
    offer : float64, shape (2, n_agents)
        Of each slot [tasks/s].
    """
    flow, part = offer[0].copy(), np.ones(sharing.n_agents)
    room = np.where(asked.demand[1] > 0, offer[1], np.inf)
    for level in reversed(sharing.levels):
        passed = np.minimum(flow[level], room[level])
        np.divide(passed, flow[level], out=part[level], where=flow[level] > 0)
        if level.start:
            np.add.at(flow, sharing.parent[level], passed)
    for level in sharing.levels[1:]:
        part[level] *= part[sharing.parent[level]]
    return part


def plan_applications(
    sharing: SharedDeployment, utility: AlphaFair, state: MarketState, answer: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the plan of every application for the offers: steps 3 to 5.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.
    utility : AlphaFair
        Of every application.
    state : MarketState
        For the metric.
    answer : float64, shape (2, n_agents)
        :math:`t` of each slot [tasks/s]; 0 without a slot.

    Returns
    -------
    plan : float64, shape (2, n_agents)
        Planned rate and flow of each agent [tasks/s].
    worth : float64, shape (2, n_agents)
        Marginal value of each slot [utility/(tasks/s)].
    reached : float64, shape (n_applications,)
        Throughput of each application [tasks/s].
    """
    slack, share, parent = state.slack, state.share, sharing.parent
    pull = state.metric[1]
    middle = answer[0].copy()
    push = pull * answer[1]
    for level in reversed(sharing.levels[1:]):
        sent = share[level] * (middle[level] + slack[level] * push[level])
        np.add.at(middle, parent[level], sent)
    masters = sharing.masters
    reached, value = best_throughput(middle[masters], slack[masters], sharing.weight, utility)
    nu = np.zeros(sharing.n_agents)
    nu[masters] = value
    above = np.zeros(sharing.n_agents)
    bent = push - pull * middle
    for level in sharing.levels[1:]:
        above[level] = nu[parent[level]]
        nu[level] = share[level] * (above[level] + bent[level])
    plan = np.stack([answer[0] + nu * state.inverse[0], middle + slack * nu])
    return state.slots.cleared(plan), state.slots.cleared(np.stack([nu, above - nu])), reached


def first_metric(sharing: SharedDeployment, utility: AlphaFair, state: MarketState) -> Floats:
    r"""Return :math:`\mathrm{SIZE}\, \pi_k / X_j`, the metric while no price is known."""
    value, size = scales(sharing, utility, state)
    return SIZE * value * inverted(size)


def with_metric(sharing: SharedDeployment, state: MarketState, metric: Floats) -> MarketState:
    """Return the state with another metric; one sweep upwards computes u and v."""
    inverse = inverted(metric)
    slack = inverse[0].copy()
    share = np.ones(sharing.n_agents)
    for level in reversed(sharing.levels[1:]):
        share[level] = 1 / (1 + metric[1, level] * slack[level])
        np.add.at(slack, sharing.parent[level], slack[level] * share[level])
    give = np.divide(state.slots.demand, metric, out=np.zeros_like(metric), where=metric > 0)
    return replace(state, metric=metric, inverse=inverse, give=give, slack=slack, share=share)


def scales(
    sharing: SharedDeployment, utility: AlphaFair, state: MarketState
) -> tuple[Floats, Floats]:
    r"""Return :math:`\pi_k` of each agent's application and :math:`X_j` of each slot."""
    alone = state.slots.alone
    reached = np.clip(state.reached, LEAST * alone, alone)
    value = sharing.weight * utility.marginal(reached)
    return value[sharing.application], np.minimum(state.slots.bound, reached[sharing.application])


def remember(
    sharing: SharedDeployment, utility: AlphaFair, before: MarketState, after: MarketState
) -> MarketState:
    """Return the state with this round's residuals added to each resource's memory."""
    value, size = scales(sharing, utility, after)
    missed = after.plan - after.offer
    shift = before.metric * (after.offer - before.offer) / value
    planned = (missed * inverted(size)) ** 2 + ((after.paid - before.paid) / value) ** 2
    moved = shift**2 + (before.metric * missed / value) ** 2
    return replace(
        after,
        planned=MEMORY * before.planned + after.slots.total(planned),
        moved=MEMORY * before.moved + after.slots.total(moved),
    )


def adapt(sharing: SharedDeployment, utility: AlphaFair, state: MarketState) -> MarketState:
    """Return the state with a metric after prices and offers, and the next change planned."""
    value, size = scales(sharing, utility, state)
    ratio = np.ones_like(state.planned)
    known = (state.planned > 0) & (state.moved > 0)
    np.divide(state.planned, state.moved, out=ratio, where=known)
    balance = state.balance * np.clip(power(ratio, STRENGTH), *REBALANCE)
    price, balances = state.slots.of_resources(state.price), state.slots.of_resources(balance)
    with np.errstate(invalid="ignore", divide="ignore"):  # without a slot, cleared below
        cost = state.slots.demand * price / value
        part = state.offer / size
        pull = np.sqrt((np.minimum(cost, CEILING) + FLOOR) / (np.minimum(part, CEILING) + FLOOR))
        metric = SIZE * value / size * pull * balances
    metric = state.slots.cleared(metric)
    step = state.step * GROWTH
    return replace(
        with_metric(sharing, state, metric),
        balance=balance,
        next_metric=state.number + max(1, round(step)),
        step=step,
    )


@dataclass(frozen=True, eq=False)
class Slots:
    """Slots of all agents.

    Attributes
    ----------
    demand : float64, shape (2, n_agents)
        Demand of a task for the host [flop] and the link above [byte]; 0 without a slot.
    bound : float64, shape (2, n_agents)
        Maximum rate and flow of an agent alone [tasks/s]; 0 without a slot.
    alone : float64, shape (n_applications,)
        Throughput of each application alone [tasks/s].
    missing : int64
        Where there is no slot, in the raveled order of `demand`.
    resource : int64, shape (2 * n_agents,)
        The host of each slot, or ``n_hosts`` plus the link; ``n_hosts + n_links`` without a slot.
    capacity : float64, shape (n_hosts + n_links,)
        Of each resource.
    n_hosts : int
        Number of hosts.
    """

    demand: Floats
    bound: Floats
    alone: Floats
    missing: Integers
    resource: Integers
    capacity: Floats
    n_hosts: int

    def cleared(self, values: Floats) -> Floats:
        """Set values, shape (2, n_agents), to 0 where there is no slot."""
        values.ravel()[self.missing] = 0.0
        return values

    def of_resources(self, values: Floats) -> Floats:
        """Return the value of each slot's resource, 0 without a slot, shape (2, n_agents)."""
        return np.append(values, 0.0)[self.resource].reshape(self.demand.shape)

    def total(self, values: Floats) -> Floats:
        """Return the sum of values, shape (2, n_agents), over each resource, agents in order."""
        sums = np.bincount(self.resource, values.ravel(), len(self.capacity) + 1)
        return np.asarray(sums[:-1], dtype=float)


def slots(sharing: SharedDeployment) -> Slots:
    """Return the slots of all agents, in one sweep down and one up.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.

    Raises
    ------
    InfeasibleError
        An application reaches no host that computes; the message names it.
    """
    flop, byte = sharing.flop[sharing.application], sharing.byte[sharing.application]
    # The last is for masters, which are behind no link.
    bandwidth = np.append(sharing.bandwidth, np.inf)
    with np.errstate(divide="ignore"):
        across = np.where((byte > 0) & (sharing.link >= 0), bandwidth[sharing.link] / byte, np.inf)
    reached = across > 0
    for level in sharing.levels[1:]:
        reached[level] &= reached[sharing.parent[level]]
    computing = np.where(reached & sharing.computes, sharing.speed[sharing.host] / flop, 0.0)
    below = computing.copy()
    for level in reversed(sharing.levels[1:]):
        np.add.at(below, sharing.parent[level], np.minimum(below[level], across[level]))
    alone = below[sharing.masters]
    if np.any(alone <= 0):
        name = sharing.applications[int(np.argmin(alone))]
        raise InfeasibleError(f"application {name!r} reaches no host that computes; give it one")
    receiving = np.where((across < np.inf) & reached, np.minimum(below, across), 0.0)
    bound = np.stack([computing, receiving])
    demand = np.where(bound > 0, np.stack([flop, byte]), 0.0)
    resource = np.concatenate([sharing.host, sharing.n_hosts + sharing.link])
    missing = np.flatnonzero(bound <= 0)
    resource[missing] = sharing.n_hosts + sharing.n_links
    capacity = np.concatenate([sharing.speed, sharing.bandwidth])
    return Slots(demand, bound, alone, missing, resource, capacity, sharing.n_hosts)


def inverted(values: Floats) -> Floats:
    """Return 1 / values, and 0 where they are 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def best_throughput(
    middle: Floats, slack: Floats, weight: Floats, utility: AlphaFair
) -> tuple[Floats, Floats]:
    r"""Return :math:`\arg\max w U(\rho) - (\rho - m)^2 / 2u`, and :math:`w U'` there.

    Step 4 of a round of `simplugin.pricing.policies.market`.

    Parameters
    ----------
    middle, slack, weight : float64, shape (n_applications,)
        :math:`m` [tasks/s], :math:`u` [(tasks/s)^2/utility] and :math:`w`.
    utility : AlphaFair
        :math:`U`, with a finite alpha. At 0 no throughput needs to be above 0.

    Returns
    -------
    reached : float64, shape (n_applications,)
        The throughputs [tasks/s].
    value : float64, shape (n_applications,)
        Worth of one more task per second [utility/(tasks/s)].
    """
    alpha = utility.alpha
    scaled = slack * weight
    if alpha == 0:
        reached = np.maximum(middle + scaled, 0.0)
        return reached, np.where(reached > 0, weight, -middle / slack)
    if alpha == 1:
        root = np.sqrt(middle**2 + 4 * scaled)
        half = (np.abs(middle) + root) / 2
        reached = np.where(middle > 0, half, scaled / half)
        return reached, weight / reached
    # Newton on ln(rho - m) + alpha ln(rho) = ln(u w): in ln(rho - m) above m = 0, where this is
    # convex from the right, and in ln(rho) below, likewise.
    positive = middle > 0
    size = np.abs(middle)
    y = log(scaled) / (1 + alpha)
    # Each application stops at its own accuracy, so that its master alone has the same result.
    going = np.ones(len(y), dtype=bool)
    for _ in range(100):
        above = exp(y)
        whole = size + above
        slope = np.where(positive, 1 + alpha * above / whole, above / whole + alpha)
        value = np.where(positive, y + alpha * log(whole), log(whole) + alpha * y)
        step = (value - log(scaled)) / slope
        y = np.where(going, y - step, y)
        going &= np.abs(step) > 1e-15 * np.maximum(np.abs(y), 1.0)
        if not np.any(going):
            break
    reached = np.where(positive, size + exp(y), exp(y))
    return reached, weight * utility.marginal(reached)
