"""The page of a reproduction, in Markdown."""

import io

from rich.console import Console

from simplugin.claims import Claim
from simplugin.reports.claims import Measurement, claims_page, claims_summary, claims_table

CLAIMS = [
    Claim("A|B shares", 1.0, 1.25, False, "the *tie* rule\ndiffers", "Fig. 2", 1.5, {"seed": 7}),
    Claim("rounds", "few", 3, True, "under 10", "sec. 1", None, {"seeds": [1, 2], "m": {"a": 0.5}}),
]
MEASUREMENT = Measurement(
    "Reproduction of x", "simplugin reproduce x", ("2026-01-01", "2026-01-02"), {"numpy": "2"}, 240
)


def printed(table):
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    return [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]


def cells(line):
    # Columns are separated by bars without a backslash.
    return [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]


def test_each_claim_is_a_line_under_its_verdict():
    text = claims_page(CLAIMS, MEASUREMENT)
    above, below = text.split("## What agrees")
    assert above.startswith("# Reproduction of x\n\n    simplugin reproduce x\n")
    assert "2026-01-01 to 2026-01-02 with numpy 2, in 4 minutes" in above
    assert "1 of 2 paper statements agree" in above
    [wrong] = [line for line in above.splitlines() if line.startswith("| A")]
    says = r"B shares<br>*Fig. 2*: the \*tie\* rule differs<br><small>seed 7</small>"
    assert cells(wrong) == [f"A\0{says}", "1", "1.25<br>optimum 1.5"]
    [right] = [line for line in below.splitlines() if line.startswith("| rounds")]
    says = "rounds<br>*sec. 1*: under 10<br><small>seeds 1, 2; m a 0.5</small>"
    assert cells(right) == [says, "few", "3"]


def test_claims_stand_beside_their_measurements():
    lines = printed(claims_table(CLAIMS, "pricing"))
    assert (lines[0], lines[-1]) == ("pricing", "1 of 2 paper statements agree")
    assert {"A|B shares 1 1.25 no", "rounds few 3 yes", "sec. 1: under 10"} <= {*lines}


def test_nothing_stands_under_a_verdict_that_no_claim_has():
    assert "What disagrees" not in claims_page(CLAIMS[1:], MEASUREMENT)


def test_many_claims_are_counted_by_capability():
    lines = printed(claims_summary({"one": CLAIMS, "two": CLAIMS[:1]}))
    assert {"one the paper 2 1 1 0", "two the paper 1 0 1 0"} <= {*lines}
