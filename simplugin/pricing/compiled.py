"""The pure iterations, compiled: for platforms of up to millions of hosts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.pricing import _sweeps, markets
from simplugin.pricing.arrangement import Arrangement, arrange, as_given
from simplugin.pricing.gradient import Gradient, Steps, inverse_marginal
from simplugin.pricing.masters import best_throughput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import AlphaFair, Sharing

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScaledState:
    """Rates and prices between two rounds, in the order of an arrangement.

    Attributes
    ----------
    arrangement : Arrangement
        Shared by the states of all rounds.
    count : int32, shape (n_agents,)
        How many agents compute at each agent or below it; likewise shared.
    arranged_rate, memory : float64, shape (n_agents,)
        Rate of each agent, and its augmented rate [tasks/s].
    flow, eta : float64, shape (n_agents,)
        The rates again, and room for what goes up and down the trees in a round.
    on_hosts, on_links : Resources
        Prices.
    """

    arrangement: Arrangement
    count: NDArray[np.int32]
    arranged_rate: Floats
    memory: Floats
    flow: Floats
    eta: Floats
    on_hosts: _sweeps.Resources
    on_links: _sweeps.Resources

    @property
    def rate(self) -> Floats:
        """Tasks that each agent computes [tasks/s], shape (n_agents,)."""
        return as_given(self.arrangement.agents, self.arranged_rate)

    @property
    def host_price(self) -> Floats:
        """Price of computation on each host [utility/flop], shape (n_hosts,)."""
        return as_given(self.arrangement.hosts, self.on_hosts.price)

    @property
    def link_price(self) -> Floats:
        """Price of traffic on each link [utility/byte], shape (n_links,)."""
        return as_given(self.arrangement.links, self.on_links.price)

    def copy(self) -> ScaledState:
        """Return a state that can change without this one."""
        return ScaledState(
            self.arrangement,
            self.count,
            self.arranged_rate.copy(),
            self.memory.copy(),
            self.flow.copy(),
            np.empty_like(self.eta),
            _sweeps.Resources(self.on_hosts.price.copy()),
            _sweeps.Resources(self.on_links.price.copy()),
        )


@dataclass(frozen=True, slots=True)
class CompiledScaled:
    """The report's scaled iteration (Eqs. 16 to 18) as `Gradient` has it by default, compiled.

    Attributes
    ----------
    steps : Steps
        Step sizes and starting values.
    """

    steps: Steps = field(default_factory=Steps)

    def start(self, sharing: Sharing, utility: AlphaFair) -> ScaledState:
        """Return Table 1's rates and prices."""
        given = Gradient(steps=self.steps).start(sharing, utility)
        arrangement = arrange(sharing)
        rate = given.rate[arrangement.agents]
        return ScaledState(
            arrangement,
            given.count[arrangement.agents].astype(np.int32),
            rate,
            rate.copy(),
            rate.copy(),
            np.empty_like(rate),
            _sweeps.Resources(given.host_price),
            _sweeps.Resources(given.link_price),
        )

    def round(self, sharing: Sharing, utility: AlphaFair, state: ScaledState) -> ScaledState:
        """Return the state after one more round; `advance` saves the copy."""
        after = state.copy()
        self.advance(sharing, utility, after)
        return after

    def advance(
        self, sharing: Sharing, utility: AlphaFair, state: ScaledState, rounds: int = 1
    ) -> None:
        """Take a state some rounds further, in place.

        Parameters
        ----------
        sharing : Sharing
            The problem that the state was started with.
        utility : AlphaFair
            Of every application.
        state : ScaledState
            Changed.
        rounds : int
            How many.
        """
        arrangement = state.arrangement
        for _ in range(rounds):
            arrangement.trees.gather(state.flow)
            throughput = state.flow[arrangement.masters]
            inverse = np.asarray(inverse_marginal(throughput, sharing.weight, utility.alpha))
            _sweeps.scaled_down(
                arrangement.trees,
                state.count,
                inverse,
                self.steps.memory,
                self.steps.rate,
                self.steps.utility,
                state.on_links,
                state.on_hosts,
                state.arranged_rate,
                state.memory,
                state.flow,
                state.eta,
            )
            state.on_hosts.reprice(arrangement.speed, self.steps.host)
            state.on_links.reprice(arrangement.bandwidth, self.steps.link)


