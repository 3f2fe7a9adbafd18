from __future__ import annotations

from pathlib import Path

from lxml import etree

from simplugin.formats import vocabulary

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
