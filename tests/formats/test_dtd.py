from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from simplugin.formats import dtd, vocabulary
from simplugin.formats.dtd import find_dtd

# Elements that SimGrid refuses although its DTD has them, and old names.
ELSEWHERE = {"include", "storage", "storage_type", "mount", "model_prop"} | {
    "AS",
    "ASroute",
    "bypassASroute",
    "process",
}
# The DTD has a default that SimGrid's parser loses.
REQUIRED_ALL_THE_SAME = {("link", "latency")}


def test_the_vocabulary_is_that_of_simgrid(simgrid_prefix: Path) -> None:
    with (simgrid_prefix / "share/simgrid.dtd").open("rb") as stream:
        elements = {element.name: element for element in etree.DTD(stream).iterelements()}
    assert set(vocabulary._ATTRIBUTES) | ELSEWHERE == set(elements)
    for tag in vocabulary._ATTRIBUTES:
        attributes = list(elements[tag].iterattributes())
        assert vocabulary._ALLOWED[tag] == {attribute.name for attribute in attributes}
        required = {item.name for item in attributes if item.default == "required"}
        required |= {name for at, name in REQUIRED_ALL_THE_SAME if at == tag}
        assert vocabulary._REQUIRED[tag] == required


def test_the_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dtd.simplugin.formats, "__path__", [str(tmp_path)])
    before = find_dtd()
    (tmp_path / "simgrid.dtd").write_text("")
    assert find_dtd() == tmp_path / "simgrid.dtd" != before


def test_the_cache_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dtd.simplugin.formats, "__path__", [])
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_dtd() is None
    share = tmp_path / "simplugin/simgrid-4.1-abc/share"
    share.mkdir(parents=True)
    (share / "simgrid.dtd").write_text("")
    assert find_dtd() == share / "simgrid.dtd"
