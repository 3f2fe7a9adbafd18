"""Texts of somebody else's files: none of them steers the terminal that shows them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core.formatting import printable

# A colour, a title of the window, a C1 control, an override of the direction, half a character.
EVIL = r"a\u001b[31mRED\u009b2J\u001b]0;owned\u0007\u202e\u2066\u007f"
FILE = f"""
title = "{EVIL}"
[platform]
generator = "star"
parameters = {{ workers = 2, speed = "1Gf" }}
[workload]
kind = "actors"
actors = [{{ function = "mine:work", host = "master" }}]
[metrics]
function = "mine:measured"
[sweep]
simulation.seed = [1, 2]
"""
MINE = f"""
EVIL = "{EVIL}" + "\\ud800"
async def work(me):
    me.log(EVIL)
    await me.execute(1e8, label=EVIL)
def measured(outcome):
    return {{"text": EVIL[:-1]}}
"""


def steers(text):
    """Return what would steer a terminal: controls, surrogates, separators and directions."""
    return {
        each
        for each in text
        if each not in "\n\t"
        and (
            unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(each) in ("LRE", "RLE", "LRO", "RLO", "PDF")
            or unicodedata.bidirectional(each) in ("LRI", "RLI", "FSI", "PDI")
        )
    }


@given(st.text(st.characters()))
def test_printable(text):
    shown = printable(text)
    assert not steers(shown)
    shown.encode()
    if not steers(text):
        kept = [each for each in text if each not in "\u061c\u200e\u200f\ufffe\uffff"]
        assert all(each in shown for each in kept)


@pytest.fixture
def place(tmp_path):
    single = FILE[: FILE.index("[sweep]")]
    texts = {"f.toml": single, "c.toml": FILE, "mine.py": MINE}
    texts["bad.toml"] = single.replace("workers = 2", f'"{EVIL}" = 2')
    texts["name.toml"] = single.replace("master", EVIL)
    texts["raises.toml"] = single.replace("mine:work", "raising:work")
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    raising = f'async def work(me):\n    raise ValueError("{EVIL}")\n'
    (tmp_path / "raising.py").write_text(raising)
    return tmp_path


COMMANDS = [
    ("run f.toml", 0),
    ("run bad.toml", 1),
    ("run name.toml", 1),
    ("run raises.toml", 1),
    ("check bad.toml name.toml", 1),
    ("campaign run c.toml --dry-run", 0),
    ("campaign run c.toml -j 1", 0),
    ("campaign run raises.toml -j 1", 1),
    ("campaign status c.toml", 0),
    ("campaign status raises.toml", 0),
    ("regress f.toml --update", 0),
    ("report c.toml -o page --figures none", 0),
]


def test_commands(place, simplugin):
    for words, status in COMMANDS:
        answer = simplugin(*words.split(), cwd=place, status=status)
        told = answer.stdout + answer.stderr
        assert told
        assert not steers(told), (words, told)
    assert "owned" in simplugin("run", "f.toml", cwd=place).stdout
    # A file gets what there is, a terminal what it can show.
    query = ("campaign", "query", "c.toml", "SELECT text FROM results", "--csv")
    assert "\x1b" in simplugin(*query, cwd=place).stdout
