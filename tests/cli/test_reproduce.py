"""``simplugin reproduce`` as users call it, with a few parts of pricing, once for all tests."""

import json
import math

import pytest

from simplugin.campaigns.store import StoreReader
from simplugin.papers.bertin import experiments

PARTS = ("rounds", "scaled")
FIGURES = ("figure 5", "markets")


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


def measured(claims, name):
    return next(claim["measured"] for claim in claims if claim["id"] == name)


def test_json_and_nothing_else(reproduction):
    done, _ = reproduction
    assert done.returncode == 0
    assert "\n4 of 4 done" in f"\n{done.stderr}"
    [line] = done.stdout.splitlines()
    assert list(json.loads(line)) == ["claims"]


def test_claims_are_complete(reproduction):
    claims = claims_of(reproduction[0])
    assert len(claims) >= len(PARTS)
    for claim in claims:
        assert {"claim", "paper", "measured", "agrees", "why"} <= set(claim)
        assert claim["agrees"] in (True, False)
        for value in (claim["paper"], claim["measured"]):
            assert isinstance(value, str) or math.isfinite(value)
        assert claim["why"]
        assert claim["source"]
        assert "capability" not in claim


def test_counts_of_the_report(reproduction):
    claims = claims_of(reproduction[0])
    [scaled] = [each for each in claims if each["id"] == "rounds-5-percent"]
    assert scaled["measured"] == 17
    # All processors are busy: log of 2.5e9 / 3 / flop, summed.
    best = sum(math.log(2.5e9 / 3 / flop) for flop in (5000, 800, 1500))
    assert scaled["optimum"] == pytest.approx(best, rel=1e-9)
    # No reading reproduces every statement.
    assert any(not each["agrees"] for each in claims)


def test_agents_do_what_the_equations_say(reproduction):
    claims = claims_of(reproduction[0])
    assert measured(claims, "local-updates") <= 1e-9
    # There and back on a tree of four links.
    assert measured(claims, "traversals") == pytest.approx(8, abs=0.1)


def test_files(reproduction):
    done, place = reproduction
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)
    page = (place / "made/pricing.md").read_text()
    assert "    simplugin reproduce pricing --quick -o DIR\n" in page
    assert all(claim["source"] in page for claim in claims_of(done))
    drawn = sorted((place / "made").glob("*.png"))
    assert len(drawn) >= len(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_what_was_measured_is_not_measured_again(reproduction, simplugin):
    done, place = reproduction
    again = simplugin("reproduce", "pricing", "--quick", "-o", "made", cwd=place)
    assert again.returncode == 0
    assert again.stdout.endswith("4 parts measured, 4 of them before; kept in made/store.sqlite\n")
    with StoreReader(place / "made/store.sqlite") as reader:
        assert len(list(reader.runs())) == len(PARTS) + len(FIGURES)
    assert json.loads((place / "made/claims.json").read_text()) == json.loads(done.stdout)


def test_unknown_capability(tmp_path, simplugin):
    done = simplugin("reproduce", "prices", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simplugin: there is nothing called 'prices'")


def test_directory_that_cannot_be_made_is_told_before_the_work(tmp_path, simplugin):
    (tmp_path / "taken").write_text("")
    done = simplugin("reproduce", "pricing", "--quick", "-o", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert "taken" in done.stderr
    assert done.stdout == ""
