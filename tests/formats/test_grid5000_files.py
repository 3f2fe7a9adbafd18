"""References of Grid'5000 that are cut, hostile or something else altogether."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from simplugin.errors import PlatformError
from simplugin.formats.grid5000 import files as grid5000_files
from simplugin.formats.grid5000.reference import read_reference

NODE: dict[str, Any] = {
    "uid": "alpha-1",
    "architecture": {"nb_cores": 4},
    "performance": {"core_flops": 2e9, "node_flops": 8e9},
    "network_adapters": [
        {"device": "eth0", "interface": "Ethernet", "mounted": True, "rate": 1e9, "switch": "gw"}
    ],
}
FILES: dict[str, dict[str, Any]] = {
    "sites/north/north.json": {"uid": "north", "latitude": 50, "longitude": 3},
    "sites/north/clusters/alpha/alpha.json": {"uid": "alpha"},
    "sites/north/clusters/alpha/nodes/alpha-1.json": NODE,
    "sites/north/network_equipments/gw.json": {"uid": "gw", "kind": "router"},
    "sites/north/servers/srv.json": {"uid": "srv"},
    "grid5000.json": {"uid": "grid5000"},
}


def _directory(path: Path) -> Path:
    """Write the small reference into a directory."""
    for name, content in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(json.dumps(content, indent=1))
    return path


def _tar(prefix: str = "data/grid5000/", extra: dict[str, bytes] | None = None) -> bytes:
    """Return a tar of the small reference, uncompressed."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:") as tar:
        members = {prefix + name: json.dumps(content).encode() for name, content in FILES.items()}
        for name, data in (members | (extra or {})).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def test_small_reference_is_read(tmp_path: Path) -> None:
    facts, remarks = read_reference(_directory(tmp_path / "of-2031-05"))
    assert remarks == ()
    assert facts.date == "2031-05"
    assert [(site.uid, site.speed) for site in facts.sites] == [("north", 8e9)]


@pytest.mark.parametrize("prefix", ["", "./", "data/grid5000/", "./a/data/grid5000/"])
def test_where_a_tar_has_it_does_not_matter(prefix: str, tmp_path: Path) -> None:
    path = tmp_path / "reference"
    # The repository has its sources beside, and tars can have anything in them.
    others = {"a/other/sites/x/x.json": b"no json", "../../etc/passwd": b"no", "/etc/shadow": b"no"}
    path.write_bytes(_tar(prefix, others if "data" in prefix else None))
    before = sorted(tmp_path.rglob("*"))
    facts, _ = read_reference(path)
    assert facts == read_reference(_directory(tmp_path / "directory"))[0]
    assert sorted(set(tmp_path.rglob("*")) - set((tmp_path / "directory").rglob("*"))) == sorted(
        [*before, tmp_path / "directory"]
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n "uid": "alpha-1",\n "performance": {,\n}', 3, "this is no JSON"),
        ('{\n "uid": "alpha-1"', 2, "this is no JSON"),
        ("", 1, "this is no JSON"),
        ("[]", None, "this is no JSON object"),
        ('{"rate": NaN}', 1, "rate: 'NaN' is no number of JSON"),
        ('{"rate": ' + "9" * 5000 + "}", 1, "rate: .* is no number of JSON"),
        ('{\n"rate": 1,\n"rate": 2}', 3, "rate: there are two of this name"),
        ("[" * 100_000, None, "nested too deeply"),
    ],
)
def test_broken_file_is_named_with_its_line(
    text: str, line: int | None, message: str, tmp_path: Path
) -> None:
    directory = _directory(tmp_path)
    broken = directory / "sites/north/clusters/alpha/nodes/alpha-1.json"
    broken.write_text(text)
    with pytest.raises(PlatformError, match=message) as caught:
        read_reference(directory)
    assert Path(str(caught.value.file)) == broken
    assert caught.value.line == line
    assert caught.value.remedy


