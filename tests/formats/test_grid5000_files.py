"""References of Grid'5000 in all their forms; those that are cut, hostile or damaged at random."""

import bz2
import copy
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.grid5000 import reference
from simplugin.formats.grid5000.catalogue import read_catalogue, read_facts, write_catalogue
from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import radical
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.grid5000.facts import Grid5000
from simplugin.platforms.grid5000.platform import grid5000_platform

GRID = json.loads(Path(__file__).with_name("grid5000_small.json").read_text())
FACTS = read_reference(Path(__file__).with_name("grid5000_small.json"))
KINDS = ("sites", "clusters", "nodes", "network_equipments")
NODE = "sites/north/clusters/alpha/nodes/alpha-1.json"


# What the repository has besides.
OTHERS = {"sites/north/servers/srv.json": {"uid": "srv"}, "grid5000.json": {"uid": "grid5000"}}


def _files(entry: dict[str, Any], path: str = "") -> dict[str, dict[str, Any]]:
    """Return what is in an entry as the repository has it: each entry in a file of its own."""
    files: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        for name, member in entry.get(kind, {}).items():
            own = f"{path}{kind}/{name}"
            within = _files(member, f"{own}/")
            file = f"{own}/{name}.json" if within else f"{own}.json"
            content = {key: value for key, value in member.items() if key not in KINDS}
            files |= {file: {"uid": name} | content} | within
    return files


FILES = _files(GRID) | OTHERS


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
        members = {prefix + name: json.dumps(each).encode() for name, each in FILES.items()}
        for name, data in (members | (extra or {})).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def _lists(value: Any, wrap: Callable[[list[Any]], Any]) -> Any:
    """Return a grid with its collections as lists, or as what holds these."""
    if not isinstance(value, dict):
        return value
    return {
        key: wrap([{"uid": name} | _lists(each, wrap) for name, each in reversed(member.items())])
        if key in KINDS
        else member
        for key, member in value.items()
    }


@pytest.mark.parametrize("below", ["", "grid5000", "data/grid5000"])
def test_a_directory_and_its_date(below, tmp_path):
    path = tmp_path / "of-2031-05"
    _directory(path / below)
    facts, warnings = read_reference(path)
    assert (facts.sites, facts.backbone, warnings) == (FACTS[0].sites, FACTS[0].backbone, ())
    assert facts.date == "2031-05"
    assert read_facts(path) == (facts, warnings)


def test_a_dump_of_lists(tmp_path):
    path = tmp_path / "grid.json"
    for wrap in (list, lambda items: {"items": items, "total": len(items)}):
        path.write_text(json.dumps(_lists(GRID, wrap)))
        assert read_reference(path) == FACTS


def test_a_dump_of_the_sites_has_all_but_the_backbone(tmp_path):
    path = tmp_path / "sites-2026-03.json"
    sites = [{"uid": name} | site for name, site in GRID["sites"].items()]
    wrapped = {"items": sites, "total": len(sites), "links": []}
    for dump in (sites, wrapped, {"sites": GRID["sites"]}):
        path.write_text(json.dumps(dump))
        facts, _ = read_reference(path)
        assert (facts.sites, facts.date) == (FACTS[0].sites, "2026-03")
        ends = {(link.ends, link.assumed) for link in facts.backbone}
        assert ends == {((name, "renater-paris"), True) for name in GRID["sites"]}
    path.write_text(json.dumps(sites[0]))
    facts, _ = read_reference(path)
    assert (facts.sites, facts.backbone) == (FACTS[0].sites[:1], ())


