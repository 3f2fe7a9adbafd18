"""Modules beside a scenario with the names of others: nobody named them, and they are not run."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from changed_scenarios import change
from nbclient import NotebookClient

from simplugin.campaigns.campaign import load_campaign
from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario

# Of the standard library, of installed packages, of this one, and of some that it does without.
NAMES = [
    *("sitecustomize", "usercustomize", "random", "json", "socket", "runpy", "platform", "queue"),
    *("numpy", "scipy", "networkx", "highspy", "cvxpy", "clarabel", "pydantic", "typer", "rich"),
    *("matplotlib", "lazy_loader", "cloudpickle", "pyarrow", "IPython", "distributed", "dask"),
    *("msgpack", "tornado", "simgrid", "simplugin", "conftest"),
]
BAGS = """
[platform]
generator = "random_tree"
parameters = { n_hosts = 3, max_degree = 2 }
[workload]
kind = "bags"
applications = [{ name = "render", master = "n0", flop = "6Gf", byte = "2MB", count = 4 }]
[scheduler]
name = "bags.lp"
"""
SWEEP = "[sweep]\nplatform.seed = [1, 2]\n"
OWN = """
[platform]
generator = "star"
parameters = { workers = 2, speed = "1Gf" }
[workload]
kind = "actors"
actors = [{ function = "mine:work", host = "master" }]
"""
MINE = """
import numpy
from helpers import FLOPS
async def work(me):
    await me.execute(float(numpy.sum(FLOPS)))
"""
COMMANDS = [
    ("check", "one.toml", "many.toml", "own.toml"),
    ("check", "--import", "own.toml"),
    ("run", "one.toml"),
    ("run", "own.toml", "--back-end", "threads"),
    ("run", "own.toml", "-o", "out"),
    ("campaign", "run", "many.toml", "-j", "2"),
    ("campaign", "run", "own.toml", "-j", "1", "--import"),
    ("report", "many.toml", "-o", "page"),
    ("regress", "one.toml", "own.toml", "--update"),
    ("platform", "generate", "star", "workers=2", "speed=1Gf", "-o", "star.xml"),
    ("check", "star.xml"),
    ("new", "actors", "example.py"),
]


@pytest.fixture
def place(tmp_path):
    """A directory of scenarios and hostile modules, each of which leaves a file when it is run."""
    directory = tmp_path / "place"
    directory.mkdir()
    (tmp_path / "ran").mkdir()
    for name in NAMES:
        code = f"open({str(tmp_path / 'ran' / name)!r}, 'w').close()\n"
        (directory / f"{name}.py").write_text(code)
    for name, text in (("one", BAGS), ("many", BAGS + SWEEP), ("own", OWN)):
        (directory / f"{name}.toml").write_text(text)
    (directory / "mine.py").write_text(MINE)
    (directory / "helpers.py").write_text("FLOPS = [1e9, 2e9]\n")
    yield directory
    assert not [path.name for path in (tmp_path / "ran").iterdir()]


def command(directory, *words, **environment):
    """Run a command there; return what it printed."""
    given = {"cwd": directory, "env": os.environ | environment, "timeout": 300}
    answer = subprocess.run(words, capture_output=True, text=True, check=False, **given)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def test_commands_run_no_module_that_is_not_named(place):
    program = Path(sys.executable).with_name("simplugin")
    for words in COMMANDS:
        command(place, program, *words)
    command(place, sys.executable, "-m", "simplugin", "run", "own.toml")


def test_scenarios_of_programs_and_notebooks_elsewhere(place, tmp_path):
    code = f"from simplugin.scenarios import load_scenario, run_scenario\nplace = {str(place)!r}\n"
    code += "run_scenario(load_scenario(place + '/own.toml')).result.clock"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert notebook.cells[0].outputs[-1]["data"]["text/plain"] == "3.0"
    with pytest.warns(UserWarning, match=r"numpy\.py is not imported.*rename it"):
        assert run_scenario(load_scenario(place / "own.toml")).result.clock == 3.0


def test_no_environment_variable_leads_there(place, monkeypatch):
    # What a program's path holds is its own, but Python has not looked there for sitecustomize.
    monkeypatch.syspath_prepend(place)
    for name in NAMES:
        if name not in ("sitecustomize", "usercustomize"):
            (place / f"{name}.py").unlink()
    (place / "mine.py").write_text(
        "import os\nasync def work(me):\n    return os.environ.get('PYTHONPATH')\n"
    )
    result = run_scenario(load_scenario(place / "own.toml")).result
    assert result.value_of("work") == os.environ.get("PYTHONPATH")


# It runs the jobs at once, here, with the directory that Slurm would start them in.
SBATCH = """#!/bin/sh
[ "$1" = --test-only ] && exit
job=$(mktemp {0}/job.XXXXXX)
cp "$1" "$job" # the caller deletes its file
sh "$job" > "$job.log" 2>&1 &
echo $! >> {0}/pids
echo "Submitted batch job 1"
"""


def test_workers_that_slurm_starts_there(place, tmp_path):
    for name, text in (("sbatch", SBATCH.format(tmp_path)), ("scancel", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    words = [Path(sys.executable).with_name("simplugin"), "campaign", "run", "--slurm"]
    with (place / "many.toml").open("a") as file:
        file.write('[slurm]\nmemory = "4GB"\n')
    told = command(place, *words, "many.toml", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert "2 of 2 runs done" in told


TAKEN = ["numpy", "random", "cloudpickle"]


@pytest.mark.parametrize("name", TAKEN)
def test_names_of_others_are_refused(place, name):
    file = change(place / "own.toml", "mine:work", f"{name}:work")
    for act in (load_campaign, lambda path: run_scenario(load_scenario(path))):
        with pytest.raises(ScenarioError) as caught:
            act(file)
        assert f"rename {name}.py" in caught.value.remedy
