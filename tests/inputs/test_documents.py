"""Files that cannot be read, parsed or written: each error names the file, the line, a remedy."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simplugin.errors import DeploymentError, FileError, PlatformError
from simplugin.inputs.documents import path_text, read_json, read_toml
from simplugin.inputs.files import read_text, write

Read = Callable[[Path, type[FileError]], Any]


@pytest.mark.parametrize("read", [read_text, read_toml, read_json])
def test_files_that_cannot_be_read(tmp_path: Path, read: Read) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"#\n# \xe9")
    (tmp_path / "zero").write_bytes(b"#\n\0")
    for name, line in (("", None), ("none", None), ("pipe", None), ("latin", 2), ("zero", 2)):
        with pytest.raises(DeploymentError) as caught:
            read(tmp_path / name, DeploymentError)
        assert (caught.value.file, caught.value.line) == (tmp_path / name, line)
        assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a": 1,\n"a": 2}', 3),
        ('{\n"a": [1, NaN]}', 2),
        ("[\n" + "9" * 5000 + "]", 2),
        ("[" * 100_000, None),
        ('{\n"a": 1}\n{}', 3),
    ],
)
def test_what_is_no_json(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(PlatformError) as caught:
        read_json(path, PlatformError)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert caught.value.remedy


def test_what_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_bytes(b"a = 1\r\nb : 1\r\n")
    with pytest.raises(PlatformError, match=r"file.toml:2: .*; write tables in") as caught:
        read_toml(path, PlatformError)
    assert caught.value.line == 2


def test_places_of_values(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"a": [\n1,\n{"b": 2}]}')
    document = read_json(path, PlatformError)
    error = document.at("a", 1, "b").error("this is wrong", "change it")
    assert str(error) == f"{path}:3: a[1].b: this is wrong; change it"


def test_long_and_unprintable_paths_are_quoted() -> None:
    assert path_text(("a", 0, "b")) == "a[0].b"
    assert path_text(("\n",)) == r"'\n'"
    assert len(path_text(("a" * 1000,))) < 100


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="may write"):
        write("text", tmp_path / "none" / "file", PlatformError)
    with pytest.raises(PlatformError, match="half a character"):
        write("\ud800", tmp_path / "file", PlatformError)
    assert not list(tmp_path.iterdir())
