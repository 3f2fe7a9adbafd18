"""``simplugin platform draw`` as users call it."""

import subprocess
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "platforms_xml"
COMMAND = [sys.executable, "-m", "simplugin.cli", "platform", "draw"]


def call(*arguments):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_draws_a_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        done = call(FILES / "tree.xml", "-o", tmp_path / name, "--title", "A tree")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = (tmp_path / "a.svg").read_text()
    assert ">A tree<" in text
    assert ">n11<" in text
    assert text == (tmp_path / "b.svg").read_text()


def test_detail_is_that_asked_for(tmp_path):
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
def test_what_is_wrong_is_told_in_one_line(arguments, message):
    done = call(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
