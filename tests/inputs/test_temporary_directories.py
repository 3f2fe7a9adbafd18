"""Temporary directories: of processes that were killed, of others that live, and of users."""

import os
import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from simplugin.inputs.temporary_directories import scratch_directory


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of temporary directories."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_what_nobody_holds_is_removed(scratch):
    kept = [scratch / name for name in ("simplugin-scratch-notes", "simplugin-results", "other")]
    for each in kept:
        each.mkdir()
    (scratch / "simplugin-scratch-a_file00").touch()
    (scratch / "simplugin-scratch-the_link").symlink_to(kept[0])
    kept += [scratch / "simplugin-scratch-a_file00", scratch / "simplugin-scratch-the_link"]
    with scratch_directory() as mine:
        pid = os.fork()
        if pid == 0:
            with scratch_directory() as lost:
                (Path(lost) / "below").mkdir()
                (Path(lost) / "below/file").write_text("left")
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        assert len(list(scratch.iterdir())) == len(kept) + 2
        with scratch_directory() as other:
            assert set(scratch.iterdir()) == {*kept, Path(mine), Path(other)}
    assert set(scratch.iterdir()) == set(kept)


def test_nobody_loses_a_directory_that_is_being_made(scratch):
    def use(_: int) -> bool:
        with scratch_directory() as directory:
            (Path(directory) / "file").touch()
            return len(os.listdir(directory)) == 1

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(400)))
    assert not list(scratch.iterdir())
