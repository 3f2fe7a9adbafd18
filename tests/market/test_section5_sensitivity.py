"""In which part of settings orders hold: against tables made one by one."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.market.section5 import ALGORITHMS, RELATIONS, SETTINGS, Relation, row
from simplugin.market.section5_sensitivity import (
    CHOSEN,
    VARIATIONS,
    Variation,
    holding,
    sensitivity,
)
from simplugin.market.section5_sites import consistent_site

SITES = 3


def place(*words):
    """Number of a relation."""
    return RELATIONS.index(Relation(*words))


def variation(words):
    """One of those shipped."""
    return next(each for each in VARIATIONS if each.words == words)


@pytest.mark.parametrize("seed", range(SITES))
def test_relations_are_judged_site_by_site(seed):
    held = holding(CHOSEN, SITES, 1)
    assert held.shape == (SITES, 3, 9)
    for number, setting in enumerate(SETTINGS):
        table = {name: row(consistent_site(seed), setting, name, 1) for name in ALGORITHMS}
        assert held[seed, number].tolist() == [relation.holds(table) for relation in RELATIONS]


def test_an_auction_of_next_values_is_never_below_the_maximum():
    held = holding(variation("Auction, bids of next values"), SITES, 1)
    assert not held[..., place("benefit", "isgbmat", "double_auction")].any()


def test_auctions_that_prefer_the_expensive_take_less_time_in_total():
    # Tasks move from slower to faster peers, so that no other order is possible.
    for words in ("Auction, bids of mean prices", "Auction, bids of first prices"):
        held = holding(variation(words), SITES, 1)
        assert not held[..., place("total", "proportional_share", "double_auction")].any()


def test_a_stand_in_replaces_one_algorithm_only():
    other = Variation("reading", "cheapest", stand_in=(("commodity", "commodity_cheapest"),))
    usual, read = (each.rows(SETTINGS[0], 0, 1) for each in (CHOSEN, other))
    assert usual["isgbmat"] == read["isgbmat"]
    # Computation-intensive tasks all go to peer 10, where each takes 800 s.
    assert read["commodity"].completion == pytest.approx(800_000, rel=1e-9)


def test_variations_cover_what_the_paper_leaves_open():
    words = {each.words for each in VARIATIONS}
    assert len(words) == len(VARIATIONS) == 3 + 5 + 4 + 2 + 5
    assert {"alpha 0.003", "alpha 0.006", "alpha 0.02", "alpha 0.03"} <= words
    assert {each.group for each in VARIATIONS if each.stand_in} == {"reading"}


def test_the_listing_has_a_line_a_variation():
    listing = sensitivity(2, 1, 1)
    assert len(listing.lines) == 1 + len(VARIATIONS)
    assert len(listing.columns) == 2 + 9 + 1
    parts = np.array([line[2:] for line in listing.lines], dtype=float)
    assert np.all((parts >= 0) & (parts <= 1))
    assert np.all(parts[:, -1] <= parts[:, :-1].min(axis=1))
    assert listing.column("settings")[:2] == (6, 1)
