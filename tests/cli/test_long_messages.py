"""Findings of files with megabytes of mistakes: few, short, and counted."""

import json

import pytest

from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import folded
from simplugin.scenarios import load_scenario

WORKLOAD = '[workload]\nkind = "actors"\nactors = [{ function = "mine:a", host = "master" }]\n'
STAR = '[platform]\ngenerator = "star"\nparameters = { workers = 2 }\n'
DIGITS = "9" * 900_000
PARAMETERS = "parameters = { workers = 2 }"
LONG = {
    "number.toml": STAR.replace("workers = 2", f'workers = 2, speed = "{DIGITS}"') + WORKLOAD,
    "key.toml": f"{STAR}{WORKLOAD}[{'k' * 1_000_000}]\nx = 1\n",
    "list.toml": STAR.replace("2 }", f"{list(range(50_000))} }}") + WORKLOAD,
    "name.toml": STAR.replace("star", "s" * 500_000) + WORKLOAD,
    "function.toml": STAR + WORKLOAD.replace("mine:a", f"{'m' * 500_000}:a"),
    "file.toml": f'[platform]\nfile = "{"f" * 5_000}.xml"\n{WORKLOAD}',
    "keys.toml": STAR + WORKLOAD + "".join(f"key{number} = 1\n" for number in range(5_000)),
    "campaign.toml": f'{STAR}{WORKLOAD}[sweep]\n"platform.parameters.speed" = ["{DIGITS}"]\n',
    "one.xml": f'<platform version="4.1"><host id="{"h" * 900_000}" speed="x"/></platform>',
    "many.xml": '<platform version="4.1"><zone id="z" routing="Full">'
    + "".join(f'<host id="h{number}" speed="bad{number}"/>\n' for number in range(385))
    + "</zone></platform>",
}


@pytest.mark.parametrize("name", LONG)
def test_messages_are_short(tmp_path, name, simplugin):
    file = tmp_path / name
    file.write_text(LONG[name])
    (tmp_path / "mine.py").write_text("async def a(me):\n    pass\n")
    answer = simplugin("check", file, status=1)
    lines = (answer.stdout + answer.stderr).replace(str(file), "").splitlines()
    assert 2 <= len(lines) <= 55
    assert max(map(len, lines)) < 2_500
    assert not [line for line in lines for word in line.split() if len(word) > 200]
    if name in ("key.toml", "keys.toml"):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(file)
        assert len(str(caught.value)) < 30_000


def test_findings_of_one_kind_are_counted(tmp_path, simplugin):
    file = tmp_path / "many.xml"
    file.write_text(LONG["many.xml"])
    answer = simplugin("check", file, status=1)
    assert len(answer.stdout.splitlines()) < 15
    assert "... and 375 more of this kind" in answer.stdout
    assert "386 errors" in answer.stderr
    every = json.loads(simplugin("check", file, "--json", status=1).stdout)
    assert len(every["findings"]) == 386


def test_folded():
    alike = [f"f:{line}: host 'h{line}' has {line / 3} cores" for line in range(12)]
    assert list(folded(alike)) == [*alike[:10], "... and 2 more of this kind"]
    assert list(folded(alike[:10])) == alike[:10]
    different = [f"f:1: {'x' * kind} is odd" for kind in range(60)]
    assert list(folded(different)) == [*different[:50], "... and 10 more findings"]
    assert list(folded(different[:50])) == different[:50]
