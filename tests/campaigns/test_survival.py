"""The command itself, whose processes are killed, interrupted, starved and left without a disk."""

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from processes import wait_until

# Every run writes its number, and the process that simulates it, into a file before it does what
# the number asks for. The file is no part of a run's key, which has modules and named files only.
ACTORS = """
import os
import time
from pathlib import Path

from simplugin.platforms import Host, Platform, Zone

HERE = Path(__file__).parent
hoard = []

def platform(number):
    return Platform((Zone("site", "Full", (Host("alone", 1e9 + number),)),))

async def work(me):
    number = round(me.host.speed - 1e9)
    with open(HERE / "ran.txt", "a") as file:
        file.write(f"{number} {os.getpid()}\\n")
    first = (HERE / "ran.txt").read_text().count(f"{number} ") == 1
    if number in (1003, 1005) and first:
        time.sleep(60)
    while number == 1007:
        time.sleep(0.01)  # endless; others want the processor
    while number == 1009:
        hoard.append(b"x" * 20_000_000)
        time.sleep(0.01)
    time.sleep(0.05)
    await me.execute(1e9)
"""
DEPLOYMENT = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><actor host="alone" function="work"/></platform>
"""
CAMPAIGN = """
title = "Survivors"
[platform]
generator = "mine:platform"
[workload]
kind = "actors"
deployment = "deployment.xml"
functions = {{ work = "mine:work" }}
[campaign]
wall_limit = {wall_limit}
memory_limit = "500MB"
[sweep]
platform.parameters.number = {{ from = {first}, to = {last} }}
"""


class Laboratory:
    """A directory with a campaign, and the command that runs it in processes of its own."""

    def __init__(self, directory, first, last, wall_limit=600.0):
        self.directory = directory
        self.store = directory / "campaign.sqlite"
        self.commands = []
        text = CAMPAIGN.format(first=first, last=last, wall_limit=wall_limit)
        files = {"mine.py": ACTORS, "deployment.xml": DEPLOYMENT, "campaign.toml": text}
        for name, text in files.items():
            (directory / name).write_text(text)

    def start(self, jobs=2):
        words = [sys.executable, "-m", "simplugin", "campaign", "run", "campaign.toml"]
        command = subprocess.Popen(
            [*words, "--jobs", str(jobs)],
            cwd=self.directory,
            env={**os.environ, "SURVIVAL_OF": str(self.directory)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Programs started by a shell in the background ignore it, and leave that to others.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.commands.append(command)
        return command

    def executed(self):
        """Return (number, process) of each run that was begun, in order."""
        path = self.directory / "ran.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [tuple(map(int, line.split())) for line in lines]

    def recorded(self):
        """Return what SQLite itself finds: (number, attempt, status, digest) of each row."""
        query = """
            SELECT json_extract(m.varied, '$."platform.parameters.number"'),
                r.attempt, r.status, r.digest
            FROM runs r JOIN members m ON m.key = r.key
        """
        if not self.store.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.store)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            return sorted(connection.execute(query))

    def processes(self):
        """Return all processes that descend from the commands, whoever adopted them."""
        found, mark = [], f"SURVIVAL_OF={self.directory}".encode()
        for place in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                # The environment of what is already dead is empty.
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
        return found

    def kill(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def laboratory(tmp_path):
    made = []
    yield lambda *numbers: made.append(Laboratory(tmp_path, *numbers)) or made[-1]
    for each in made:
        each.kill()
        for command in each.commands:
            command.communicate()


def send(*signals):
    return lambda command, _campaign: [command.send_signal(each) for each in signals]


def fill_the_disk(command, laboratory):
    """Allow the coordinator no file larger than the one that it is writing to."""
    size = Path(f"{laboratory.store}-wal").stat().st_size
    _, hard = resource.prlimit(command.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(command.pid, resource.RLIMIT_FSIZE, (size, hard))


# What ends the command, and its exit status then; with so many processes, which take their time
# to load: that there are two is enough once or twice.
ENDS = [
    (send(signal.SIGKILL), -signal.SIGKILL, 2),
    (send(signal.SIGINT, signal.SIGINT), 130, 1),
    (fill_the_disk, 1, 1),
    (send(signal.SIGTERM), 143, 1),
    (lambda _command, campaign: campaign.kill(), -signal.SIGKILL, 2),
]


def test_whatever_ends_the_command_nothing_is_lost_and_nothing_recorded_is_run_again(laboratory):
    campaign = laboratory(0, 47)
    recorded, outputs = [], []
    for turn, (end, status, jobs) in enumerate(ENDS):
        begun = len(campaign.executed())
        command = campaign.start(jobs)
        # Each at another moment of the runs in progress.
        most, least = begun + 5 + turn, len(recorded)
        wait_until(lambda most=most: len(campaign.executed()) >= most)
        wait_until(lambda least=least: len(campaign.recorded()) > least)
        end(command, campaign)
        output, _ = command.communicate(timeout=600)
        assert command.returncode == status, output
        wait_until(lambda: not campaign.processes())
        again = {number for number, _ in campaign.executed()[begun:]}
        assert not again & {number for number, *_ in recorded}
        before, recorded = recorded, campaign.recorded()
        assert set(before) < set(recorded)
        assert {number for number, *_ in recorded} < set(range(48))
        outputs.append(output)
    assert "of 48 runs recorded; the same command continues" in outputs[1]
    assert "disk full" in outputs[2]
    assert "run the same command again" in outputs[2]

    begun = len(campaign.executed())
    command = campaign.start(jobs=1)
    output, _ = command.communicate(timeout=600)
    assert command.returncode == 0, output
    missing = set(range(48)) - {number for number, *_ in recorded}
    assert sorted(number for number, _ in campaign.executed()[begun:]) == sorted(missing)
    assert [row[:3] for row in campaign.recorded()] == [(n, 1, "done") for n in range(48)]
    assert f"48 of 48 runs done, {48 - len(missing)} of them recorded before" in output


def test_bad_runs_do_not_stop_the_others(laboratory, simplugin):
    """Two are killed from outside, one is endless, one hoards memory; a second command comes."""
    campaign = laboratory(1000, 1013, 8.0)
    command = campaign.start()

    simulation = wait_until(lambda: dict(campaign.executed()).get(1003))
    kill_run_process_of(simulation)
    os.kill(wait_until(lambda: dict(campaign.executed()).get(1005)), signal.SIGKILL)
    refused = simplugin("campaign", "run", campaign.directory / "campaign.toml")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"process {command.pid} on" in refused.stderr

    output, _ = command.communicate(timeout=600)
    assert command.returncode == 1, output
    wait_until(lambda: not campaign.processes())
    twice, bad = (1003, 1005), (1003, 1005, 1007, 1009)
    executed = Counter(number for number, _ in campaign.executed())
    assert executed == {number: 1 + (number in twice) for number in range(1000, 1014)}
    first = [(number, 1, "failed" if number in bad else "done") for number in range(1000, 1014)]
    again = [(number, 2, "done") for number in twice]
    assert [row[:3] for row in campaign.recorded()] == sorted(first + again)
    told = " ".join(output.split())
    assert "12 of 14 runs done, 2 failed" in told
    assert "1 run failed (wall limit): stopped after 8 s" in told
    assert "1 run failed (memory limit): stopped when it occupied " in told
    assert "run 7: platform.parameters.number = 1007" in told


def kill_run_process_of(simulation):
    """Kill the run process that a simulation descends from: the server's child."""
    pid = simulation
    while b"campaigns.running.worker_server" not in command_line(parent(pid)):
        pid = parent(pid)
    while b"campaigns.running.worker_server" in command_line(parent(parent(pid))):
        pid = parent(pid)
    os.kill(pid, signal.SIGKILL)


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def command_line(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()
