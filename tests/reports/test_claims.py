"""Claims in the terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from simplugin.claims import Claim
from simplugin.reports.claims import claims_summary, claims_table, written_interval

CLAIMS = [
    Claim("A|B shares", 1.0, 1.25, False, "the *tie* rule\ndiffers", "Fig. 2", 1.5, {"seed": 7}),
    Claim("rounds", "few", 3, True, "under 10", "sec. 1", None, {"seeds": [1, 2], "m": {"a": 0.5}}),
]


def printed(table):
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    return [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]


def test_claims_stand_beside_their_measurements():
    lines = printed(claims_table(CLAIMS, "pricing"))
    assert (lines[0], lines[-1]) == ("pricing", "1 of 2 paper statements agree")
    assert {"A|B shares 1 1.25 no", "rounds few 3 yes", "sec. 1: under 10"} <= {*lines}


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((1.0, 1.25), "1 to 1.25"),
        ((1.0, "inf"), "1 or more"),
        (("-inf", 1.5), "1.5 or less"),
        (("-inf", "inf"), ""),
        ((2.0, 2.0), ""),
    ],
)
def test_an_interval_stands_below_its_value(ends, words):
    claim = replace(CLAIMS[0], quantity={"interval": ends})
    assert written_interval(claim) == words
    assert words in " ".join(printed(claims_table([claim])))


def test_many_claims_are_counted_by_capability():
    lines = printed(claims_summary({"one": CLAIMS, "two": CLAIMS[:1]}))
    assert {"one the paper 2 1 1 0", "two the paper 1 0 1 0"} <= {*lines}
