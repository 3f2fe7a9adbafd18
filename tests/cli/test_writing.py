"""The command in a file's first comment can be copied into a shell; collecting garbage can wait."""

import gc
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.cli.terminal import own_command
from simplugin.inputs.files import uncollected


@given(st.lists(st.text("-a\\' \"$*~=;é", max_size=8), max_size=5))
def test_words_are_read_back(arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["/somewhere/simplugin", *arguments])
        command = own_command()
    assert "--" not in command
    assert shlex.split(command) == ["simplugin", *arguments]


def test_the_garbage_collector_comes_back():
    assert gc.isenabled()
    within = uncollected()
    within.__enter__()
    assert not gc.isenabled()
    within.__exit__(None, None, None)
    assert gc.isenabled()
