"""``simplugin reproduce`` as users call it, with a few parts of pricing, once for all tests."""

import json
import math

import pytest

from simplugin.campaigns.store import StoreReader
from simplugin.pricing import claims as pricing

PARTS = (
    "scaled version",
    "rounds of agents",
    "local agents",
    "throughputs of the scaled version",
)
FIGURES = ("figure 5", "markets")


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory, simplugin):
    """The quick run with figures, and where they are."""
    place = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pricing, "PARTS", {name: pricing.PARTS[name] for name in PARTS})
        patch.setattr(pricing, "FIGURES", {name: pricing.FIGURES[name] for name in FIGURES})
        yield simplugin("reproduce", "pricing", "--quick", "--json", "-o", "made", cwd=place), place


def claims_of(done):
    return json.loads(done.stdout)["claims"]


def measured(claims, start):
    return next(claim["measured"] for claim in claims if claim["claim"].startswith(start))


def test_json_and_nothing_else(reproduction):
    done, _ = reproduction
    assert done.returncode == 0
    assert "\n6 of 6 done" in f"\n{done.stderr}"
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
    scaled = [each for each in claims if "within 5 %" in each["claim"]]
    # From the pure iteration, and from messages.
    assert [each["measured"] for each in scaled[:2]] == [17, 17]
    # All processors are busy: log of 2.5e9 / 3 / flop, summed.
    best = sum(math.log(2.5e9 / 3 / flop) for flop in (5000, 800, 1500))
    assert scaled[0]["optimum"] == pytest.approx(best, rel=1e-9)
    # A statement that no reading reproduces is told as such.
    assert any(not each["agrees"] for each in claims)


def test_agents_do_what_the_equations_say(reproduction):
    claims = claims_of(reproduction[0])
    words = measured(claims, "All updates can be done from local variables").split()
    assert float(words[2]) <= 1e-9
    # There and back on a tree of four links.
    latencies = measured(claims, "Each step requires a complete traversal").split()
    assert float(latencies[0]) == pytest.approx(8, abs=0.1)


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
    assert again.stdout.endswith("6 parts measured, 6 of them before; kept in made/store.sqlite\n")
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
