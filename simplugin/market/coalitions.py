r"""Coalitions of peers that share a deal: worths, the core, and Shapley's value.

The worth v(S) of a coalition S is the largest benefit of the bundle if it is sold to S alone; tasks
beyond the caps of S stay unsold, at the value 0. It is the sum of the m largest values among the
tasks of S: a weighted rank of a uniform matroid, and therefore monotone and submodular. The
contribution of a peer falls with the size of the coalition.

* Among peers alone the core is empty unless v is additive, that is, unless they do not compete for
  tasks: shares x in the core require x_i >= v({i}) and thus v(N) >= sum v({i}), while submodularity
  implies the reverse. Shares under which no coalition gets more than its worth, x(S) <= v(S),
  always exist; Shapley's value is one.
* With the local scheduler as a player, without which no task is sold, the core is never empty. Let
  M_i = v(N) - v(N - i) be the contribution of peer i to all others. Submodularity implies
  v(N) - v(S) >= sum of M_i over peers outside S, so that the core consists of all x with
  0 <= x_i <= M_i for peers and the rest for the scheduler [1]_. At one end the scheduler has all;
  at the other peers have M_i, their profit under VCG payments [2]_. Profits at any clearing price
  are in between.

References
----------
.. [1] S. Muto, M. Nakayama, J. Potters, S. Tijs (1988). On big boss games. Economic Studies
   Quarterly 39(4).
.. [2] S. Bikhchandani, J. M. Ostroy (2002). The package assignment model. Journal of Economic
   Theory 107(2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, log
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.solvers import build_highs, certify, solve_highs
from simplugin.workloads.bundle_markets import BundleMarket, Floats
from simplugin.workloads.parameter_ranges import whole

# With more peers there are too many coalitions to enumerate.
MOST_PEERS = 16
# Tolerance of shares and excesses, relative to the worth of all.
_EQUAL = 1e-9
# Maximum number of tasks for which sorting is faster than a search for each price.
_SORTED = 10_000
# Number of coalitions that each step adds to the program of the least core.
_ADDED = 32


def worth_of(market: BundleMarket, members: ArrayLike) -> float:
    """Return the largest benefit of the bundle if it is sold to some peers alone [price].

    Parameters
    ----------
    market : BundleMarket
        The market of all peers.
    members : bool, shape (n_peers,)
        True for members.
    """
    chosen = np.asarray(members, dtype=bool)
    if not (room := int(market.caps[chosen].sum())):
        return 0.0
    return largest_benefit(*market.among(chosen, min(room, market.m)).arguments).benefit


def coalition_worths(market: BundleMarket, *, scheduler: bool = False) -> Floats:
    """Return the worth of each coalition [price].

    Parameters
    ----------
    market : BundleMarket
        The market of all peers, 16 at most.
    scheduler : bool
        True if the local scheduler is the last player, without which worths are 0.

    Returns
    -------
    float64, shape (2^n_players,)
        Bit i of a coalition's number is set if player i is a member.

    Raises
    ------
    InfeasibleError
        There are too many peers.
    """
    if market.n_peers > MOST_PEERS:
        raise InfeasibleError(
            f"{market.n_peers} peers have too many coalitions to look at each; give {MOST_PEERS} at"
            " most, or samples to shapley_value"
        )
    if market.m <= _SORTED:
        worths = _by_sorting(market)
    else:
        members = membership(market.n_peers).astype(bool)
        worths = np.array([worth_of(market, each) for each in members])
    return np.concatenate([np.zeros_like(worths), worths]) if scheduler else worths


def _by_sorting(market: BundleMarket) -> Floats:
    """Return the worth of each coalition of peers, by sorting the best tasks of each."""
    own = [
        exp(market.log_worth(np.arange(1, cap + 1), np.full(cap, peer)))
        if market.table is None
        else market.table[peer, :cap]
        for peer, cap in enumerate(market.caps.tolist())
    ]
    worths = np.zeros(1 << market.n_peers)

    def enlarge(first: int, number: int, best: Floats) -> None:
        """Set the worths of coalitions that extend `number` by players from `first` on."""
        for player in range(first, market.n_peers):
            both = np.sort(np.concatenate([best, own[player]]))[-market.m :]
            worths[number | 1 << player] = both.sum()
            enlarge(player + 1, number | 1 << player, both)

    enlarge(0, 0, np.zeros(0))
    return worths


@dataclass(frozen=True, eq=False)
class LeastCore:
    """The least that all coalitions can be kept from gaining by leaving.

    Attributes
    ----------
    epsilon : float
        The largest that a coalition is worth more than it gets, if that is as little as can be: the
        core is empty if and only if it is above 0 [price].
    shares : float64, shape (n_players,)
        What players get then; one way of several [price].
    """

    epsilon: float
    shares: Floats


def core(market: BundleMarket, *, scheduler: bool = False) -> LeastCore:
    """Return the least core of the game; its epsilon is at most 0 if the core is not empty.

    Parameters and errors as those of `coalition_worths`; see `least_core`.
    """
    return least_core(coalition_worths(market, scheduler=scheduler))


def least_core(worths: Floats) -> LeastCore:
    """Return the least core of a game, in which the worth of all players is shared out [1]_.

    Minimise epsilon with shares x that add up to v(N) and x(S) + epsilon >= v(S) for each other
    coalition S, by HiGHS; coalitions that object are added until there is none.

    Parameters
    ----------
    worths : float64, shape (2^n_players,)
        Worth v of each coalition; bit i of its number is set if player i is a member [price].

    Returns
    -------
    LeastCore
        One allocation of the least core; of a single player epsilon is 0.

    Raises
    ------
    WorkloadError
        The number of worths is no power of 2, or the empty coalition has one.
    UncertifiedError
        A coalition has a larger excess than the program says.

    References
    ----------
    .. [1] M. Maschler, B. Peleg, L. S. Shapley (1979). Geometric properties of the kernel,
       nucleolus, and related solution concepts. Mathematics of Operations Research 4(4).
    """
    from scipy.sparse import csc_array

    n_players = len(worths).bit_length() - 1
    if len(worths) != 1 << n_players or n_players < 1 or worths[0] != 0:
        raise WorkloadError("worths are not of all coalitions from none, which has 0, to all")
    unit = float(np.abs(worths).max()) or 1.0
    worth, everyone = worths / unit, len(worths) - 1
    members = membership(n_players)
    alone = [1 << player for player in range(n_players)]
    rows = sorted({*alone, *(everyone - each for each in alone)} - {0, everyone})
    shares, epsilon = np.array([worth[-1]]), 0.0
    while rows:
        matrix = np.column_stack([members[[*rows, everyone]], [1.0] * len(rows) + [0.0]])
        lower = worth[[*rows, everyone]]
        upper = np.append(np.full(len(rows), np.inf), worth[-1])
        solver = build_highs(csc_array(matrix), np.append(np.zeros(n_players), 1.0), lower, upper)
        columns = np.arange(n_players + 1, dtype=np.int32)
        free = np.full(n_players + 1, np.inf)
        solver.changeColsBounds(len(columns), columns, -free, free)
        *found, epsilon = np.asarray(solve_highs(solver).col_value).tolist()
        shares = np.array(found)
        excess = excesses(worth, shares)
        excess[[0, everyone, *rows]] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:_ADDED]
        added = worst[excess[worst] > epsilon + _EQUAL].tolist()
        if not added:
            certify(float(excess.max()) - epsilon, "the least core", "give fewer players")
            break
        rows += added
    return LeastCore(epsilon * unit, shares * unit)


def membership(n_players: int) -> Floats:
    """Return 1 for each coalition and player that is a member; shape (2^n_players, n_players)."""
    numbers = np.arange(1 << n_players)
    return ((numbers[:, None] >> np.arange(n_players)) & 1).astype(np.float64)


def excesses(worths: Floats, shares: Floats) -> Floats:
    """Return by how much each coalition is worth more than it gets; shape (2^n_players,)."""
    got: Floats = np.sum(membership(len(shares)) * shares, axis=1)
    return worths - got


@dataclass(frozen=True)
class Objection:
    """A coalition that is worth more than it gets.

    Attributes
    ----------
    members : tuple of int
        Its players; the local scheduler has the number of peers.
    worth, share : float
        Its worth, and the sum of its shares [price].
    """

    members: tuple[int, ...]
    worth: float
    share: float


def objection(
    market: BundleMarket, shares: ArrayLike, *, scheduler: bool = False
) -> Objection | None:
    """Return a coalition that objects to shares; None if they are in the core.

    Among peers alone it is the coalition that gains most by leaving. With the scheduler, if there
    is an objection for any number of peers, then there is one of a single peer or of all but one
    peer: the largest of these.

    Parameters
    ----------
    market : BundleMarket
        The market of all peers; 16 at most without the scheduler.
    shares : array_like, shape (n_players,)
        Share of each player; the local scheduler is the last [price].
    scheduler : bool
        True if it is a player.

    Raises
    ------
    WorkloadError
        Shares do not add up to the worth of all, or are not one a player.
    InfeasibleError
        There are too many peers.
    """
    given = np.asarray(shares, dtype=np.float64)
    n_peers = market.n_peers
    total = worth_of(market, np.ones(n_peers, dtype=bool))
    if given.shape != (n_peers + scheduler,) or not abs(given.sum() - total) <= _EQUAL * total:
        raise WorkloadError(
            f"shares are {shares!r}; give {n_peers + scheduler} that add up to {total!r}"
        )
    candidates: list[tuple[tuple[int, ...], float]]
    if scheduler:
        # Single peers, of worth 0, and all others together.
        left = [~(np.arange(n_peers) == peer) for peer in range(n_peers)]
        candidates = [((peer,), 0.0) for peer in range(n_peers)]
        candidates += [
            ((*np.flatnonzero(each).tolist(), n_peers), worth_of(market, each)) for each in left
        ]
    else:
        worths = coalition_worths(market)
        worst = int(np.argmax(excesses(worths, given)))
        members = np.flatnonzero(membership(n_peers)[worst]).tolist()
        candidates = [(tuple(members), float(worths[worst]))]
    objections = [
        Objection(members, worth, float(np.sum(given[list(members)])))
        for members, worth in candidates
    ]
    found = max(objections, key=lambda each: each.worth - each.share)
    return found if found.worth - found.share > _EQUAL * total else None


@dataclass(frozen=True, eq=False)
class Shapley:
    """Shapley's value.

    Attributes
    ----------
    shares : float64, shape (n_players,)
        Share of each player; their sum is the worth of all [price].
    margins : float64, shape (n_players,)
        Half widths of the simultaneous confidence intervals; 0 if all coalitions were enumerated
        [price].
    """

    shares: Floats
    margins: Floats


def shapley_value(
    market: BundleMarket,
    *,
    scheduler: bool = False,
    samples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Shapley:
    """Return the mean contribution of players to those before them, over all orders [1]_.

    Parameters
    ----------
    market : BundleMarket
        The market of all peers.
    scheduler : bool
        True if the local scheduler is the last player, without which worths are 0.
    samples : int, optional
        Number of orders that are drawn; None for all orders, with 16 peers at most.
    confidence : float
        Probability that all margins hold, by Hoeffding's inequality: the contribution of a peer
        lies between that to all others and its own worth [2]_.
    seed : int
        Seed of the draws.

    Returns
    -------
    Shapley
        The shares and how far they may be off.

    Raises
    ------
    WorkloadError
        A parameter is out of its range.
    InfeasibleError
        There are too many peers for all coalitions.

    References
    ----------
    .. [1] L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games
       II, Annals of Mathematics Studies 28.
    .. [2] S. Maleki, L. Tran-Thanh, G. Hines, T. Rahwan, A. Rogers (2013). Bounding the estimation
       error of sampling-based Shapley value approximation. arXiv:1306.4265.
    """
    n_players = market.n_peers + scheduler
    if samples is None:
        shares = _exact_shares(coalition_worths(market, scheduler=scheduler))
        return Shapley(shares, np.zeros(n_players))
    if not 0 < confidence < 1:
        raise WorkloadError(f"confidence is {confidence!r}; give a probability between 0 and 1")
    draws, total = np.random.default_rng(seed), np.zeros(n_players)
    for _ in range(whole("samples", samples)):
        members, before = np.zeros(n_players, dtype=bool), 0.0
        for player in draws.permutation(n_players).tolist():
            members[player] = True
            sells = not scheduler or members[-1]
            now = worth_of(market, members[: market.n_peers]) if sells else 0.0
            total[player] += now - before
            before = now
    wide = math.sqrt(log(2 * n_players / (1 - confidence)) / (2 * samples))
    # Ranges of the contributions of players.
    each = np.eye(market.n_peers, dtype=bool)
    ranges = np.array([worth_of(market, own) for own in each])
    everyone = worth_of(market, np.ones(market.n_peers, dtype=bool))
    if scheduler:
        ranges = np.append(ranges, everyone)
    else:
        ranges -= np.array([everyone - worth_of(market, ~own) for own in each])
    return Shapley(total / samples, ranges * wide)


def _exact_shares(worths: Floats) -> Floats:
    """Return Shapley's value of a game."""
    n_players = len(worths).bit_length() - 1
    members = membership(n_players).astype(bool)
    sizes = members.sum(axis=1)
    weights = np.array(
        [1 / (n_players * math.comb(n_players - 1, size)) for size in range(n_players)]
    )
    shares = np.empty(n_players)
    for player in range(n_players):
        without = np.flatnonzero(~members[:, player])
        added = worths[without | (1 << player)] - worths[without]
        shares[player] = np.sum(weights[sizes[without]] * added)
    return shares
