"""A build in the cache is whole or is not used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import simgrid_cache as cache

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A small build, whole."""
    prefix = tmp_path / "simgrid"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "lib/library.so.1").write_bytes(b"machine code")
    (prefix / "lib/library.so").symlink_to("library.so.1")
    (prefix / "header.h").write_text("int f();\n")
    cache.write_manifest(prefix, {"version": "1"})
    return prefix


def test_whole(prefix: Path) -> None:
    assert cache.find_fault(prefix) is None


def test_absent(tmp_path: Path) -> None:
    assert "does not exist" in str(cache.find_fault(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["lib/library.so.1", "lib/library.so", "header.h"])
def test_a_missing_file_is_named(prefix: Path, name: str) -> None:
    (prefix / name).unlink()
    fault = str(cache.find_fault(prefix))
    assert name.removesuffix(".1") in fault  # the link to it is dead, too
    assert "No such file" in fault


def test_a_truncated_file_is_named(prefix: Path) -> None:
    os.truncate(prefix / "lib/library.so.1", 5)
    assert "lib/library.so has changed" in str(cache.find_fault(prefix))


def test_a_flipped_bit_is_found(prefix: Path) -> None:
    (prefix / "header.h").write_text("int g();\n")
    assert "header.h has changed" in str(cache.find_fault(prefix))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": 1}'])
def test_a_damaged_manifest_is_a_fault(prefix: Path, text: str) -> None:
    (prefix / cache.MANIFEST).write_text(text)
    assert cache.MANIFEST in str(cache.find_fault(prefix))


def test_a_missing_manifest_is_a_fault(prefix: Path) -> None:
    (prefix / cache.MANIFEST).unlink()
    assert "missing" in str(cache.find_fault(prefix))


def test_the_manifest_tells_the_version(prefix: Path) -> None:
    assert json.loads((prefix / cache.MANIFEST).read_text())["version"] == "1"


def test_a_copy_elsewhere_is_whole(prefix: Path, tmp_path: Path) -> None:
    prefix.rename(tmp_path / "moved")
    assert cache.find_fault(tmp_path / "moved") is None


def test_publishing_replaces_a_damaged_build(prefix: Path, tmp_path: Path) -> None:
    target = tmp_path / "cache/simgrid"
    (target / "lib").mkdir(parents=True)
    (target / "lib/half").touch()
    cache.publish(prefix, target)
    assert cache.find_fault(target) is None
    assert not (target / "lib/half").exists()
    assert list(target.parent.iterdir()) == [target]


def test_every_ingredient_counts() -> None:
    ingredients = {"version": "4.1", "options": ["-O3"], "compiler": "g++ 12"}
    variants = [{**ingredients, name: "other"} for name in ingredients]
    assert len({cache.key_of(each) for each in [ingredients, *variants]}) == 4
    assert cache.key_of(dict(reversed(ingredients.items()))) == cache.key_of(ingredients)


def test_the_cache_is_outside_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert cache.cache_root({"XDG_CACHE_HOME": "/var/c"}) == Path("/var/c/simplugin")
    assert cache.cache_root({}) == Path("/home/ada/.cache/simplugin")
    # Relative paths are invalid, says the XDG base directory specification.
    assert cache.cache_root({"XDG_CACHE_HOME": "c"}) == Path("/home/ada/.cache/simplugin")


HOLD = """
import sys, pathlib, simgrid_cache
with simgrid_cache.locked(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_lock_excludes_and_dies_with_its_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]

    def hold() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=TOOLS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with hold() as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "locked\n"
        with hold() as second:
            assert second.stdout is not None
            assert second.stderr is not None
            assert "waiting" in second.stderr.readline()
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            assert second.stdout.readline() == "locked\n"
            second.communicate("", timeout=600)


class TestCommand:
    """``tools/build_simgrid.py`` where it need not build."""

    @staticmethod
    def run(tmp_path: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), **settings}
        return subprocess.run(
            [sys.executable, TOOLS / "build_simgrid.py", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_an_empty_cache_names_the_command(self, tmp_path: Path) -> None:
        answer = self.run(tmp_path, "--print-prefix", SIMGRID_PREFIX="")
        assert answer.returncode == 1
        assert "does not exist" in answer.stderr
        assert f"make -C {TOOLS.parent} simgrid" in answer.stderr

    def test_a_missing_compiler_names_the_command(self, tmp_path: Path) -> None:
        answer = self.run(tmp_path, CXX="no-such-compiler", SIMGRID_PREFIX="")
        assert answer.returncode == 1
        assert "no-such-compiler" in answer.stderr
        assert "sudo apt-get install g++" in answer.stderr

    def test_a_system_without_headers_is_refused(self, tmp_path: Path) -> None:
        answer = self.run(tmp_path, SIMGRID_PREFIX=str(tmp_path / "opt"))
        assert answer.returncode == 1
        assert "version.h is missing" in answer.stderr

    def test_a_system_of_another_version_is_refused(self, tmp_path: Path) -> None:
        header = tmp_path / "include/simgrid/version.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define SIMGRID_VERSION_MAJOR 3\n#define SIMGRID_VERSION_MINOR 35\n")
        answer = self.run(tmp_path, SIMGRID_PREFIX=str(tmp_path))
        assert answer.returncode == 1
        assert "is SimGrid 3.35, not 4.1" in answer.stderr

    def test_an_unchanged_prefix_leaves_the_stamp_alone(
        self, tmp_path: Path, simgrid_prefix: Path
    ) -> None:
        stamp = tmp_path / "stamp"
        command = [sys.executable, str(TOOLS / "build_simgrid.py"), "--stamp", str(stamp)]
        subprocess.run(command, check=True)
        assert stamp.read_text() == f"{simgrid_prefix}\n"
        future = time.time() + 60
        os.utime(stamp, (future, future))
        subprocess.run(command, check=True)
        assert stamp.stat().st_mtime == pytest.approx(future)
