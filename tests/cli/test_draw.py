"""``simplugin platform draw`` as users call it."""

from functools import partial
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "platforms_xml"


@pytest.fixture
def call(simplugin):
    return partial(simplugin, "platform", "draw")


def test_draws_a_file(tmp_path, call):
    texts = []
    for name in ("a.svg", "b.svg"):
        done = call(FILES / "tree.xml", "-o", tmp_path / name, "--title", "A tree")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        texts.append((tmp_path / name).read_text())
    assert ">A tree<" in texts[0]
    assert ">n11<" in texts[0]
    assert texts[0] == texts[1]


def test_detail_is_that_asked_for(tmp_path, call):
    for detail in ("hosts", "clusters"):
        call(FILES / "lille.xml", "-o", f"{detail}.svg", "--detail", detail, cwd=tmp_path, status=0)
    # Hosts one by one have no count.
    assert "53 hosts" not in (tmp_path / "hosts.svg").read_text()
    assert "53 hosts" in (tmp_path / "clusters.svg").read_text()


def test_what_is_wrong_is_told_in_one_line(call):
    for file, picture, message in (
        ("tree.xml", "x.gif", "x.gif: cannot draw that; end the name with .png"),
        ("none.xml", "x.png", "none.xml"),
    ):
        done = call(FILES / file, "-o", picture)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert message in done.stderr
