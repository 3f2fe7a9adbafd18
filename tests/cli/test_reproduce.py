"""``simplugin reproduce`` as users call it; the quick run of pricing once for all tests."""

import json
import math
import os
import subprocess
import sys

import pytest

from simplugin.pricing.claims import FIGURES, PARTS

COMMAND = [sys.executable, "-m", "simplugin.cli", "reproduce"]


def call(*arguments, cwd):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    """The quick run with figures, and where they are."""
    place = tmp_path_factory.mktemp("reproduction")
    return call("pricing", "--quick", "--json", "-o", "made", cwd=place), place / "made"


def claims_of(done):
    return json.loads(done.stdout)["claims"]


def measured(claims, start):
    return next(claim["measured"] for claim in claims if claim["claim"].startswith(start))


def test_json_and_nothing_else(reproduction):
    done, _ = reproduction
    assert (done.returncode, done.stderr) == (0, "")
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
    done, made = reproduction
    assert json.loads((made / "claims.json").read_text()) == json.loads(done.stdout)
    drawn = sorted(made.glob("*.png"))
    assert len(drawn) >= len(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    assert {f"figure{number}" for number in range(3, 12)} <= {
        path.stem.partition("-")[0] for path in drawn
    }


def test_unknown_capability(tmp_path):
    done = call("prices", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simplugin: there is nothing called 'prices'")


def test_directory_that_cannot_be_made_is_told_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("")
    done = call("pricing", "--quick", "-o", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "simplugin: taken: cannot be made: File exists\n"
