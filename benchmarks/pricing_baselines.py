r"""Baselines: a gradient that scales itself, and a primal-dual method. Pure iterations only.

Both begin with nothing, as `simplugin.pricing.policies.market` does: rates and prices are 0, and
one sweep has found what each application would reach alone, :math:`F_k`, and each agent,
:math:`X_n`. Neither has a step size to tune by the problem, and each needs per round what the
report's iteration needs: one sweep up each tree, and one down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.pricing.policies.gradient import inverse_marginal, next_price, task_price
from simplugin.pricing.policies.market import best_throughput, inverted, slots
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BaselineState:
    """Rates and prices between two rounds, and the constant steps.

    Attributes
    ----------
    rate, memory : float64, shape (n_agents,)
        Rate of each agent, and the average that it is drawn to [tasks/s].
    host_price, link_price : float64
        [utility/flop], [utility/byte].
    value : float64, shape (n_applications,)
        Worth of a task [utility/(tasks/s)].
    size : float64, shape (n_agents,)
        Step of each rate.
    host_size, link_size, value_size : float64
        Step of each price and worth.
    """

    rate: Floats
    memory: Floats
    host_price: Floats
    link_price: Floats
    value: Floats
    size: Floats
    host_size: Floats
    link_size: Floats
    value_size: Floats


def _begin(sharing: SharedDeployment, utility: AlphaFair) -> tuple[BaselineState, Floats, Floats]:
    """Return a state with nothing in it, and the bounds :math:`X_n` and :math:`F_k`."""
    if math.isinf(utility.alpha):
        raise WorkloadError("max-min fairness has no gradient; give a finite alpha")
    asked = slots(sharing)
    agents, applications = np.zeros(sharing.n_agents), np.zeros(sharing.n_applications)
    hosts, links = np.zeros(sharing.n_hosts), np.zeros(sharing.n_links)
    state = BaselineState(
        agents, agents, hosts, links, applications, agents, hosts, links, applications
    )
    return state, np.minimum(asked.bound[0], asked.alone[sharing.application]), asked.alone


def _summed(sharing: SharedDeployment, values: Floats, power: int) -> tuple[Floats, Floats]:
    """Return sums over hosts and links of an agent's values times its demand to a power."""
    owner, below = sharing.application, sharing.link >= 0
    of_hosts = sharing.flop[owner] ** power * values
    of_links = sharing.byte[owner] ** power * sharing.gather(values)
    return (
        np.bincount(sharing.host, of_hosts, sharing.n_hosts).astype(np.float64),
        np.bincount(sharing.link[below], of_links[below], sharing.n_links).astype(np.float64),
    )


@dataclass(frozen=True)
class AutomaticGradient:
    r"""The report's scaled rule with steps that scale themselves (its section 6).

    Eqs. (11) and (16) with :math:`\gamma^{(2)}_{n,k} = \mathrm{pace}\, X_n`, in the order of
    the rate itself, and Eqs. (17) and (18) with this step in the denominators, as the condition
    of stability has it: :math:`\sum a^2 \gamma^{(2)}_{n,k} / U'_k(\rho_k)`.

    Attributes
    ----------
    pace : float
        Of the rates.
    price : float
        Of the prices: the part of an overload that they remove in one round.
    memory : float
        Of the augmented rates, and of the pull to them. The defaults were the best of 36 settings
        on 8 problems.
    """

    pace: float = 0.03
    price: float = 0.03
    memory: float = 0.1

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> BaselineState:
        """Return the state before the first round."""
        state, bound, alone = _begin(sharing, utility)
        return replace(state, size=self.pace * bound, value=alone)

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: BaselineState
    ) -> BaselineState:
        """Return the state after one more round."""
        owner, link_price = sharing.application, state.link_price
        reached = np.clip(sharing.throughput(state.rate), 1e-4 * state.value, state.value)
        inverse = np.asarray(inverse_marginal(reached, sharing.weight, utility.alpha))[owner]
        cost = task_price(sharing, state.host_price, link_price)
        drawn = (1 - self.memory) * state.rate + self.memory * state.memory
        rate = np.maximum(drawn + state.size * (1 - inverse * cost), 0.0)
        asked = _summed(sharing, inverse * state.size, 2)
        load = sharing.host_load(state.rate), sharing.link_load(state.rate)
        host = next_price(state.host_price, load[0], sharing.speed, asked[0], self.price)
        link = next_price(link_price, load[1], sharing.bandwidth, asked[1], self.price)
        return replace(
            state,
            rate=rate,
            memory=(1 - self.memory) * state.memory + self.memory * state.rate,
            host_price=np.asarray(host),
            link_price=np.asarray(link),
        )


