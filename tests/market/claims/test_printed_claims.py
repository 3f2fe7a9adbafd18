import re

from simplugin.market.isgbmat import PRINTED, REPAIRS, run_isgbmat
from simplugin.market.isgbmat_trials import STAGES, drawn_markets
from simplugin.market.printed_claims import (
    PARTS,
    passes,
    printed,
    repair_listing,
    repairs,
    result,
    stage_listing,
    trims,
)


def numbers(text):
    return [int(number) for number in re.findall(r"\b\d+\b", text)]


def test_how_it_ends():
    literal, cured = printed(quick=True)
    runs, ended, priced, *rest = numbers(literal.measured.replace("0/0", ""))
    assert not literal.agrees
    assert (runs, ended + sum(rest)) == (100, 100)
    # A first price that is the mean leaves someone idle, unless all are alike.
    assert priced == 0
    assert rest[0] == 100 - ended
    runs, ended, priced, *rest = numbers(cured.measured.replace("0/0", ""))
    assert not cured.agrees
    assert ended == priced
    assert rest[0] == 0
    assert (runs, ended + sum(rest)) == (100, 100)


def test_what_ends_as_printed_has_taken_m_in_its_first_pass():
    for drawn, _ in drawn_markets(quick=True):
        run = run_isgbmat(*drawn.arguments, PRINTED)
        if run.end == "ended":
            price = drawn.values.mean()
            assert run.passes == 1
            assert drawn.market.response(price).sum() == drawn.m


def test_results():
    optimal, put_out, clearing = result(quick=True)
    assert optimal.agrees
    assert not put_out.agrees
    assert put_out.measured.startswith("in 0 of ")
    assert not clearing.agrees


def test_passes_exceed_m():
    [claim] = passes(quick=True)
    assert not claim.agrees
    assert claim.paper == "the maximum value of S is equal to m"


def test_repairs():
    whole, needed = repairs(quick=True)
    assert whole.agrees
    assert whole.measured == "in 100 of 100 markets"
    assert needed.agrees
    assert all(repair.key in needed.measured for repair in REPAIRS)


def test_trims_lose():
    [claim] = trims(quick=True)
    assert claim.agrees


def test_listings():
    assert repair_listing(quick=True).column("Repair") == tuple(repair.key for repair in REPAIRS)
    stages = stage_listing(quick=True)
    assert stages.column("Fig. 2") == tuple(STAGES)
    for line in stages.lines:
        assert sum(line[1:5]) == 100
    assert stages.lines[-1][1:] == (100, 0, 0, 0, 100, 100)


def test_parts():
    assert set(PARTS) == {"as printed", "results", "at most m passes", "repairs", "trims"}
