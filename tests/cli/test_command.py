"""The command as users call it: a process with arguments, streams and an exit status."""

import gc
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from changed_scenarios import change
from hypothesis import given
from hypothesis import strategies as st
from simgrid_texts import SIMGRID_VERSION

from simplugin.campaigns.store.schema import make_empty
from simplugin.cli.new import KINDS
from simplugin.cli.terminal import command_line
from simplugin.inputs.files import uncollected

TASK_GRAPHS = Path(__file__).parents[2] / "scenarios" / "taskgraphs.toml"
COMMAND = [sys.executable, "-m", "simplugin"]
# 200 MB at 100 MB/s, then 6 Gflop at 2 Gflop/s.
END = 2.0 + 3.0


def call(*arguments, cwd=None, **environment):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "120"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def lines_of(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_version_and_help(simplugin):
    words = simplugin("--version").stdout.split()
    assert words[0] == "simplugin"
    assert words[2:4] == ["SimGrid", f"{SIMGRID_VERSION},"]
    done = simplugin(merge=True)
    assert {"run", "check"} <= set(done.stdout.split())


def test_help_breaks_lines_where_the_terminal_ends(simplugin):
    lines = lines_of(simplugin("check", "--help").stdout)
    assert any("the modules that scenarios and campaigns" in line for line in lines)


def test_help_keeps_the_names_of_tables(simplugin):
    assert "[calibrate]" in simplugin("calibrate", "--help").stdout


def test_the_reference_is_the_page_and_explains_every_key(simplugin):
    page = Path(__file__).parents[2] / "docs" / "scenario-reference.md"
    told = simplugin("scenario", "--reference").stdout
    assert told == page.read_text()
    rows = [
        line.removeprefix("| ").split(" | ") for line in told.splitlines() if line.startswith("| `")
    ]
    assert not [row for row in rows if row[-1] in ("|", " |")]
    cells = {cell for row in rows for cell in row}
    assert {"`applications.flop`", "number > 0 or law", "flop/s", "required", '"3600s"'} <= cells


def test_start_is_light():
    program = (
        "import atexit, sys\n"
        "heavy = {'pydantic', 'pandas', 'numpy', 'matplotlib', 'lxml', 'simgrid', 'cloudpickle'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        "from simplugin.__main__ import main; sys.argv[1:] = ['--help']; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "Commands" in done.stdout
    assert done.stderr == "[]\n"


def test_run_prints_tables(lab, simplugin):
    done = simplugin("run", "scenario.toml", cwd=lab)
    assert (done.returncode, done.stderr) == (0, "")
    lines = lines_of(done.stdout)
    assert lines[0] == "Send, then work"
    assert "makespan 5 s" in lines
    assert "execution crunch 1 3 s 6 Gflop 2 Gflop/s" in lines
    assert "transfer data 1 2 s 200 MB 100 MB/s" in lines
    assert any(line.startswith("wire 200 MB 40 MB/s 40.0 %") for line in lines)
    assert not any(line.startswith("wrote") for line in lines)


def test_run_prints_json_and_nothing_else(lab):
    change(lab / "my_actors.py", "return me.now", "print('done')\n    return me.now")
    done = call("run", "scenario.toml", "--json", "--seed", 3, cwd=lab)
    assert (done.returncode, done.stderr) == (0, "done\n")
    [line] = done.stdout.splitlines()
    document = json.loads(line)
    assert document["metrics"]["makespan"]["value"] == pytest.approx(END)
    assert document["provenance"]["seed"] == 3
    assert document["returned"][1]["value"] == pytest.approx(END)
    assert document["files"] == []
    assert "done\n" in call("run", "scenario.toml", cwd=lab).stdout


def test_run_shows_what_actors_log_and_print(lab):
    said = "me.log('low', 'debug')\n    me.log('high')\n    print('done')\n    return me.now"
    change(lab / "my_actors.py", "return me.now", said)
    plain = call("run", "scenario.toml", "--log", "info", cwd=lab)
    (high,) = plain.stderr.splitlines()
    assert high.endswith(":(2) 5.000000] INFO: high")
    assert "done" in plain.stdout.splitlines()
    full = call("run", "scenario.toml", "--log", "debug", "--prefix-prints", cwd=lab)
    prefix = high.removesuffix("INFO: high")
    assert full.stderr.splitlines() == [f"{prefix}DEBUG: low", high]
    assert f"{prefix}done" in full.stdout.splitlines()
    assert call("run", "scenario.toml", "--log", "loud", cwd=lab).returncode == 2


def test_output_directory_gets_everything(lab, simplugin):
    done = simplugin("run", "scenario.toml", "-o", "made", cwd=lab, status=0)
    names = ("result.json", "trace.csv", "gantt.png")
    assert lines_of(done.stdout)[-3:] == [f"wrote made/{name}" for name in names]
    assert (lab / "made" / "gantt.png").read_bytes().startswith(b"\x89PNG")
    assert len((lab / "made" / "trace.csv").read_text().splitlines()) == 3


def test_back_end_from_the_command_line(lab, simplugin):
    words = ("run", "scenario.toml", "--back-end")
    document = json.loads(simplugin(*words, "threads", "--json", cwd=lab).stdout)
    assert document["provenance"]["back_end"] == "threads"
    assert document["metrics"]["makespan"]["value"] == pytest.approx(END, rel=1e-9)
    simplugin(*words, "magic", cwd=lab, status=2)


def test_task_graphs_have_tables_and_drawings(simplugin, tmp_path):
    done = simplugin("run", TASK_GRAPHS, "-o", tmp_path, status=0)
    words = [line.split() for line in done.stdout.splitlines()]
    assert {"wide", "long", "fft", "strassen"} <= {line[0] for line in words if line}
    assert ["bound", "of", "makespan"] in [line[:3] for line in words]
    names = ["gantt.png", "graphs.png", "result.json"]
    assert sorted(each.name for each in tmp_path.iterdir()) == names


FAILURES = {
    "unknown key": ("title =", "titel =", "scenario.toml:1: unknown key 'titel'"),
    "actor's exception": ("my_actors:work", "raising:work", "ValueError: not today"),
    "unknown host": ('"deployment.xml"', '"elsewhere.xml"', "dave"),
    "deadlock": ("my_actors:send", "silent:send", "deadlock at 0 s"),
    "too long": ("[simulation.options]", "[simulation]\nuntil = 1.0\n[simulation.options]", "1"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_one_message_and_status_one(lab, name, simplugin):
    old, new, told = FAILURES[name]
    module = (lab / "my_actors.py").read_text()
    (lab / "raising.py").write_text(
        module.replace("return me.now", "raise ValueError('not today')")
    )
    (lab / "silent.py").write_text("async def send(me, size):\n    return None\n")
    elsewhere = (lab / "deployment.xml").read_text().replace('"bob"', '"dave"')
    (lab / "elsewhere.xml").write_text(elsewhere)
    change(lab / "scenario.toml", old, new)
    done = simplugin("run", "scenario.toml", cwd=lab)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simplugin: ")
    assert told in done.stderr
    # The traceback of the user's actor may be shown, never ours.
    assert "simplugin/cli" not in done.stderr
    assert "simplugin/campaigns" not in done.stderr


def test_check_clean(lab, simplugin):
    done = simplugin("check", "platform.xml", "deployment.xml", cwd=lab)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "2 files: nothing found\n"


def test_check_findings(lab, simplugin):
    change(lab / "platform.xml", 'src="alice" dst="bob"', 'src="alice" dst="bobby"')
    done = simplugin("check", "platform.xml", cwd=lab, status=1)
    assert any(line.startswith("platform.xml:9: error: ") for line in done.stdout.splitlines())
    assert "gone.xml" in simplugin("check", "gone.xml", cwd=lab, status=2).stdout
    as_json = simplugin("check", "platform.xml", "--json", cwd=lab, status=1)
    document = json.loads(as_json.stdout)
    assert (document["status"], as_json.stderr) == (1, "")
    assert {"file", "line", "severity", "message", "remedy"} == set(document["findings"][0])


def run_on_terminal(lab, *arguments, interrupt_after=None):
    """Run on a pseudo-terminal; return what a user sees, and the exit status."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=lab,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        # A shell's background jobs ignore the signal, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(terminal)
    seen = b""
    deadline = time.monotonic() + 600
    try:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([master], [], [], 0.1)
            try:
                seen += os.read(master, 65536) if ready else b""
            except OSError:  # the other end is closed
                break
            if interrupt_after is not None and interrupt_after in seen:
                process.send_signal(signal.SIGINT)
                interrupt_after = None
        return seen.decode(errors="replace"), process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_progress_on_a_terminal(lab):
    seen, status = run_on_terminal(lab, "run", "scenario.toml")
    assert status == 0
    for words in ("simulating", "━", "makespan"):
        assert words in seen


def test_interrupt_ends_quickly_and_says_so(lab):
    endless = "    while True:\n        await me.sleep_for(1.0)\n"
    change(lab / "my_actors.py", "    return me.now\n", endless)
    # A trace without an end would fill the memory.
    without_trace = "[simulation]\ntrace = false\n[simulation.options]"
    change(lab / "scenario.toml", "[simulation.options]", without_trace)
    seen, status = run_on_terminal(lab, "run", "scenario.toml", interrupt_after=b"actors: 1")
    assert status == 130
    assert "simplugin: interrupted" in seen
    assert "Traceback" not in seen


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_closed_pipe_and_a_store_without_its_log_have_a_remedy(tmp_path, form):
    store = tmp_path / "s.db"
    make_empty(store)
    command = [Path(sys.executable).with_name("simplugin"), "campaign", "status", store, *form]
    read_end, write_end = os.pipe()
    os.close(read_end)
    got = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert (got.returncode, got.stderr.count("\n")) == (1, 1)
    assert "standard output was closed" in got.stderr
    if not form:
        assert "s.db-wal" in subprocess.run(command, capture_output=True, text=True).stdout


@given(st.lists(st.text("-a\\' \"$*~=;é", max_size=8), max_size=5))
def test_words_are_read_back(arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["/somewhere/simplugin", *arguments])
        command = command_line()
    assert "--" not in command
    assert shlex.split(command) == ["simplugin", *arguments]


def test_the_garbage_collector_comes_back():
    assert gc.isenabled()
    within = uncollected()
    within.__enter__()
    assert not gc.isenabled()
    within.__exit__(None, None, None)
    assert gc.isenabled()


SCENARIOS = Path(__file__).parents[2] / "scenarios"
# Of each kind, and of each family of schedulers.
NAMES = ("bags_failures", "demo", "market_arrivals", "pricing", "taskgraphs")
PROGRAM = """
import sys
from typer.testing import CliRunner
from simplugin.cli.app import app

for scenario in sys.argv[2:]:
    place = f"{sys.argv[1]}/{scenario.rpartition('/')[2]}"
    done = CliRunner().invoke(app, ["run", scenario, "-o", place], catch_exceptions=False)
    assert done.exit_code == 0, done.output
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Directories of two processes, each with what it wrote of all scenarios."""
    place = tmp_path_factory.mktemp("runs")
    runs, files = [], [SCENARIOS / f"{name}.toml" for name in NAMES]
    for seed in "12":
        words = [sys.executable, "-c", PROGRAM, place / seed, *files]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        runs.append(subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True))
    printed = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], printed
    return [place / seed for seed in "12"]


@pytest.mark.parametrize("name", NAMES)
def test_two_runs_write_the_same_files(written, name):
    first, second = (
        {file.name: file.read_bytes() for file in (place / f"{name}.toml").iterdir()}
        for place in written
    )
    assert "result.json" in first
    assert first.keys() == second.keys()
    assert [file for file in first if first[file] != second[file]] == []
    assert b" object at 0x" not in first["result.json"]


def test_the_examples_work_as_written(simplugin, tmp_path):
    for number, kind in enumerate(KINDS):
        told = simplugin("new", kind, f"mine_{number}.py", cwd=tmp_path, status=0).stdout
        assert f"next: pytest mine_{number}.py; simplugin run mine_{number}.toml" in told
        length = len((tmp_path / f"mine_{number}.py").read_text().splitlines())
        assert 20 <= length <= (200 if kind == "pricing-method" else 40)
        assert '"mine' in (tmp_path / f"mine_{number}.toml").read_text()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


REFUSED = [
    ("bag-policy", "mine.py", "did you mean 'bags-policy'"),
    ("mapper", "mine.txt", "name of a Python module"),
    ("mapper", "my-mapper.py", "name of a Python module"),
    ("mapper", "random.py", "name of a Python module"),
    ("mapper", "nowhere/mine.py", "No such file or directory"),
    ("mapper", "taken.py", "taken.toml: exists already"),
]


@pytest.mark.parametrize(("kind", "file", "words"), REFUSED)
def test_what_cannot_be_written_is_refused(kind, file, words, simplugin, tmp_path):
    (tmp_path / "taken.toml").write_text("mine")
    assert words in simplugin("new", kind, file, cwd=tmp_path, status=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken.toml"]
    assert (tmp_path / "taken.toml").read_text() == "mine"
