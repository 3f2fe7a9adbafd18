"""The report's gradient iterations on a grid: unscaled (Eqs. 10 to 16) and scaled (17, 18).

Every function here works on arrays as on single numbers, and writes out the operations in the
order in which an agent, or a price manager, makes them: the unscaled iteration amplifies the
last bit, so that only the same order gives the same trajectory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from simplugin.core.elementary import power
from simplugin.core.errors import WorkloadError
from simplugin.pricing.policies.trees import trees_of
from simplugin.workloads.shared_deployment import AlphaFair, Floats, Integers, SharedDeployment

Numbers = float | Floats


class AgentSteps(NamedTuple):
    """Step sizes and starting rate of one agent, or of all as arrays; see `StepSizes`."""

    memory: Numbers
    rate: Numbers
    utility: Numbers
    start_rate: Numbers
    least: Numbers


@dataclass(frozen=True, slots=True)
class StepSizes:
    """Step sizes and starting values; the defaults are those of Table 1 of the report.

    Each is one number for all, or a sequence: one number an application, in their order; for
    `host` and `start_host_price` one a host, for `link` and `start_link_price` one a link.

    Attributes
    ----------
    memory : float or tuple of float
        Of the augmented rates in Eq. (11).
    rate : float or tuple of float
        Of the pull to the augmented rates in Eq. (16), or Eq. (12).
    utility : float or tuple of float
        Of the pull of utility and price in Eq. (16), or Eq. (12) [tasks/s].
    host, link : float or tuple of float
        Of the prices in Eqs. (14) and (15), or (17) and (18).
    start_rate : float or tuple of float
        Rate of every agent that computes, and its augmented rate, before round 1 [tasks/s].
    start_host_price, start_link_price : float or tuple of float
        Prices before round 1 [utility/flop], [utility/byte].
    least : float or tuple of float
        Throughput below which Eq. (12) takes the marginal utility of this one, as it divides
        by the throughput; Eq. (16) needs no such thing [tasks/s].

    Raises
    ------
    WorkloadError
        One of them is no number, negative or infinite.
    """

    memory: float | tuple[float, ...] = 0.02
    rate: float | tuple[float, ...] = 0.02
    utility: float | tuple[float, ...] = 100.0
    host: float | tuple[float, ...] = 5e-3
    link: float | tuple[float, ...] = 5e-4
    start_rate: float | tuple[float, ...] = 6e5
    start_host_price: float | tuple[float, ...] = 2e-2
    start_link_price: float | tuple[float, ...] = 2e-2
    least: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        """Check the fields; sequences become tuples."""
        for field_ in fields(self):
            name, value = field_.name, getattr(self, field_.name)
            if isinstance(value, list | tuple | np.ndarray):
                value = tuple(np.asarray(value).tolist())
                object.__setattr__(self, name, value)
            for each in value if isinstance(value, tuple) else (value,):
                if not (isinstance(each, (int, float)) and 0 <= each < math.inf):
                    raise WorkloadError(f"{name} is {value!r}; give a number from 0 on")

    def check(self, sharing: SharedDeployment) -> None:
        """Raise WorkloadError unless each sequence has a number for each it is for."""
        of_hosts = ("host", "start_host_price"), sharing.n_hosts, "hosts"
        of_links = ("link", "start_link_price"), sharing.n_links, "links"
        of_applications = AgentSteps._fields, sharing.n_applications, "applications"
        for names, count, what in (of_hosts, of_links, of_applications):
            for name in names:
                value = getattr(self, name)
                if isinstance(value, tuple) and len(value) != count:
                    raise WorkloadError(
                        f"{name} has {len(value)} numbers for {count} {what}; give {count}, in"
                        " their order, or one number for all"
                    )

    def of_agents(self, application: int | Integers) -> AgentSteps:
        """Return the numbers of one agent, or of all, by their applications."""
        return AgentSteps(*(_of(getattr(self, name), application) for name in AgentSteps._fields))

    def of_resource(self, number: int, *, is_host: bool) -> tuple[float, float]:
        """Return the step size and the starting price of a host or a link."""
        step, start = (
            (self.host, self.start_host_price) if is_host else (self.link, self.start_link_price)
        )
        return float(_of(step, number)), float(_of(start, number))


def _of(value: float | tuple[float, ...], number: int | Integers) -> Any:
    """Return the number, or numbers, by index; a single number holds for all."""
    if not isinstance(value, tuple):
        return value
    return value[number] if isinstance(number, int) else np.array(value)[number]


@dataclass(frozen=True, slots=True)
class GradientAssumptions:
    """Choices where the report's equations are ambiguous.

    Attributes
    ----------
    late : bool
        True if the throughput that an agent receives in a round, Eq. (13), is that of the rates
        of the round before; False for that of the rates before this round's update.
    fresh : bool
        True if the throughput in the denominators of Eqs. (17) and (18) is that of the rates that
        make the loads; False if it is the one that agents received.
    seidel : bool
        True if price managers see the rates after this round's update.
    counted : bool
        True if the denominator of Eq. (18) counts, for an agent, all that compute at or below
        it; False if it counts each once.
    normalised : bool
        True if rates follow Eq. (16), False for Eq. (12).
    """

    late: bool = False
    fresh: bool = False
    seidel: bool = False
    counted: bool = True
    normalised: bool = True


@dataclass(frozen=True, eq=False)
class GradientState:
    """Rates and prices between two rounds.

    Attributes
    ----------
    rate, memory : float64, shape (n_agents,)
        Rate of each agent, and its augmented rate [tasks/s].
    host_price : float64, shape (n_hosts,)
        [utility/flop].
    link_price : float64, shape (n_links,)
        [utility/byte].
    received : float64, shape (n_applications,)
        Throughput of the rates before the last round [tasks/s].
    count : float64, shape (n_agents,)
        Number of agents that compute at each agent or below it.
    """

    rate: Floats
    memory: Floats
    host_price: Floats
    link_price: Floats
    received: Floats
    count: Floats


def inverse_marginal(throughput: Numbers, weight: Numbers, alpha: float) -> Numbers:
    """Return ``1 / U'(rho_k)``, which is ``rho_k`` itself for proportional fairness.

    Parameters
    ----------
    throughput : float64
        Of an application [tasks/s].
    weight : float64
        Of its utility.
    alpha : float
        Of the fairness.
    """
    if alpha == 1:
        return throughput / weight
    return power(throughput, alpha) / weight


def next_memory(rate: Numbers, memory: Numbers, steps: AgentSteps) -> Numbers:
    """Return the augmented rate after a round, Eq. (11)."""
    return (1 - steps.memory) * memory + steps.memory * rate


def next_rate(rate: Numbers, memory: Numbers, pull: Numbers, steps: AgentSteps) -> Numbers:
    r"""Return the rate after a round, Eq. (12) or (16), for any utility.

    The report normalises by :math:`\rho_k`, which is :math:`1/U'_k(\rho_k)` for the logarithm;
    so the pull of Eq. (16) is :math:`1 - p / U'_k(\rho_k)` here.

    Parameters
    ----------
    rate, memory : float64
        Rate and augmented rate before [tasks/s].
    pull : float64
        Eq. (12): marginal utility less the price of a task, Eq. (10) [utility/task]. Eq. (16): the
        same, relative to the marginal utility.
    steps : AgentSteps
        Step sizes.
    """
    drawn = (1 - steps.rate) * rate + steps.rate * memory
    return _positive(drawn + steps.utility * pull)


def next_price(
    price: Numbers, load: Numbers, capacity: Numbers, demand: Numbers, step: Numbers
) -> Numbers:
    """Return the price of a resource after a round, Eqs. (14), (15), (17) and (18).

    Without demand the denominator vanishes, and the price is 0: the limit of the equation, as
    the load is below the capacity then.

    Parameters
    ----------
    price : float64
        Before [utility/flop] or [utility/byte].
    load, capacity : float64
        Of the resource [flop/s] or [byte/s].
    demand : float64
        The denominator; 1.0 in Eqs. (14) and (15).
    step : float64
        Step size.
    """
    if isinstance(demand, float):
        return _positive(price + step * ((load - capacity) / demand)) if demand > 0 else 0.0
    asked = np.greater(demand, 0)
    with np.errstate(over="ignore"):
        change = (load - capacity) / np.where(asked, demand, 1.0)
        return np.where(asked, np.maximum(price + step * change, 0.0), 0.0)


def _positive(value: Numbers) -> Numbers:
    """Return the values, and 0 for negative ones."""
    if isinstance(value, float):
        return 0.0 if value <= 0 else value
    return np.maximum(value, 0.0)


def path_price(sharing: SharedDeployment, link_price: Floats) -> Floats:
    r"""Return the price of a byte from the master to each agent, :math:`\eta`.

    Link prices are added from the master down, that of the link to the agent itself included
    (Algorithm 3 leaves it out; the definition of :math:`\eta` has it).

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.
    link_price : float64, shape (n_links,)
        [utility/byte].

    Returns
    -------
    float64, shape (n_agents,)
        [utility/byte].
    """
    eta = np.zeros(sharing.n_agents)
    for level in sharing.levels[1:]:
        eta[level] = eta[sharing.parent[level]] + link_price[sharing.link[level]]
    return eta


def task_price(sharing: SharedDeployment, host_price: Floats, link_price: Floats) -> Floats:
    """Return the cost of a task at each agent, Eq. (10) [utility/task], shape (n_agents,)."""
    owner = sharing.application
    eta = path_price(sharing, link_price)
    return sharing.byte[owner] * eta + sharing.flop[owner] * host_price[sharing.host]


@dataclass(frozen=True, slots=True)
class GradientIteration:
    r"""The report's iteration with fixed steps, scaled or not [1]_.

    A round, all of it from the values before it unless `reading` says otherwise: throughputs
    are gathered up the trees and broadcast (13), prices are added up down the trees (10), agents
    update their rates (11, 16), and managers their prices: (17, 18), or (14, 15) if not `scaled`.

    For another utility than the logarithm, and for weights, :math:`1/U'_k(\rho_k)` stands
    wherever the report has :math:`\rho_k` as a scale.

    Attributes
    ----------
    scaled : bool
        True if prices follow Eqs. (17) and (18), False for (14) and (15).
    steps : StepSizes
        Step sizes and starting values.
    reading : GradientAssumptions
        Choices that the report leaves.

    References
    ----------
    .. [1] R. Bertin, A. Legrand, C. Touati (2007). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Research report, INRIA.
    """

    scaled: bool = True
    steps: StepSizes = field(default_factory=StepSizes)
    reading: GradientAssumptions = field(default_factory=GradientAssumptions)

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> GradientState:
        """Return Table 1's rates and prices.

        Raises
        ------
        WorkloadError
            The fairness is max-min, which has no utility to follow the gradient of; or there are
            not as many step sizes as applications or resources.
        """
        self.steps.check(sharing)
        if math.isinf(utility.alpha):
            raise WorkloadError("max-min fairness has no gradient; give a finite alpha")
        own = self.steps.of_agents(sharing.application)
        rate = np.where(sharing.computes, own.start_rate, 0.0)
        host_price = np.full(sharing.n_hosts, self.steps.start_host_price)
        link_price = np.full(sharing.n_links, self.steps.start_link_price)
        count = sharing.gather(sharing.computes.astype(float))
        return GradientState(rate, rate, host_price, link_price, sharing.throughput(rate), count)

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: GradientState
    ) -> GradientState:
        """Return the state after one more round."""
        reading = self.reading
        steps = self.steps.of_agents(np.arange(sharing.n_applications))
        numbers = sharing.flop, sharing.byte, sharing.weight, state.received
        rows = *numbers, steps.memory, steps.rate, steps.utility, steps.least
        found = trees_of(sharing).gradient(
            state.rate,
            state.memory,
            state.count,
            state.host_price,
            state.link_price,
            np.atleast_1d(self.steps.host),
            np.atleast_1d(self.steps.link),
            np.stack(np.broadcast_arrays(*rows)),
            alpha=utility.alpha,
            scaled=self.scaled,
            late=reading.late,
            fresh=reading.fresh,
            seidel=reading.seidel,
            counted=reading.counted,
            normalised=reading.normalised,
        )
        return GradientState(*found, state.count)
