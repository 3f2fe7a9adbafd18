"""Roles of each method, and the state of a pure iteration handed to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from simplugin.core.errors import SimpluginError, WorkloadError
from simplugin.pricing.actors import accelerated, gradient, market, market_ticks
from simplugin.pricing.actors.accelerated import AcceleratedAgent
from simplugin.pricing.actors.delivery import Decision, News
from simplugin.pricing.actors.gradient import GradientAgent, GradientManager
from simplugin.pricing.actors.market import MarketAgent, MarketManager
from simplugin.pricing.actors.market_slots import MetricSchedule
from simplugin.pricing.actors.market_ticks import TickingAgent, TickingManager
from simplugin.pricing.actors.neighbourhood import AgentNeighbourhood, ManagerNeighbourhood
from simplugin.pricing.policies.acceleration import AcceleratedMarket, AcceleratedState
from simplugin.pricing.policies.gradient import Gradient, GradientState
from simplugin.pricing.policies.market import Market, MarketState
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a method.

    Attributes
    ----------
    agent, manager : callable
        Return the state that an agent, or a manager, starts with in its seat.
    agent_decides, manager_decides : Decision
        Their decisions, when the messages have arrived, or once a period.
    """

    agent: Callable[[AgentNeighbourhood], Any]
    manager: Callable[[ManagerNeighbourhood], Any]
    agent_decides: Decision[Any]
    manager_decides: Decision[Any]


def cast(method: object, utility: AlphaFair, rounds: int) -> Roles:
    """Return the roles of a method in synchronous rounds.

    Parameters
    ----------
    method : Gradient, Market or AcceleratedMarket
        The method.
    utility : AlphaFair
        Of every application.
    rounds : int
        Number of rounds.

    Raises
    ------
    SimpluginError
        No roles go with the method.
    """
    if isinstance(method, Gradient):
        gradient.check(method)
        return Roles(
            partial(gradient.new_agent, method, utility, rounds),
            partial(gradient.new_manager, method, rounds),
            gradient.agent_decides,
            gradient.manager_decides,
        )
    if isinstance(method, Market):
        return Roles(
            partial(MarketAgent, method, utility, rounds),
            partial(MarketManager, rounds),
            market.agent_decides,
            market.manager_decides,
        )
    if isinstance(method, AcceleratedMarket):
        return Roles(
            partial(AcceleratedAgent, method.market, utility, rounds),
            partial(MarketManager, rounds),
            accelerated.agent_decides,
            market.accelerated_decides,
        )
    raise SimpluginError(f"there are no agents for {type(method).__name__}")


def ticking_cast(method: object, utility: AlphaFair, patience: int) -> Roles:
    """Return the roles of a method without rounds.

    Parameters
    ----------
    method : Gradient or Market
        The method.
    utility : AlphaFair
        Of every application.
    patience : int
        Periods for which a role may be silent.

    Raises
    ------
    SimpluginError
        No roles go with the method.
    """
    if isinstance(method, Gradient):
        return Roles(
            lambda seat: replace(
                gradient.new_agent(method, utility, 0, seat),
                rate=0.0,
                memory=0.0,
                waits=False,
                news=News(patience),
            ),
            lambda seat: replace(gradient.new_manager(method, 0, seat), news=News(patience)),
            gradient.agent_ticks,
            gradient.manager_ticks,
        )
    if isinstance(method, Market):
        return Roles(
            lambda seat: TickingAgent(method, utility, 0, seat, news=News(patience)),
            lambda seat: TickingManager(0, seat, news=News(patience)),
            market_ticks.agent_ticks,
            market_ticks.manager_ticks,
        )
    raise SimpluginError(f"there are no agents for {type(method).__name__}")


def check_sizes(method: object, sharing: SharedDeployment) -> None:
    """Raise WorkloadError if a method has step sizes for other applications or resources."""
    if isinstance(method, Gradient):
        method.steps.check(sharing)


def inherit(new: Any, old: Any) -> None:
    """Give a new role the rates or prices of one that was ended, of the same agent or resource.

    Schedules and balances of a market's metric begin anew, as do the rounds remembered.
    """
    if isinstance(new, MarketAgent):
        for mine, its in ((new.computing, old.computing), (new.receiving, old.receiving)):
            if mine and its and its.metric > 0:
                for name in ("request", "metric", "price", "offer", "plan", "paid"):
                    setattr(mine, name, getattr(its, name))
        new.reached = old.reached
    elif isinstance(new, GradientAgent):
        new.rate, new.memory, new.latest = old.rate, old.memory, old.latest
    else:
        new.price = old.price


