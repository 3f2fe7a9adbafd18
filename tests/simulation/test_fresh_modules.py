"""Modules that are compiled from their source, whatever byte code says."""

import importlib
import os
import sys

import pytest

from simplugin.simulation import simulate
from simplugin.simulation.process.environment import ProcessEnvironment, modules_from

NONE: frozenset[str] = frozenset()


@pytest.fixture(autouse=True)
def byte_code(monkeypatch, tmp_path):
    """Have Python write byte code, and forget what was imported."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def written(path, value):
    """Write a module, always with the same size and date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"VALUE = {value}\n")
    os.utime(path, (1.7e9, 1.7e9))


def value_of(name):
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(name).VALUE


@pytest.mark.parametrize("name", ["fresh_one", "fresh_pack.inner", "fresh_space.below.inner"])
def test_the_source_counts_not_the_byte_code(tmp_path, name):
    path = tmp_path / f"{name.replace('.', '/')}.py"
    written(path, 1)
    if "pack" in name:
        (path.parent / "__init__.py").touch()
    assert value_of(name) == 1
    written(path, 2)
    # That of Python without us, or this test shows nothing.
    assert value_of(name) == 1
    with modules_from(tmp_path, NONE):
        assert ProcessEnvironment.current().beside == ((str(tmp_path), NONE),)
        assert value_of(name) == 2
        written(path, 3)
        assert value_of(name) == 3
    assert ProcessEnvironment.current().beside == ()
    assert value_of(name) == 1


def test_no_byte_code_is_left(tmp_path):
    written(tmp_path / "fresh_two.py", 1)
    with modules_from(tmp_path, NONE):
        assert value_of("fresh_two") == 1
    assert not (tmp_path / "__pycache__").exists()


def test_what_is_installed_below_keeps_its_byte_code(tmp_path, monkeypatch):
    place = tmp_path / "venv" / "lib" / "site-packages"
    written(place / "fresh_three.py", 1)
    monkeypatch.syspath_prepend(place)
    with modules_from(tmp_path, NONE):
        assert value_of("fresh_three") == 1
    assert (place / "__pycache__").is_dir()


def test_directories_add_up_and_come_back(tmp_path):
    (tmp_path / "a").mkdir()
    with modules_from(tmp_path / "a", NONE):
        with modules_from(tmp_path, NONE):
            assert ProcessEnvironment.current().beside == (
                (str(tmp_path / "a"), NONE),
                (str(tmp_path), NONE),
            )
        assert ProcessEnvironment.current().beside == ((str(tmp_path / "a"), NONE),)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_simulation_keeps_byte_code_as_its_caller_does(tmp_path, monkeypatch, two_hosts, keeps):
    name = f"fresh_actor_{keeps}"
    text = "async def actor(me):\n    await me.sleep_for(1)\n"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    actor = importlib.import_module(name).actor
    monkeypatch.setattr(sys, "dont_write_bytecode", not keeps)
    simulate(two_hosts, [("ada", actor)])
    assert (tmp_path / "__pycache__").exists() == keeps
