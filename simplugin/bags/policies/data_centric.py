"""DATA-CENTRIC: rates by trading applications between neighbours, section 5.5 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from simplugin.bags.actors.planning import negotiated_policy
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.trading import ORDERS, Operation, Order, Trader
from simplugin.bags.policy import BagPolicy, NegotiatedRates, converse, rates_of
from simplugin.core.errors import WorkloadError
from simplugin.inputs.quantities import Time
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags
from simplugin.workloads.parameter_ranges import one_of, whole

# The paper's "tunable balance", and the maximum number of operations.
BALANCE, LIMIT = 0.05, 2000


@dataclass(frozen=True, eq=False)
class Traded(NegotiatedRates):
    """Rates found by trading.

    Attributes
    ----------
    compute, sent, fair, plans
        See `NegotiatedRates`.
    operations : dict of str to int
        Count of each operation: "trade", "fill", "scale", "root".
    messages : int
        Number of messages between neighbours.
    stopped : str
        Why it ended: "balanced", "stuck" (no operation applies any more) or "limit".
    """

    operations: dict[str, int]
    messages: int
    stopped: str

    @property
    def rounds(self) -> int:
        """Number of operations."""
        return sum(self.operations.values())

    @property
    def is_balanced(self) -> bool:
        """True if throughputs are as close to each other as requested."""
        return self.stopped == "balanced"


def trade(
    tree: Tree,
    bags: Bags,
    *,
    balance: float = BALANCE,
    order: Order = "fast",
    limit: int = LIMIT,
) -> Traded:
    """Compute the rates of DATA-CENTRIC, section 5.5 of [1]_, by the messages of its nodes.

    The tree is filled with the application of the highest CCR, bandwidth-centric. Then, with H
    and L the applications of the highest and the lowest throughput over weight, the root does the
    first of these that changes anything: communication trading, gap filling, bus desaturation,
    task trading on the root; until the two are balanced.

    Choices that the paper leaves open, and differences: nodes take part in an operation depth
    first, by decreasing bandwidth, see `order`. Of equally low applications the one of lowest CCR
    is L. One operation is one propagation over the whole tree, which equals one trade after the
    other along that order. A node trades no more of H than it has. Bus desaturation removes at
    most half of the imbalance, as with ten per cent each time H and L can alternate for ever, and
    it empties branches with less than 0.1 % of all H. The paper desaturates "if the bus is
    saturated by tasks with a high CCR"; here it is done whenever trading and filling change
    nothing and some branch of the root computes H.

    It ends as soon as throughputs are balanced, at whatever level, even where all of them could
    still be raised.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    balance : float
        Relative difference between the highest and the lowest throughput over weight.
    order : {"fast", "breadth", "slow"}
        Which nodes come first: behind fast links (depth first), near the root, or behind slow
        links. The start is by fast links in any case.
    limit : int
        Most operations.

    Returns
    -------
    Traded
        Feasible rates; of unequal throughputs if it is not `is_balanced`.

    Raises
    ------
    InfeasibleError
        No host computes.
    WorkloadError
        A parameter is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    if not balance > 0:
        raise WorkloadError(f"balance is {balance}; give a positive relative difference")
    one_of("order", order, ORDERS)
    whole("limit", limit)
    make = partial(Trader, balance=balance, order=order, limit=limit)
    traders, messages = converse(tree, bags, make)
    compute, sent, plans = rates_of(tree, traders)
    counts = dict(zip(Operation, traders[0].counts, strict=True))
    operations = {op.name.lower(): counts[op] for op in Operation if op}
    fair = float((sent[0] / bags.weight).min())
    return Traded(compute, sent, fair, plans, operations, messages, traders[0].stopped)


def data_centric(
    tree: Tree,
    bags: Bags,
    *,
    balance: float = BALANCE,
    order: Order = "fast",
    limit: int = LIMIT,
    decentralised: bool = True,
    period: Time | None = None,
) -> BagPolicy:
    """Return the policy DATA-CENTRIC: traded rates, followed by load balancing.

    Parameters
    ----------
    tree, bags
        The platform and the applications, from which `BagPolicy.expected_throughput` follows.
    balance, order, limit
        See `trade`.
    decentralised : bool
        True if nodes trade by messages, with their own measurements; False if they get the
        rates that `trade` returns for the tree.
    period : float, optional
        Time between checks for changes [s], inf for none; by default a twentieth of the time that
        all tasks take at the expected throughput. If the measured speed of a node, or bandwidth to
        a child, differs by more than `BagPolicy.tolerance` from that of the last trading, all
        nodes trade again from the start, with their latest measurements.

    Raises
    ------
    InfeasibleError
        No host computes.
    WorkloadError
        A parameter is out of its range.
    """
    found = trade(tree, bags, balance=balance, order=order, limit=limit)
    make = partial(Trader, balance=balance, order=order, limit=limit)
    return negotiated_policy(
        "data_centric", balanced, make, bags, found, decentralised=decentralised, period=period
    )
