"""The command in a file's first comment can be copied into a shell; collecting garbage can wait."""

from __future__ import annotations

import gc
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.cli.platform_commands import uncollected
from simplugin.cli.terminal import own_command


@given(st.lists(st.text("-a\\' \"$*~=;é", max_size=8), max_size=5))
def test_words_are_read_back(arguments: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["/somewhere/simplugin", *arguments])
        command = own_command()
    assert "--" not in command
    assert shlex.split(command) == ["simplugin", *arguments]


def test_a_shell_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--site", "a--b $HOME", "it's--x", "---", "speed='2Gf'"]
    monkeypatch.setattr("sys.argv", ["simplugin", *arguments])
    command = own_command().replace("simplugin", "printf '%s\\n'", 1)
    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    # The shell's own printf takes a leading "--" for itself, as few commands do.
    assert printed.stdout.splitlines() == arguments


def test_the_garbage_collector_comes_back() -> None:
    assert gc.isenabled()
    within = uncollected()
    within.__enter__()
    assert not gc.isenabled()
    within.__exit__(None, None, None)
    assert gc.isenabled()