@pytest.mark.parametrize("prefix", ["", "./", "data/grid5000/", "./a/data/grid5000/"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_tar_may_have_it_anywhere(prefix, compress, tmp_path):
    path = tmp_path / "reference"
    # The repository has its sources beside, and tars can have anything in them.
    others = {"a/other/sites/x/x.json": b"no json", "../../etc/passwd": b"no", "/etc/shadow": b"no"}
    path.write_bytes(compress(_tar(prefix, others if "data" in prefix else None)))
    assert read_reference(path) == FACTS
    assert list(tmp_path.rglob("*")) == [path]


BROKEN = [
    ('{\n "uid": "alpha-1",\n¶ "performance": {,\n}', "this is no JSON"),
    ("[]", "this is no JSON object"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_broken_file_is_named_with_its_line(text, message, tmp_path):
    broken = _directory(tmp_path) / NODE
    assert_refused(lambda _: read_reference(tmp_path), broken, text, message)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_cut_archive_is_refused_wherever_it_is_cut(compress, tmp_path):
    data = _tar()
    whole = compress(data)
    end = len(data.rstrip(b"\0")) if whole == data else len(whole)
    path = tmp_path / "reference.tar"
    for length in {end - 1, end // 2, end // 3 // 512 * 512, end // 512 * 512 - 512, 30}:
        path.write_bytes(whole[: max(1, length)])
        with pytest.raises(PlatformError) as caught:
            read_reference(path)
        assert caught.value.remedy


def test_archive_with_damage_inside_is_refused(tmp_path):
    data = _tar()
    # In the header of the second file.
    damage = bytes(byte ^ 0x5A for byte in data[1024:1076])
    path = tmp_path / "reference.tar"
    path.write_bytes(data[:1024] + damage + data[1076:])
    with pytest.raises(PlatformError):
        read_reference(path)


def test_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "LARGEST_ARCHIVE", 1 << 20)
    path = tmp_path / "reference.tar.gz"
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    with raises_naming(PlatformError, path, "1 MiB"):
        read_reference(path)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"sites": []}', b"<platform/>", bytes(4096)])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(PlatformError) as caught:
        read_reference(path)
    assert caught.value.file == path
    assert caught.value.remedy


@pytest.mark.parametrize("below", ["", "sites/north", "network_equipments"])
def test_empty_directories_are_refused(below, tmp_path):
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    with raises_naming(PlatformError, tmp_path):
        read_reference(tmp_path)


def test_file_whose_uid_is_another_is_told(tmp_path):
    nodes = (_directory(tmp_path) / NODE).parent
    (nodes / "alpha-1.json").rename(nodes / "alpha-9.json")
    facts, warnings = read_reference(tmp_path)
    assert facts.sites == FACTS[0].sites
    place, message = NODE.replace("alpha-1", "alpha-9"), "its uid is 'alpha-1', which is kept"
    assert [str(warning) for warning in warnings] == [f"{place}: contradiction: {message}"]


def test_shallow_dumps_are_refused_with_what_is_wanted(tmp_path):
    path = tmp_path / "sites.json"
    sites = [{"uid": "north", "links": []}]
    for content in (sites, {"items": sites, "total": 1}, {"sites": {"north": {"uid": "north"}}}):
        path.write_text(json.dumps(content))
        with raises_naming(PlatformError, path, "API"):
            read_reference(path)


@pytest.mark.parametrize("date", ["bla", "", "2026", "2026-13", "2026-00", "2026-03-32", "2026-3"])
def test_dates_that_are_none_are_refused(date, tmp_path):
    _directory(tmp_path)
    with raises_naming(PlatformError, repr(date)):
        read_reference(tmp_path, date=date)
    assert read_reference(tmp_path, date="2026-12-31")[0].date == "2026-12-31"


SMALL = Path(__file__).with_name("grid5000_small.json")
ODD = st.sampled_from(
    [None, True, 0, -1, 1, 0.5, 1e300, 10**400, "", "gw", "sw", "x y", "alpha-1", "renater-paris",
     "lille", "switch", "router", "node", "channel", "hpcswitch", "Ethernet", "InfiniBand", [], {},
     [[]], [{}], {"items": []}, {"items": [None]}, {"uid": "gw"}, ["gw"], "\u0000", "<&>"]
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a document, but its root."""
    members: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    found = [path] if path else []
    for key, member in members:
        found += _places(member, (*path, key))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the small reference with some values lost, replaced or moved elsewhere."""
    # Real names, of which it is known where they are.
    text = SMALL.read_text().replace("north", "lille").replace("south", "sophia")
    grid: dict[str, Any] = json.loads(text)
    for _ in range(draw(st.integers(1, 5))):
        places = _places(grid)
        if not places:
            break
        path = draw(st.sampled_from(places))
        at: Any = grid
        for step in path[:-1]:
            at = at[step]
        what = draw(st.sampled_from(["lose", "replace", "rename"]))
        if what == "replace":
            at[path[-1]] = copy.deepcopy(draw(ODD))
        elif what == "rename" and isinstance(at, dict):
            at[draw(st.sampled_from(["gw", "sw", "lille", "x", "alpha-2"]))] = at.pop(path[-1])
        else:
            del at[path[-1]]
    return grid


@settings(max_examples=150)
@given(damaged())
def test_damage_gives_an_error_or_facts_that_hang_together(tmp_path_factory, grid):
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_text(json.dumps(grid))
    try:
        facts, warnings = read_reference(path)
    except PlatformError as error:
        place, message = error.file, error.message
    else:
        _require_whole(facts)
        _require_platform(facts)
        write_catalogue(facts, warnings, path)
        assert read_catalogue(path) == read_facts(path) == (facts, warnings)
        return
    assert place == path
    assert message


def _require_platform(facts: Grid5000) -> None:
    """Assert that SimGrid would load what is made of the facts."""
    try:
        platform = grid5000_platform(facts)
    except PlatformError as error:
        message = error.message
    else:
        require_consistent(platform)
        return
    # The table of latencies knows real points of presence only.
    assert "it is unknown where" in message


def _require_whole(facts: Grid5000) -> None:
    """Assert that each node has a way to its router, and each router one to all others."""
    for site in facts.sites:
        ways = nx.DiGraph([(uplink.switch, uplink.towards) for uplink in site.uplinks])
        ways.add_node(site.router)
        for cluster in site.clusters:
            numbers = [n for group in cluster.groups for n in radical.numbers(group.numbers)]
            assert len(set(numbers)) == len(numbers) > 0
            for group in cluster.groups:
                assert nx.has_path(ways, group.adapter.switch, site.router)
    if len(facts.sites) > 1:
        backbone = nx.Graph([link.ends for link in facts.backbone])
        assert {site.uid for site in facts.sites} <= set(backbone)
        assert nx.is_connected(backbone)