def taken_over(method: object, sharing: SharedDeployment, start: Any) -> Callable[[Any], Any]:
    """Return a function that gives a new role its part of a state.

    Parameters
    ----------
    method : Gradient, Market or AcceleratedMarket
        Of the negotiation.
    sharing : Sharing
        The deployment, whose agents, hosts and links number the arrays of `start`.
    start : GradientState, MarketState or AcceleratedState
        Between two rounds of the method's pure iteration; None for a start from nothing.

    Raises
    ------
    WorkloadError
        The state is of another method, or of another deployment.
    """
    if start is None:
        return lambda role: role
    expected, take = _TAKES.get(type(method), (type(None), _of_market))
    fits = isinstance(start, expected)
    if not fits:
        raise WorkloadError(
            f"{type(method).__name__} cannot go on from an object of type"
            f" {type(start).__name__}; give a {expected.__name__}"
        )
    sizes = len(start.rate), len(start.host_price), len(start.link_price)
    if sizes != (sharing.n_agents, sharing.n_hosts, sharing.n_links):
        message = "the state is of {} agents, {} hosts and {} links, not of this deployment"
        raise WorkloadError(message.format(*sizes))
    return partial(take, sharing, start)


def _of_gradient(
    sharing: SharedDeployment, start: GradientState, role: GradientAgent | GradientManager
) -> GradientAgent | GradientManager:
    """Give a role its rates and what it received, or its price."""
    number = role.seat.number
    if isinstance(role, GradientAgent):
        role.rate, role.memory = float(start.rate[number]), float(start.memory[number])
        role.latest = float(start.received[role.seat.application])
    elif role.seat.is_host:
        role.price = float(start.host_price[number - sharing.n_agents])
    else:
        role.price = float(start.link_price[number - sharing.n_agents - sharing.n_hosts])
    return role


def _of_market(
    sharing: SharedDeployment, start: MarketState, role: MarketAgent | MarketManager
) -> MarketAgent | MarketManager:
    """Give a role slots and throughput, or price, balance and residuals."""
    number = role.seat.number
    # Rounds are numbered from here on.
    role.schedule = MetricSchedule(start.next_metric - start.number, start.step)
    if isinstance(role, MarketManager):
        resource = number - sharing.n_agents
        role.price, role.balance = float(start.price[resource]), float(start.balance[resource])
        role.planned, role.moved = float(start.planned[resource]), float(start.moved[resource])
        return role
    role.reached = float(start.reached[role.seat.application])
    role.part = float(start.part[number])
    resources = int(sharing.host[number]), sharing.n_hosts + int(sharing.link[number])
    for i, slot in enumerate((role.computing, role.receiving)):
        if slot:
            for name in ("request", "metric", "offer", "plan", "paid"):
                setattr(slot, name, float(getattr(start, name)[i, number]))
            slot.price = float(start.price[resources[i]]) if slot.metric > 0 else 0.0
    return role


def _of_accelerated(
    sharing: SharedDeployment, start: AcceleratedState, role: AcceleratedAgent | MarketManager
) -> AcceleratedAgent | MarketManager:
    """Give a role the same, and an agent its rounds remembered."""
    _of_market(sharing, start.market, role)
    if isinstance(role, MarketManager):
        return role
    number = role.seat.number
    role.settled, role.settled_part = role.reached, role.part
    role.requests, role.residuals = (
        [(float(each[0, number]), float(each[1, number])) for each in rounds]
        for rounds in (start.requests, start.residuals)
    )
    if role.seat.parent is None:
        role.products = start.products.tolist()
        role.stride, role.least = start.stride, start.least
    role.mixed = start.plain is not None
    if start.plain is not None:
        slots = enumerate((role.computing, role.receiving))
        role.plain = [float(start.plain[i, number]) for i, slot in slots if slot]
    return role


# The state that each method goes on from, and what gives a role its part.
_TAKES: dict[type, tuple[type, Callable[[SharedDeployment, Any, Any], Any]]] = {
    Gradient: (GradientState, _of_gradient),
    Market: (MarketState, _of_market),
    AcceleratedMarket: (AcceleratedState, _of_accelerated),
}
