"""System packages: asked for when missing, with sudo unless root, never otherwise."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools/system_packages.sh"


class Machine:
    """A machine with these commands only; those that install record their calls."""

    def __init__(self, directory: Path, uid: int) -> None:
        self.path = directory / "bin"
        self.path.mkdir()
        self.record = directory / "record"
        self.record.touch()
        self.give("id", f"echo {uid}")

    def give(self, command: str, body: str) -> None:
        script = self.path / command
        script.write_text(f"#!/bin/bash\n{body}\n")
        script.chmod(0o755)

    def give_installer(self, command: str, rest: str = "") -> None:
        self.give(command, f'echo "{command} $*" >>{self.record}\n{rest}')

    def run(self, *requests: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/bash", SCRIPT, sys.executable, *requests],
            env={"PATH": str(self.path)},
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        return self.record.read_text().splitlines()


MISSING = "g++ cmake ninja-build libboost-dev"


@pytest.mark.parametrize(("uid", "sudo"), [(0, ""), (1000, "sudo ")])
def test_what_is_missing_is_installed(tmp_path, uid, sudo):
    machine = Machine(tmp_path, uid)
    machine.give("git", "true")
    machine.give_installer("apt-get")
    machine.give_installer("sudo", '"$@"')
    answer = machine.run()
    assert answer.returncode == 0, answer.stderr
    words = ("update", f"install --yes --no-install-recommends {MISSING}")
    wanted = [f"{sudo}apt-get {each}" for each in words]
    assert [call for call in machine.calls() if call.startswith(sudo)] == wanted


def test_nothing_is_installed_where_nothing_is_missing(tmp_path):
    machine = Machine(tmp_path, uid=0)
    for command in ("git", "g++", "cmake", "ninja"):
        machine.give(command, "while read -r; do :; done")
    machine.give_installer("apt-get")
    answer = machine.run()
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert machine.calls() == []


def test_what_only_tests_need_is_installed_for_those_who_ask(tmp_path):
    machine = Machine(tmp_path, uid=0)
    machine.give("git", "true")
    machine.give_installer("apt-get")
    assert machine.run("tests").returncode == 0
    wanted = machine.calls()[1].removesuffix(" locales")  # this machine may have them
    assert wanted.endswith(f" {MISSING} chromium chromium-driver")


@pytest.mark.parametrize("has_apt", [True, False])
def test_who_cannot_install_is_told_what_to_do(tmp_path, has_apt):
    machine = Machine(tmp_path, uid=1000)
    if has_apt:
        machine.give_installer("apt-get")
    answer = machine.run()
    assert answer.returncode == 1
    assert f"git {MISSING}" in answer.stderr
    assert machine.calls() == []


def test_a_failing_installation_is_reported(tmp_path):
    machine = Machine(tmp_path, uid=0)
    machine.give_installer("apt-get", "exit 100")
    answer = machine.run()
    assert answer.returncode == 1
    assert "apt-get update && apt-get install" in " ".join(answer.stderr.split())
