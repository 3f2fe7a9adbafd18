"""A build in the cache is whole or is not used."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import build_simgrid
import simgrid_cache as cache
from simgrid_release import pinned

PINNED = pinned()
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


def test_whole_or_absent(prefix, tmp_path):
    assert cache.find_fault(prefix) is None
    assert json.loads((prefix / cache.MANIFEST).read_text())["version"] == "1"
    assert "does not exist" in str(cache.find_fault(tmp_path / "nowhere"))


DAMAGE = [
    (lambda lib, _: (lib / "library.so").unlink(), "library.so.*No such file"),
    (lambda lib, _: os.truncate(lib / "library.so.1", 5), "lib/library.so has changed"),
    (lambda lib, _: (lib.parent / "header.h").write_text("int g();\n"), "header.h has changed"),
    (lambda _, manifest: manifest.unlink(), "missing"),
    (lambda _, manifest: manifest.write_text("{"), cache.MANIFEST),
    (lambda _, manifest: manifest.write_text("[]"), cache.MANIFEST),
    (lambda _, manifest: manifest.write_text('{"files": 1}'), cache.MANIFEST),
]


@pytest.mark.parametrize(("damage", "fault"), DAMAGE)
def test_damage_is_named(prefix, damage, fault):
    damage(prefix / "lib", prefix / cache.MANIFEST)
    assert re.search(fault, str(cache.find_fault(prefix)))


def test_publishing_replaces_a_damaged_build(prefix, tmp_path):
    target = tmp_path / "cache/simgrid"
    (target / "lib").mkdir(parents=True)
    (target / "lib/half").touch()
    cache.publish(prefix, target)
    assert cache.find_fault(target) is None  # wherever it is
    assert not (target / "lib/half").exists()
    assert list(target.parent.iterdir()) == [target]


def test_every_ingredient_counts():
    ingredients = {"version": "4.1", "options": ["-O3"], "compiler": "g++ 12"}
    variants = [{**ingredients, name: "other"} for name in ingredients]
    assert len({cache.key_of(each) for each in [ingredients, *variants]}) == 4
    assert cache.key_of(dict(reversed(ingredients.items()))) == cache.key_of(ingredients)


def test_the_cache_is_outside_the_checkout(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert cache.cache_root({"XDG_CACHE_HOME": "/var/c"}) == Path("/var/c/simplugin")
    assert cache.cache_root({}) == Path("/home/ada/.cache/simplugin")
    # Relative paths are invalid, says the XDG base directory specification.
    assert cache.cache_root({"XDG_CACHE_HOME": "c"}) == Path("/home/ada/.cache/simplugin")


def test_what_is_whole_is_built_once_and_what_is_damaged_again(tmp_path):
    place, builds = tmp_path / "cache/thing", []

    def build(workspace: Path, _: Any) -> Path:
        builds.append(workspace)
        (workspace / "made").mkdir()
        (workspace / "made/file").write_text("whole")
        return workspace / "made"

    for _ in range(2):
        cache.ensure(place, "Thing", {"version": "1"}, build)
    assert len(builds) == 1
    (place / "file").write_text("half")
    (place.parent / ".staged-thing-left").mkdir()
    cache.ensure(place, "Thing", {"version": "1"}, build)
    assert len(builds) == 2
    assert (place / "file").read_text() == "whole"
    assert not list(place.parent.glob(".*"))


def test_the_library_belongs_to_no_python(monkeypatch):
    library = build_simgrid.place_of(PINNED, None)
    prefix = build_simgrid.prefix_of(PINNED, library)
    monkeypatch.setattr("sysconfig.get_config_var", lambda _: "cpython-399")
    assert build_simgrid.place_of(PINNED, None) == library
    assert build_simgrid.prefix_of(PINNED, library) != prefix
    # Another compiler, another library, other bindings.
    monkeypatch.setattr(build_simgrid, "answer_of_compiler", lambda _: "g++ 99")
    other = build_simgrid.place_of(PINNED, None)
    assert other != library
    assert build_simgrid.prefix_of(PINNED, other) != build_simgrid.prefix_of(PINNED, library)


HOLD = """
import sys, pathlib, simgrid_cache
with simgrid_cache.locked(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_lock_excludes_and_dies_with_its_process(tmp_path):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    hold: Any = functools.partial(subprocess.Popen, command, cwd=TOOLS, text=True, **pipes)
    with hold() as first:
        assert first.stdout.readline() == "locked\n"
        with hold() as second:
            assert "waiting" in second.stderr.readline()
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            assert second.stdout.readline() == "locked\n"
            second.communicate("", timeout=600)


# Where the command need not build.
BUILD = [sys.executable, str(TOOLS / "build_simgrid.py")]


MISSING = [
    ("--print-prefix", {}, f"does not exist.*make -C {TOOLS.parent} simgrid"),
    (None, {"CXX": "no-such-compiler"}, r"no-such-compiler.*sudo apt-get install g\+\+"),
    (None, {"SIMGRID_PREFIX": "nowhere"}, "version.h is missing"),
    (None, {"SIMGRID_PREFIX": "."}, "is SimGrid 3.35, not 4.1"),
]


@pytest.mark.parametrize(("word", "settings", "told"), MISSING)
def test_what_is_missing_is_named(tmp_path, word, settings, told):
    header = tmp_path / "include/simgrid/version.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define SIMGRID_VERSION_MAJOR 3\n#define SIMGRID_VERSION_MINOR 35\n")
    # From the directory of the header, so that prefixes are relative to it.
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "SIMGRID_PREFIX": "", **settings}
    words = [*BUILD, word] if word else BUILD
    answer = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert answer.returncode == 1
    assert re.search(told, answer.stderr, re.DOTALL)


def test_an_unchanged_prefix_leaves_the_stamp_alone(tmp_path, simgrid_prefix):
    stamp = tmp_path / "stamp"
    command = [*BUILD, "--stamp", str(stamp)]
    subprocess.run(command, check=True)
    assert stamp.read_text() == f"{simgrid_prefix}\n"
    future = time.time() + 60
    os.utime(stamp, (future, future))
    subprocess.run(command, check=True)
    assert stamp.stat().st_mtime == pytest.approx(future)
