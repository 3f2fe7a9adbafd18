"""The market of one resource: its price manager's decisions.

The operations are those of `simplugin.pricing.markets`, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simplugin.elementary import power
from simplugin.pricing.agents.delivery import SENSOR
from simplugin.pricing.agents.market_slots import Schedule
from simplugin.pricing.agents.neighbourhood import BELOW
from simplugin.pricing.markets import MEMORY, REBALANCE, STRENGTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.pricing.agents.delivery import Message, Posts
    from simplugin.pricing.agents.neighbourhood import ManagerSeat


@dataclass(slots=True)
class MarketManager:
    """The price manager of a host or link between two decisions.

    Attributes
    ----------
    seat : ManagerSeat
        What it knows from the start.
    rounds : int
        How many rounds to run.
    side, local, remote, over, round
        As every role's.
    phase : str
        What it waits for: ``"bids"`` or ``"residuals"``.
    remembered : bool
        Whether the residuals that come with the next bids are known already.
    schedule : Schedule
        When the metric changes.
    price : float
        Of its resource [utility/flop] or [utility/byte].
    asked : float
        The price of a round of which it is not known yet whether it counts.
    balance, planned, moved : float
        Its factor of the metric, and the residuals that led to it.
    """

    seat: ManagerSeat
    rounds: int
    side: str = BELOW
    local: int = 0
    remote: int = 0
    over: bool = False
    round: int = 0
    phase: str = "start"
    remembered: bool = True
    schedule: Schedule = field(default_factory=Schedule)
    price: float = 0.0
    asked: float = 0.0
    balance: float = 1.0
    planned: float = 0.0
    moved: float = 0.0

    @property
    def value(self) -> float:
        """Its price."""
        return self.price


def new_manager(rounds: int, seat: ManagerSeat) -> MarketManager:
    """Return the state that a manager starts with."""
    return MarketManager(seat, rounds)


def manager_decides(
    state: MarketManager, messages: Sequence[Message]
) -> tuple[MarketManager, Posts]:
    """Return a manager's state and messages after the bids, or residuals, of all members."""
    seat = state.seat
    heard = {message[0]: message for message in messages}
    said = [heard[member.number] for member in seat.members if member.number in heard]
    numbers: tuple[float, ...] = ()
    if state.phase == "start":
        state.local = sum(member.local for member in seat.members)
        state.remote = len(seat.members) - state.local
        state.phase = "bids"
        numbers = (heard[SENSOR][2],)
    elif state.phase == "residuals":
        remember(state, [message[2:4] for message in said])
        state.balance *= imbalance(state.planned, state.moved)
        state.schedule.advance(state.round)
        numbers = (state.balance,)
        state.phase = "bids"
    else:
        if not state.remembered:
            remember(state, [message[5:7] for message in said])
        state.price = clear(heard[SENSOR][2], said)
        numbers = (state.price,)
        state.round += 1
        state.over = state.round == state.rounds
        due = state.schedule.due(state.round)
        state.remembered = due
        state.phase = "residuals" if due else "bids"
    return state, [(member, (seat.number, state.round, *numbers)) for member in seat.members]


def clear(capacity: float, bids: Sequence[Message]) -> float:
    """Return the price at which the offers fit the capacity: step 1."""
    left = [bid[2:5] for bid in bids if bid[3] > 0]
    price = 0.0
    while True:
        wanted = yielded = 0.0
        for demand, wish, give in left:
            wanted += demand * wish
            yielded += demand * give
        price = max((wanted - capacity) / yielded, 0.0) if yielded > 0 else price
        stay = [bid for bid in left if bid[1] > price * bid[2]]
        if len(stay) == len(left):
            return price
        left = stay


def remember(state: MarketManager, residuals: Sequence[Sequence[float]]) -> None:
    """Add a round's residuals to what is remembered."""
    planned = moved = 0.0
    for residual in residuals:
        planned += residual[0]
        moved += residual[1]
    state.planned = MEMORY * state.planned + planned
    state.moved = MEMORY * state.moved + moved


def imbalance(planned: float, moved: float) -> float:
    """Return by how much the metric is to change, so that it follows the larger residual."""
    if planned <= 0 or moved <= 0:
        return 1.0
    low, high = REBALANCE
    return min(max(power(planned / moved, STRENGTH), low), high)


def accelerated_decides(
    state: MarketManager, messages: Sequence[Message]
) -> tuple[MarketManager, Posts]:
    """Return the same where members say after each round whether it counts."""
    seat = state.seat
    heard = {message[0]: message for message in messages}
    said = [heard[member.number] for member in seat.members if member.number in heard]
    if state.phase == "start":
        return manager_decides(state, messages)
    if state.phase == "bids":
        if not state.remembered:
            _end_round(state, bool(said[0][7]), [message[5:7] for message in said])
        state.asked = clear(heard[SENSOR][2], said)
        scheduled = state.schedule.due(state.round + 1) or state.round + 1 == state.rounds
        state.remembered = scheduled
        state.phase = "residuals" if scheduled else "bids"
        number = state.asked
    else:
        undone = bool(said[0][2])
        scheduled = state.schedule.due(state.round + 1)
        _end_round(state, undone, [message[3:5] for message in said])
        if scheduled and not undone:
            state.balance *= imbalance(state.planned, state.moved)
            state.schedule.advance(state.round)
        state.over = state.round == state.rounds
        state.phase = "bids"
        number = state.balance
    if state.over:
        return state, []
    return state, [(member, (seat.number, state.round, number)) for member in seat.members]


def _end_round(state: MarketManager, undone: bool, residuals: Sequence[Sequence[float]]) -> None:
    """Let the last round count, unless it is undone."""
    state.round += 1
    if undone:
        state.schedule.put_off(state.round + 1)
    else:
        state.price = state.asked
        remember(state, residuals)
