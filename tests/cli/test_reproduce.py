"""``simplugin reproduce`` as users call it, with a few parts of pricing, once for all tests."""

import json
import re

import pytest

from simplugin.campaigns.store import StoreReader
from simplugin.papers.bertin import experiments

PARTS = ("unscaled", "tasks")
FIGURES = ("figure 5",)


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory, simplugin):
    """The quick run with figures, and where they are."""
    place = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        for table, names in (("EXPERIMENTS", PARTS), ("FIGURES", FIGURES)):
            known = getattr(experiments, table)
            patch.setattr(experiments, table, {name: known[name] for name in names})
        yield simplugin("reproduce", "pricing", "--quick", "--json", "-o", "made", cwd=place), place


def claims_of(done):
    return json.loads(done.stdout)["claims"]


def test_json_and_nothing_else(reproduction):
    done, _ = reproduction
    assert (done.returncode, "\n3 of 3 done" in f"\n{done.stderr}") == (0, True)
    [line] = done.stdout.splitlines()
    assert list(json.loads(line)) == ["claims"]


def test_claims_are_measured(reproduction):
    claims = {each["id"]: each for each in claims_of(reproduction[0])}
    # The axis of Figure 5 ends at 6e5.
    assert 5e5 < claims["unscaled-highest"]["measured"] <= 6e5
    assert claims["unscaled-zero"]["measured"] == claims["unscaled-zero"]["paper"] == 0
    assert 0 < claims["dispatch"]["measured"] < 0.01
    # Figure 2's edges decide, which the report only draws.
    assert [name for name, each in claims.items() if each["agrees"] is None] == ["unscaled-highest"]
    assert all(each["why"] for each in claims.values())


def test_files(reproduction):
    done, place = reproduction
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)
    page = (place / "made/pricing.md").read_text()
    assert "    simplugin reproduce pricing --quick -o DIR\n" in page
    assert all(claim["claim"] in page for claim in claims_of(done))
    kept = json.loads((place / "made/pricing.json").read_text())
    assert {each["id"] for each in kept["claims"]} == {each["id"] for each in claims_of(done)}
    drawn = sorted((place / "made").glob("*.png"))
    assert len(drawn) >= len(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_what_was_measured_is_not_measured_again(reproduction, simplugin):
    done, place = reproduction
    again = simplugin("reproduce", "pricing", "--quick", "-o", "made", cwd=place, status=0)
    *_, kept, more, hours = again.stdout.splitlines()
    assert kept == "3 parts measured, 3 of them before; kept in made/store.sqlite"
    assert re.fullmatch(r"the full run measures \d+ statements more and .* 0 of the 0 .*;", more)
    assert re.fullmatch(r"it takes about \S+ h on one core: simplugin reproduce pricing", hours)
    with StoreReader(place / "made/store.sqlite") as reader:
        assert len(list(reader.runs())) == len(PARTS) + len(FIGURES)
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)


def test_what_cannot_be_reproduced_is_told_before_the_work(tmp_path, simplugin):
    (tmp_path / "taken").write_text("")
    for words, told in (
        (("prices",), "simplugin: there is nothing called 'prices'"),
        (("pricing", "--quick", "-o", "taken"), "taken"),
    ):
        done = simplugin("reproduce", *words, cwd=tmp_path, status=1)
        assert (done.stdout, told in done.stderr) == ("", True)