def test_broken_file_in_a_tar_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reference.tar"
    path.write_bytes(_tar(extra={"data/grid5000/sites/north/clusters/alpha/alpha.json": b"{\n?"}))
    with pytest.raises(PlatformError, match=r"clusters/alpha/alpha.json:2: this is no JSON"):
        read_reference(path)


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    directory = _directory(tmp_path)
    (directory / "sites/north/north.json").write_bytes(b'{\n"uid": "\xff"}')
    with pytest.raises(PlatformError, match=r"north.json:2: this is no UTF-8 text"):
        read_reference(directory)


@pytest.mark.parametrize("ending", [".gz", ".xz", ""])
def test_cut_archive_is_refused_wherever_it_is_cut(ending: str, tmp_path: Path) -> None:
    data = _tar()
    whole = {".gz": gzip.compress, ".xz": lzma.compress, "": bytes}[ending](data)
    end = len(whole) if ending else len(data.rstrip(b"\0"))
    path = tmp_path / f"reference.tar{ending}"
    for length in {end - 1, end // 2, end // 3 // 512 * 512, end // 512 * 512 - 512, 30}:
        path.write_bytes(whole[: max(1, length)])
        with pytest.raises(PlatformError) as caught:
            read_reference(path)
        assert caught.value.remedy


def test_archive_with_damage_inside_is_refused(tmp_path: Path) -> None:
    data = bytearray(_tar())
    for at in range(2048, 2100):
        data[at] ^= 0x5A
    path = tmp_path / "reference.tar"
    path.write_bytes(data)
    with pytest.raises(PlatformError):
        read_reference(path)


def test_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid5000_files, "LARGEST_ARCHIVE", 1 << 20)
    path = tmp_path / "reference.tar.gz"
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    assert path.stat().st_size < 4096
    with pytest.raises(PlatformError, match="more than the 1 MiB"):
        read_reference(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"no", b"[]", b"{}", b'{"sites": []}', b'{"jobs": [1]}', b"<platform/>", bytes(4096)],
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(PlatformError) as caught:
        read_reference(path)
    assert caught.value.file == path
    assert caught.value.remedy


@pytest.mark.parametrize("below", ["", "sites", "sites/north", "network_equipments"])
def test_empty_directories_are_refused(below: str, tmp_path: Path) -> None:
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    with pytest.raises(PlatformError, match="in it; give the reference repository's directory"):
        read_reference(tmp_path)


def test_what_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="No such file"):
        read_reference(tmp_path / "lost")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlatformError, match="not a regular file"):
        read_reference(tmp_path / "pipe")


def test_tar_without_sites_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tar"
    with tarfile.open(path, "w") as tar:
        tar.addfile(tarfile.TarInfo("readme"))
    with pytest.raises(PlatformError, match="there are no sites in it"):
        read_reference(path)


def test_file_whose_uid_is_another_is_told(tmp_path: Path) -> None:
    directory = _directory(tmp_path)
    nodes = directory / "sites/north/clusters/alpha/nodes"
    (nodes / "alpha-1.json").rename(nodes / "alpha-9.json")
    facts, remarks = read_reference(directory)
    assert facts.sites[0].clusters[0].groups[0].numbers == "1"
    assert [str(remark) for remark in remarks] == [
        "sites/north/clusters/alpha/nodes/alpha-9.json: contradiction: its uid is 'alpha-1', "
        "which is kept"
    ]


@pytest.mark.parametrize(
    "content",
    [
        [{"uid": "north", "links": []}],
        {"items": [{"uid": "north", "links": []}], "total": 1},
        {"items": [NODE]},
        {"sites": {"north": {"uid": "north"}}},
    ],
)
def test_shallow_dumps_are_refused_with_what_is_wanted(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "sites.json"
    path.write_text(json.dumps(content))
    with pytest.raises(PlatformError, match="no site in it has clusters; ask the API for the deep"):
        read_reference(path)


@pytest.mark.parametrize("date", ["bla", "", "2026", "2026-13", "2026-00", "2026-03-32", "2026-3"])
def test_dates_that_are_none_are_refused(date: str, tmp_path: Path) -> None:
    directory = _directory(tmp_path)
    with pytest.raises(PlatformError, match=f"'{date}' is no date of a reference; give a year"):
        read_reference(directory, date=date)
    assert read_reference(directory, date="2026-12-31")[0].date == "2026-12-31"
