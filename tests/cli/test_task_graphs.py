"""`simplugin run` on task graphs."""

import json
from pathlib import Path

from typer.testing import CliRunner

from simplugin.cli import app

SCENARIO = Path(__file__).parents[2] / "scenarios" / "taskgraphs.toml"


def test_files_are_written(tmp_path):
    done = CliRunner().invoke(app, ["run", str(SCENARIO), "-o", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    names = ["gantt.png", "graphs.png", "result.json"]
    assert sorted(Path(each).name for each in document["files"]) == names
    assert sorted(each.name for each in tmp_path.iterdir()) == names
    assert document["best"]["metric"] == "makespan"
    assert [each["title"] for each in document["listings"]] == ["Graphs", "Clusters"]


def test_graphs_are_listed(tmp_path):
    done = CliRunner().invoke(app, ["run", str(SCENARIO), "--seed", "3", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    words = [line.split() for line in done.stdout.splitlines()]
    for name in ("wide", "long", "fft", "strassen"):
        assert [name] in [line[:1] for line in words]
    assert ["bound", "of", "makespan"] in [line[:3] for line in words]
