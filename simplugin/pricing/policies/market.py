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
from simplugin.pricing.policies.trees import trees_of
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
    slack, share : float64, shape (n_agents,)
        :math:`u` and :math:`v` of the metric.
    reached : float64, shape (n_applications,)
        The throughput that each application planned [tasks/s].
    balance : float64, shape (n_hosts + n_links,)
        Each resource's factor of the metric.
    residual : float64, shape (n_hosts + n_links, 2)
        :math:`P_r` and :math:`D_r`, which led to it.
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
    slack: Floats
    share: Floats
    reached: Floats
    balance: Floats
    residual: Floats
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
            *(asked, zero, zero, zero, zero, zero, none, agents, agents, asked.alone),
            *(one, np.zeros((len(one), 2)), np.ones(sharing.n_agents)),
        )
        return with_metric(sharing, state, first_metric(sharing, utility, state))

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: MarketState
    ) -> MarketState:
        """Return the state after one more round."""
        after, nu = settle(sharing, utility, self.relaxation, state, *clear(sharing, state))
        if self.feasible:
            part = trees_of(sharing).carried(after.offer, state.slots.bound)
            after = replace(after, part=part)
        if after.number < state.next_metric:
            return after
        after = adapt(sharing, utility, after)
        now = after.offer, after.plan, nu, after.metric
        return replace(after, request=trees_of(sharing).move(*now, self.relaxation))


def clear(sharing: SharedDeployment, state: MarketState) -> tuple[Floats, Floats]:
    """Return the offers and the prices of all markets: step 1.

    Returns
    -------
    offer : float64, shape (2, n_agents)
        Of each slot [tasks/s].
    price : float64, shape (n_hosts + n_links,)
        Of each resource [utility/flop], [utility/byte].
    """
    return trees_of(sharing).clear(state.request, state.metric, demands(sharing))


def settle(
    sharing: SharedDeployment,
    utility: AlphaFair,
    relaxation: float,
    state: MarketState,
    offer: Floats,
    price: Floats,
    plan: Floats | None = None,
) -> tuple[MarketState, Floats]:
    r"""Return the state after a round in which the metric stays: steps 2 to 6, and the residuals.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.
    utility : AlphaFair
        Of every application.
    relaxation : float
        Step of a request towards the plan.
    state : MarketState
        Before the round.
    offer : float64, shape (2, n_agents)
        Of the markets [tasks/s].
    price : float64, shape (n_hosts + n_links,)
        Of each resource.
    plan : float64, shape (2, n_agents), optional
        What the slots take for the plan; by default the plan.

    Returns
    -------
    MarketState
        After the round.
    nu : float64, shape (n_agents,)
        :math:`\nu` of each agent [utility/(tasks/s)].
    """
    trees, masters = trees_of(sharing), sharing.masters
    weights = state.slack, state.share
    middle = trees.answers(offer, state.request, state.metric, *weights)
    reached, value = best_throughput(middle[masters], state.slack[masters], sharing.weight, utility)
    after = replace(state, offer=offer, price=price, reached=reached, number=state.number + 1)
    found = trees.settle(
        request=state.request,
        metric=state.metric,
        offer=offer,
        bound=state.slots.bound,
        offer_before=state.offer,
        paid_before=state.paid,
        middle=middle,
        slack=state.slack,
        share=state.share,
        numbers=np.stack([value, *scales(sharing, utility, after)]),
        residual=state.residual,
        relaxation=relaxation,
        memory=MEMORY,
        plan=plan,
    )
    plan, paid, request, nu, residual = found
    return replace(after, plan=plan, paid=paid, request=request, residual=residual), nu


def first_metric(sharing: SharedDeployment, utility: AlphaFair, state: MarketState) -> Floats:
    r"""Return :math:`\mathrm{SIZE}\, \pi_k / X_j`, the metric while no price is known."""
    value, reached = (each[sharing.application] for each in scales(sharing, utility, state))
    return SIZE * value * inverted(np.minimum(state.slots.bound, reached))


def with_metric(sharing: SharedDeployment, state: MarketState, metric: Floats) -> MarketState:
    """Return the state with another metric; one sweep upwards computes u and v."""
    slack, share = trees_of(sharing).weights(metric)
    return replace(state, metric=metric, slack=slack, share=share)


def scales(
    sharing: SharedDeployment, utility: AlphaFair, state: MarketState
) -> tuple[Floats, Floats]:
    r"""Return :math:`\pi_k` and :math:`\hat\rho_k` of each application."""
    alone = state.slots.alone
    reached = np.clip(state.reached, LEAST * alone, alone)
    return sharing.weight * utility.marginal(reached), reached


def demands(sharing: SharedDeployment) -> Floats:
    """Return the demands of a task for hosts and links, shape (2, n_applications)."""
    return np.stack([sharing.flop, sharing.byte])


def adapt(sharing: SharedDeployment, utility: AlphaFair, state: MarketState) -> MarketState:
    """Return the state with a metric after prices and offers, and the next change planned."""
    planned, moved = state.residual.T
    ratio = np.ones_like(planned)
    np.divide(planned, moved, out=ratio, where=(planned > 0) & (moved > 0))
    balance = state.balance * np.clip(power(ratio, STRENGTH), *REBALANCE)
    metric = trees_of(sharing).adapt(
        offer=state.offer,
        bound=state.slots.bound,
        demand=demands(sharing),
        numbers=np.stack(scales(sharing, utility, state)),
        price=state.price,
        balance=balance,
        size=SIZE,
        floor=FLOOR,
        ceiling=CEILING,
    )
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
