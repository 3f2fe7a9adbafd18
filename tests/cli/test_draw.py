"""``simplugin platform draw`` as users call it."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "platforms_xml"
COMMAND = [sys.executable, "-m", "simplugin.cli", "platform", "draw"]


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "draw")


def test_draws_a_file(tmp_path, call):
    options = ["--title", "A tree"]
    done = subprocess.run(
        [*COMMAND, FILES / "tree.xml", "-o", tmp_path / "a.svg", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # Another process comes to the same bytes.
    done = call(FILES / "tree.xml", "-o", tmp_path / "b.svg", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = (tmp_path / "a.svg").read_text()
    assert ">A tree<" in text
    assert ">n11<" in text
    assert text == (tmp_path / "b.svg").read_text()


def test_detail_is_that_asked_for(tmp_path, call):
    for detail in ("hosts", "clusters"):
        done = call(FILES / "lille.xml", "-o", tmp_path / f"{detail}.svg", "--detail", detail)
        assert done.returncode == 0, done.stderr
    # Hosts one by one have no count.
    assert "53 hosts" not in (tmp_path / "hosts.svg").read_text()
    assert "53 hosts" in (tmp_path / "clusters.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FILES / "tree.xml", "-o", "x.gif"), "x.gif: cannot draw that; end the name with .png"),
        ((FILES / "none.xml", "-o", "x.png"), "none.xml"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(arguments, message, call):
    done = call(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_two_sites_of_grid5000(tmp_path, simplugin):
    made, image = tmp_path / "two.xml", tmp_path / "two.png"
    simplugin("platform", "grid5000", "--site", "nancy", "--site", "lille", "-o", made)
    assert simplugin("platform", "draw", made, "-o", image).returncode == 0
    assert image.stat().st_size > 10_000