@dataclass(eq=False)
class CompiledMarketState:
    """Wishes, offers, prices and metric between two rounds, in the order of an arrangement.

    Attributes
    ----------
    arrangement : Arrangement
        Shared by the states of all rounds.
    hosts, links : Side
        The slots and markets of either kind.
    sweep : Sweep
        What agents keep.
    alone, reached : float64, shape (n_applications,)
        What each application would reach alone, and planned [tasks/s].
    number, next_metric : int
        Rounds done, and the round after which the metric changes next.
    step : float
        Rounds between the last two changes of the metric.
    """

    arrangement: Arrangement
    hosts: _sweeps.Side
    links: _sweeps.Side
    sweep: _sweeps.Sweep
    alone: Floats
    reached: Floats
    number: int
    next_metric: int
    step: float

    @property
    def rate(self) -> Floats:
        """Tasks that each agent computes [tasks/s], shape (n_agents,)."""
        return as_given(self.arrangement.agents, self.hosts.offer)

    @property
    def host_price(self) -> Floats:
        """Price of computation on each host [utility/flop], shape (n_hosts,)."""
        return as_given(self.arrangement.hosts, self.hosts.price)

    @property
    def link_price(self) -> Floats:
        """Price of traffic on each link [utility/byte], shape (n_links,)."""
        return as_given(self.arrangement.links, self.links.price)

    def copy(self) -> CompiledMarketState:
        """Return a state that can change without this one."""
        return replace(
            self, hosts=self.hosts.copy(), links=self.links.copy(), sweep=self.sweep.copy()
        )


@dataclass(frozen=True, slots=True)
class CompiledMarket:
    """The market method with local knowledge only, as `Market` has it, compiled.

    Attributes
    ----------
    relaxation : float
        How far a wish moves to what was planned, 0 to 2.
    """

    relaxation: float = 1.5

    def start(self, sharing: Sharing, utility: AlphaFair) -> CompiledMarketState:
        """Return the state before the first round: nothing is known but the bounds."""
        given = markets.Market(self.relaxation).start(sharing, utility)
        arrangement = arrange(sharing)
        trees = arrangement.trees
        wanted = (
            (trees.host, sharing.flop, arrangement.speed),
            (trees.link, sharing.byte, arrangement.bandwidth),
        )
        hosts, links = (
            _sweeps.Side(
                resource,
                demand,
                given.slots.bound[side][arrangement.agents],
                given.wish[side][arrangement.agents],
                given.metric[side][arrangement.agents],
                capacity,
            )
            for side, (resource, demand, capacity) in enumerate(wanted)
        )
        sweep = _sweeps.Sweep(sharing.n_agents)
        _sweeps.measure(trees, hosts, links, sweep)
        return CompiledMarketState(
            arrangement,
            hosts,
            links,
            sweep,
            given.slots.alone,
            given.reached,
            given.number,
            given.next_metric,
            given.step,
        )

    def round(
        self, sharing: Sharing, utility: AlphaFair, state: CompiledMarketState
    ) -> CompiledMarketState:
        """Return the state after one more round; `advance` saves the copy."""
        after = state.copy()
        self.advance(sharing, utility, after)
        return after

    def advance(
        self, sharing: Sharing, utility: AlphaFair, state: CompiledMarketState, rounds: int = 1
    ) -> None:
        """Take a state some rounds further, in place.

        Parameters
        ----------
        sharing : Sharing
            The problem that the state was started with.
        utility : AlphaFair
            Of every application.
        state : CompiledMarketState
            Changed.
        rounds : int
            How many.
        """
        for _ in range(rounds):
            self._advance(sharing, utility, state)

    def _advance(self, sharing: Sharing, utility: AlphaFair, state: CompiledMarketState) -> None:
        """Take a state one round further, in place."""
        trees, masters = state.arrangement.trees, state.arrangement.masters
        hosts, links = state.hosts, state.links
        hosts.clear(trees)
        links.clear(trees)
        _sweeps.up(trees, hosts, links, state.sweep)
        state.reached, worth = best_throughput(
            state.sweep.middle[masters], state.sweep.slack[masters], sharing.weight, utility
        )
        state.number += 1
        changing = state.number >= state.next_metric
        likely = np.clip(state.reached, markets.LEAST * state.alone, state.alone)
        value = sharing.weight * utility.marginal(likely)
        _sweeps.down(
            trees,
            hosts,
            links,
            state.sweep,
            worth,
            value,
            likely,
            self.relaxation,
            markets.MEMORY,
            changing,
        )
        if changing:
            _sweeps.adapt(
                trees,
                hosts,
                links,
                state.sweep,
                value,
                likely,
                markets.SIZE,
                (markets.FLOOR, markets.CEILING),
                markets.STRENGTH,
                markets.REBALANCE,
            )
            state.step *= markets.GROWTH
            state.next_metric = state.number + max(1, round(state.step))