@dataclass(frozen=True)
class PrimalDual:
    r"""Chambolle and Pock's primal-dual method with diagonal preconditioning [1]_.

    Rows are loads relative to capacities and throughputs relative to :math:`F_k`, columns rates
    relative to :math:`F_k`. The step of each rate is the inverse of the sum of its column, that
    of each price and worth :math:`\nu_k` of a task the inverse of the sum of its row. With
    :math:`\bar x = 2 x_{new} - x`,

    .. math::
        x_n &\leftarrow [x_n + \tau_n (\nu_k - p_n)]^+, \quad
        \lambda_r \leftarrow [\lambda_r + \sigma_r (a \cdot \bar x - c_r)]^+, \\
        \nu_k &= U'_k(\rho_k), \quad \rho_k = \arg\max U_k(\rho)
            - \tfrac{\sigma_k}{2} (\rho - \bar\rho_k + \nu_k / \sigma_k)^2.

    Attributes
    ----------
    balance : float
        Steps of rates are this many times those of the reference, steps of prices its inverse.
        The default was the best of 0.03, 0.1, 0.3, 1 and 10 on 9 problems.

    References
    ----------
    .. [1] T. Pock, A. Chambolle (2011). Diagonal preconditioning for first order primal-dual
       algorithms in convex optimization. ICCV.
    """

    balance: float = 0.1

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> BaselineState:
        """Return the state before the first round."""
        state, bound, alone = _begin(sharing, utility)
        owner, computes = sharing.application, bound > 0
        by_host, by_link = inverted(sharing.speed), inverted(sharing.bandwidth)
        column = alone[owner] * task_price(sharing, by_host, by_link) + 1.0
        rows = _summed(sharing, np.where(computes, alone[owner], 0.0), 1)
        count = sharing.throughput(computes.astype(np.float64))
        worth = sharing.weight * utility.marginal(alone)
        # Utility of a unit, which makes primal and dual steps of one kind.
        unit = float(np.mean(worth * alone))
        return replace(
            state,
            value=worth,
            size=np.where(computes, self.balance * alone[owner] ** 2 / (column * unit), 0.0),
            host_size=unit / self.balance * by_host * inverted(rows[0]),
            link_size=unit / self.balance * by_link * inverted(rows[1]),
            value_size=unit / self.balance / (alone**2 * count),
        )

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: BaselineState
    ) -> BaselineState:
        """Return the state after one more round."""
        cost = task_price(sharing, state.host_price, state.link_price)
        gain = state.value[sharing.application] - cost
        rate = np.maximum(state.rate + state.size * gain, 0.0)
        onward = 2 * rate - state.rate
        middle = sharing.throughput(onward) - state.value / state.value_size
        _, value = best_throughput(middle, 1 / state.value_size, sharing.weight, utility)
        host = state.host_size * (sharing.host_load(onward) - sharing.speed)
        link = state.link_size * (sharing.link_load(onward) - sharing.bandwidth)
        return replace(
            state,
            rate=rate,
            value=value,
            host_price=np.maximum(state.host_price + host, 0.0),
            link_price=np.maximum(state.link_price + link, 0.0),
        )
