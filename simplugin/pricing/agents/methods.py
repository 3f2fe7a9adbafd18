"""Which decisions go with which method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from simplugin.errors import SimpluginError
from simplugin.pricing.acceleration import AcceleratedMarket
from simplugin.pricing.agents import accelerated, gradient, market, market_managers, market_ticks
from simplugin.pricing.gradient import Gradient
from simplugin.pricing.markets import Market

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.pricing.agents.delivery import Decision
    from simplugin.pricing.agents.neighbourhood import AgentSeat, ManagerSeat
    from simplugin.workloads.sharing import AlphaFair


@dataclass(frozen=True, slots=True)
class Cast:
    """The roles of a method.

    Attributes
    ----------
    agent, manager : callable
        Return the state that an agent, or a manager, starts with in its seat.
    agent_decides, manager_decides : Decision
        What they do when the messages that they waited for have come, or once a period.
    """

    agent: Callable[[AgentSeat], Any]
    manager: Callable[[ManagerSeat], Any]
    agent_decides: Decision[Any]
    manager_decides: Decision[Any]


def cast(method: object, utility: AlphaFair, rounds: int) -> Cast:
    """Return the roles of a method in synchronous rounds.

    Parameters
    ----------
    method : Gradient, Market or AcceleratedMarket
        What they do in a round.
    utility : AlphaFair
        Of every application.
    rounds : int
        How many.

    Raises
    ------
    SimpluginError
        No roles go with the method.
    """
    if isinstance(method, Gradient):
        gradient.check(method)
        return Cast(
            partial(gradient.new_agent, method, utility, rounds),
            partial(gradient.new_manager, method, rounds),
            gradient.agent_decides,
            gradient.manager_decides,
        )
    if isinstance(method, Market):
        return Cast(
            partial(market.new_agent, method, utility, rounds),
            partial(market_managers.new_manager, rounds),
            market.agent_decides,
            market_managers.manager_decides,
        )
    if isinstance(method, AcceleratedMarket):
        return Cast(
            partial(accelerated.new_agent, method.market, utility, rounds),
            partial(market_managers.new_manager, rounds),
            accelerated.agent_decides,
            market_managers.accelerated_decides,
        )
    raise SimpluginError(f"there are no agents for {type(method).__name__}")


def ticking_cast(method: object, utility: AlphaFair, patience: int) -> Cast:
    """Return the roles of a method without rounds.

    Parameters
    ----------
    method : Gradient or Market
        What they do in a period.
    utility : AlphaFair
        Of every application.
    patience : int
        How many periods somebody may be silent.

    Raises
    ------
    SimpluginError
        No roles go with the method.
    """
    if isinstance(method, Gradient):
        return Cast(
            partial(gradient.new_ticking_agent, method, utility, patience),
            partial(gradient.new_ticking_manager, method, patience),
            gradient.agent_ticks,
            gradient.manager_ticks,
        )
    if isinstance(method, Market):
        return Cast(
            partial(market_ticks.new_ticking_agent, method, utility, patience),
            partial(market_ticks.new_ticking_manager, patience),
            market_ticks.agent_ticks,
            market_ticks.manager_ticks,
        )
    raise SimpluginError(f"there are no agents for {type(method).__name__}")
