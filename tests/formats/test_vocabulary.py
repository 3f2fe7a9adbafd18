from __future__ import annotations

import itertools
from pathlib import Path

from lxml import etree
from mutants import simgrid_verdicts

from simplugin.errors import PlatformError
from simplugin.formats import vocabulary
from simplugin.formats.simgrid_xml import DOCTYPE
from simplugin.inputs import xml_tree

# Elements that SimGrid refuses although its DTD has them, and old names.
ELSEWHERE = {"include", "storage", "storage_type", "mount", "model_prop"}
ELSEWHERE |= {"AS", "ASroute", "bypassASroute", "process"}
# The DTD has a default that SimGrid's parser loses.
REQUIRED_ALL_THE_SAME = {("link", "latency")}


def test_the_vocabulary_is_that_of_simgrid(simgrid_prefix: Path) -> None:
    with (simgrid_prefix / "share/simgrid.dtd").open("rb") as stream:
        elements = {element.name: element for element in etree.DTD(stream).iterelements()}
    assert set(vocabulary.ALLOWED) | ELSEWHERE == set(elements)
    for tag in vocabulary.ALLOWED:
        attributes = list(elements[tag].iterattributes())
        assert vocabulary.ALLOWED[tag] == {attribute.name for attribute in attributes}
        required = {item.name for item in attributes if item.default == "required"}
        required |= {name for at, name in REQUIRED_ALL_THE_SAME if at == tag}
        assert vocabulary.REQUIRED[tag] == required


# Each may come anywhere with whatever before it, as far as SimGrid's parser lets it.
PIECES = {
    "prop": '<prop id="p{1}" value="1"/>',
    "zone": '<zone id="z{1}" routing="Full"/>',
    "cluster": '<cluster id="c{1}" prefix="c{1}-" suffix="" radical="0" speed="1f" bw="1Bps" '
    'lat="0"/>',
    "link": '<link id="l{1}" bandwidth="1Bps" latency="0"/>',
    "backbone": '<backbone id="b{1}" bandwidth="1Bps" latency="0"/>',
    "host": '<host id="h{1}" speed="1f"/>',
    "router": '<router id="r{1}"/>',
    "host_link": '<host_link id="h" up="l" down="l"/>',
    "cabinet": '<cabinet id="k" prefix="" suffix="" radical="0" speed="1f" bw="1Bps" lat="0"/>',
    "trace": '<trace id="t{1}" periodicity="1">0 1</trace>',
    "trace_connect": '<trace_connect trace="t" element="h" kind="SPEED"/>',
    "bypassRoute": '<bypassRoute src="h" dst="g{0}"><link_ctn id="l"/></bypassRoute>',
    "bypassZoneRoute": '<bypassZoneRoute src="z" dst="g{0}" gw_src="h" gw_dst="g{0}">'
    '<link_ctn id="l"/></bypassZoneRoute>',
}
AROUND = (
    '<platform version="4.1"><trace id="t" periodicity="1">0 1</trace><zone id="w" routing="Full">'
    '<zone id="z" routing="Full"><link id="l" bandwidth="1Bps" latency="0"/>'
    '<host id="h" speed="1f"/><router id="g0"/><router id="g1"/><router id="g2"/></zone>{}</zone>'
    "</platform>"
)


def test_the_order_of_elements_is_that_of_simgrid(tmp_path: Path) -> None:
    """Of all pairs of elements in <zone> and <AS>, and of those after a property and a trace."""
    path = tmp_path / "file.xml"
    pairs = [*itertools.product(PIECES, repeat=2), *(("prop", "trace", tag) for tag in PIECES)]
    taken, wrong = [], []
    numbers = itertools.count()
    with simgrid_verdicts() as verdict_on:

        def refused(content: str) -> bool:
            path.write_text(f"{DOCTYPE}{AROUND.format(content)}")
            return bool(verdict_on(path)[0] == "refused")

        for outer, tags in itertools.product(("zone", "AS"), pairs):
            inner = "".join(
                PIECES[tag].format(place, next(numbers)) for place, tag in enumerate(tags)
            )
            content = f'<{outer} id="x{next(numbers)}" routing="Full">{inner}</{outer}>'
            parent = xml_tree.parse(content.encode(), path, PlatformError, outer)
            before, problems = "", []
            for child in parent.children:
                before, problem = vocabulary.order_problem(parent, child, before)
                problems.append(problem)
            if not any(problems):
                taken.append(content)
            elif not refused(content):
                wrong.append((outer, *tags))
        assert not refused("".join(taken))
    assert wrong == []
