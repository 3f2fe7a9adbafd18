"""A method of pricing: applications spend budgets, and hosts divide their speed by bids.

Proportional response (F. Wu, L. Zhang, STOC 2007): a host gives each application the part of its
speed that this one's bid is of all bids; an application then splits its budget, its weight, in
proportion to the rates that it got. It leads to proportional fairness where no link is short. The
contract that `Budgets` and its roles fulfil is the docstring of `simplugin.pricing.method`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.platforms.graphs import Graph
from simplugin.pricing import Method, Role, Roles, deploy, iterate, negotiate
from simplugin.pricing.method import SENSOR, Message, Posts
from simplugin.pricing.neighbourhood import (
    ABOVE,
    BELOW,
    AgentNeighbourhood,
    ManagerNeighbourhood,
)
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.workloads import AlphaFair, Application, SharedDeployment
from simplugin.workloads.shared_deployment import Floats


@dataclass(frozen=True)
class BudgetState:
    """Bids and rates of all agents and prices of all resources, between two rounds."""

    bid: Floats
    rate: Floats
    host_price: Floats
    link_price: Floats


@dataclass(frozen=True)
class Budgets(Method[BudgetState]):
    """Proportional response; a new bid keeps the part `caution`, from 0 to 1, of the last one."""

    caution: float = 0.4

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> BudgetState:
        """Return the state before the first round: each agent bids the whole budget."""
        _require_logarithm(utility)
        bid = np.where(sharing.computes, sharing.weight[sharing.application], 0.0)
        prices = np.zeros(sharing.n_hosts), np.zeros(sharing.n_links)
        return BudgetState(bid, np.zeros(sharing.n_agents), *prices)

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: BudgetState
    ) -> BudgetState:
        """Return the state after one more round."""
        bids = np.bincount(sharing.host, state.bid, sharing.n_hosts)
        price = np.divide(bids, sharing.speed, out=np.zeros_like(bids), where=sharing.speed > 0)
        cost = sharing.flop[sharing.application] * price[sharing.host]
        rate = np.divide(state.bid, cost, out=np.zeros_like(cost), where=state.bid > 0)
        budget = (sharing.weight / sharing.throughput(rate))[sharing.application]
        bid = self.caution * state.bid + (1 - self.caution) * budget * rate
        return BudgetState(bid, rate, price, state.link_price)

    def roles(self, utility: AlphaFair, rounds: int) -> Roles:
        """Return the roles in synchronous rounds."""
        _require_logarithm(utility)
        return Roles(
            lambda seat: Bidder(seat, self.caution, rounds, seat.weight if seat.computes else 0.0),
            lambda seat: Seller(seat, rounds),
        )


def _require_logarithm(utility: AlphaFair) -> None:
    if utility.alpha != 1:
        raise WorkloadError(f"alpha is {utility.alpha}; budgets lead to alpha 1 only")


@dataclass(slots=True)
class Bidder(Role):
    """An agent; `flow` is the rate at it and below it, `phase` what the next messages bring."""

    seat: AgentNeighbourhood
    caution: float
    rounds: int
    bid: float
    rate: float = 0.0
    flow: float = 0.0
    phase: str = "start"

    @property
    def value(self) -> float:
        """Its rate."""
        return self.rate

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Update the state for the messages that have arrived; return those to send."""
        seat, received = self.seat, {sender: numbers for sender, _, *numbers in messages}
        posts: Posts = []
        if self.phase == "prices":
            if seat.host_manager and self.bid > 0:
                self.rate = self.bid / (seat.flop * received[seat.host_manager.number][0])
            self.phase = "flows"
            self.wait(BELOW, seat.children)
        elif self.phase == "flows":
            self.flow = self.rate + sum(received[child.number][0] for child in seat.children)
            posts += [(parent, (seat.number, self.round, self.flow)) for parent in seat.parents]
            self.phase = "throughput"
            self.wait(ABOVE, seat.parents)
        else:
            if self.phase == "throughput":
                throughput = received[seat.parent.number][0] if seat.parent else self.flow
                posts += [(child, (seat.number, self.round, throughput)) for child in seat.children]
                budget = seat.weight / throughput
                self.bid = self.caution * self.bid + (1 - self.caution) * budget * self.rate
                self.round += 1
                self.over = self.round == self.rounds
            if not self.over:
                # Links are free: managers of links get bids of 0.
                bids = {seat.host_manager: self.bid, seat.link_manager: 0.0}
                posts += [(to, (seat.number, self.round, bids[to])) for to in seat.managers]
            self.phase = "prices"
            self.wait(ABOVE, seat.managers)
        return posts


@dataclass(slots=True)
class Seller(Role):
    """The price manager of a host or link."""

    seat: ManagerNeighbourhood
    rounds: int
    price: float = 0.0

    @property
    def value(self) -> float:
        """Its price."""
        return self.price

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Update the price for the bids of all members; return it for each of them."""
        waited = self.local + self.remote > 0
        self.wait(BELOW, self.seat.members)
        if not waited:
            return []
        received = {sender: numbers[0] for sender, _, *numbers in messages}
        bids, speed = sum(received[each.number] for each in self.seat.members), received[SENSOR]
        self.price = bids / speed if speed > 0 else 0.0
        self.round += 1
        self.over = self.round == self.rounds
        message = self.seat.number, self.round, self.price
        return [(member, message) for member in self.seat.members]


def test_actors_go_through_the_rounds_of_the_iteration():
    speed = np.array([5e8, 2e8, 9e8])
    graph = Graph.duplex("abc", speed, np.array([(0, 1), (1, 2)]), np.full(2, 1e9), 1e-3)
    applications = [
        Application("one", "a", flop=5000, byte=10, hosts=("a", "b")),
        Application("two", "c", flop=800, byte=20, weight=2.0),
    ]
    sharing, utility, method = deploy(graph, applications), AlphaFair(1.0), Budgets()
    pure = iterate(method, sharing, utility, 50, rates=True)
    seen = negotiate(graph, sharing, method, 50, utility).trajectory
    np.testing.assert_allclose(seen.rates, pure.rates, rtol=1e-9)
    np.testing.assert_allclose(seen.host_price, pure.host_price, rtol=1e-9)


def test_throughputs_are_those_of_the_fair_optimum():
    outcome = run_scenario(load_scenario(Path(__file__).with_suffix(".toml")))
    assert abs(outcome.row.gap) < 1e-4
    assert outcome.row["worst_error"] < 0.01
