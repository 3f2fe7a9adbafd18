r"""What the root does next while applications are traded: one operation at a time.

Section 5.5 of Beaumont et al. (2008), "Centralized versus distributed schedulers for bag-of-tasks
applications", IEEE TPDS 19(5). H and L are the types of the highest and the lowest throughput,
where throughputs are divided by weights: :math:`x^{(k)} = \alpha^{(k)} / w^{(k)}`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from simplugin.bags.data_centric.rates import NOISE, has_trade

if TYPE_CHECKING:
    from simplugin.bags.data_centric.rates import Offer, Rates
    from simplugin.bags.nodes import Known

# Bus desaturation scales a branch by this ...
SCALE = 0.9
# ... but takes no more than this share of the imbalance away, else H and L can take turns for ever.
STRIDE = 0.5
# A branch with less of all tasks of a type than this loses them: scaling alone never ends.
CUT = 1e-3
# Operations that change less of the highest throughput than this do nothing.
LEAST = 1e-9


class Operation(IntEnum):
    """What an order is about."""

    NOTHING = 0
    TRADE = 1
    FILL = 2
    SCALE = 3
    ROOT = 4


class Question(NamedTuple):
    """Which types are to be traded: `high` for `low`.

    At the start, when only `low` is to fill the tree in the order of bandwidths, `high` is -1.
    At the end both are.
    """

    high: int
    low: int


NO_QUESTION = Question(-1, -1)


class Choice(NamedTuple):
    """An operation, how much of it, and the root's child that it is about (0 if all)."""

    operation: Operation
    amount: float
    branch: int = 0


def opening(known: Known) -> Question:
    """Return the first question: the tree is filled with the type of the highest CCR."""
    ratio = [byte / flop for byte, flop in zip(known.byte, known.flop, strict=True)]
    return Question(-1, ratio.index(max(ratio)))


def next_question(known: Known, throughput: list[float], balance: float) -> Question | None:
    """Return which types are to be traded, None if they are balanced.

    Of several types of equal throughput H is the one of highest and L the one of lowest CCR, as
    tasks are to be traded for computationally intensive ones.
    """
    level = [rate / weight for rate, weight in zip(throughput, known.weight, strict=True)]
    ratio = [byte / flop for byte, flop in zip(known.byte, known.flop, strict=True)]
    most, least = max(level), min(level)
    high = max(_about(most, level), key=lambda kind: ratio[kind])
    low = min(_about(least, level), key=lambda kind: ratio[kind])
    if high == low or most - least < balance * least:
        return None
    return Question(high, low)


def _about(wanted: float, level: list[float]) -> list[int]:
    """Return the types at a level; operations make throughputs equal up to rounding only."""
    return [kind for kind, each in enumerate(level) if abs(each - wanted) <= NOISE * wanted]


def choose(rates: Rates, question: Question, trade: Offer, gap: Offer) -> Choice | None:
    """Return the first operation, in the paper's precedence, that changes anything.

    Parameters
    ----------
    rates : Rates
        The root's.
    question : Question
        Which types.
    trade, gap : Offer
        What the tree can take by communication trading and by gap filling.
    """
    high, low = question
    if high < 0:
        return Choice(Operation.FILL, gap.amount) if gap.amount > 0 else None
    known, throughput = rates.known, rates.throughput()
    least = LEAST * throughput[high] / known.weight[high]
    excess = throughput[high] / known.weight[high] - throughput[low] / known.weight[low]
    amount = min(trade.amount, trade_limit(known, question, excess))
    if amount > least * known.weight[high] * known.byte[high]:
        return Choice(Operation.TRADE, amount)
    amount = min(gap.amount, excess * known.weight[low])
    if amount > least * known.weight[low]:
        return Choice(Operation.FILL, amount)
    used = [child for child, row in enumerate(rates.sent, 1) if row[high] > 0]
    if used:
        branch = min(used, key=lambda child: known.bandwidth[child - 1])
        flow = rates.sent[branch - 1][high]
        return Choice(
            Operation.SCALE, scale_factor(known, question, excess, flow, throughput), branch
        )
    amount = root_limit(rates, question, excess)
    return Choice(Operation.ROOT, amount) if amount > least * known.weight[high] else None


def trade_limit(known: Known, question: Question, excess: float) -> float:
    r"""Return the byte/s that communication trading may replace until throughputs are equal.

    From :math:`(\alpha^{(L)} + \varepsilon_L) / w^{(L)} \le (\alpha^{(H)} - \varepsilon_H) /
    w^{(H)}` and :math:`\varepsilon_L b^{(L)} = \varepsilon_H b^{(H)} = \beta`:
    :math:`\beta (1/(b^{(H)} w^{(H)}) + 1/(b^{(L)} w^{(L)})) \le x^{(H)} - x^{(L)}`. It is 0 unless
    H has the higher CCR, and if tasks of type L have no bytes that one could trade.
    """
    (high, low), byte, weight = question, known.byte, known.weight
    if not has_trade(known, high, low):
        return 0.0
    return excess / (1 / (byte[high] * weight[high]) + 1 / (byte[low] * weight[low]))


def scale_factor(
    known: Known, question: Question, excess: float, flow: float, throughput: list[float]
) -> float:
    """Return the factor of bus desaturation for a branch that gets `flow` tasks/s of type H."""
    high = question.high
    if flow <= CUT * throughput[high]:
        return 0.0
    return max(SCALE, 1 - STRIDE * excess * known.weight[high] / flow)


def root_limit(rates: Rates, question: Question, excess: float) -> float:
    r"""Return how many tasks/s of type H the root may trade for as much work of type L.

    From :math:`\varepsilon_H \le \alpha_{root}^{(H)}`, :math:`\varepsilon_L c^{(L)} =
    \varepsilon_H c^{(H)}` and throughputs at most equal afterwards.
    """
    (high, low), flop, weight = question, rates.known.flop, rates.known.weight
    equal = excess / (1 / weight[high] + flop[high] / (flop[low] * weight[low]))
    return min(rates.compute[high], equal)
