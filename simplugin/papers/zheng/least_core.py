"""The least core of a game of coalitions, by a linear program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.optimum.solvers import build_highs, certify, solve_highs

Floats = NDArray[np.float64]
# Number of coalitions that each step adds to the program, and tolerance of an excess, relative to
# the largest worth.
_ADDED, _EXACT = 32, 1e-9


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
        added = worst[excess[worst] > epsilon + _EXACT].tolist()
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
