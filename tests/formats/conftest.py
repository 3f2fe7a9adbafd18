"""Random platforms that SimGrid loads, and a small reference of Grid'5000 to damage."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from random_platforms import Maker

from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import (
    Cluster,
    Config,
    DeployedActor,
    Disk,
    Host,
    Link,
    Platform,
    Profile,
    ProfileUse,
    Zone,
)
from simplugin.platforms.grid5000.facts import DataWarning, Grid5000

SMALL = Path(__file__).with_name("grid5000_small.json")

SPEEDS = st.floats(1e-3, 1e24)
BANDWIDTHS = st.floats(1e-3, 1e20)
LATENCIES = st.just(0.0) | st.floats(1e-14, 1e6)
# Whatever XML has to quote, and more than ASCII.
LABELS = st.text(st.sampled_from("abz09.-_ &<>\"'é中\t\n"), max_size=5)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=8
)
PROPERTIES = st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=2)


class SmallGrid(dict[str, Any]):
    """A reference: one site has a switch with four nodes, the other a node at its router."""

    def alpha(self, number: int = 1) -> dict[str, Any]:
        """Return a node behind the switch."""
        nodes: dict[str, Any] = self["sites"]["north"]["clusters"]["alpha"]["nodes"]
        return nodes[f"alpha-{number}"]

    def adapter(self, number: int = 1) -> dict[str, Any]:
        """Return the first adapter of such a node."""
        found: dict[str, Any] = self.alpha(number)["network_adapters"][0]
        return found

    def equipment(self) -> dict[str, Any]:
        """Return the switches and the router of that site."""
        found: dict[str, Any] = self["sites"]["north"]["network_equipments"]
        return found

    def switch(self, uid: str = "sw") -> dict[str, Any]:
        """Return the switch, or the router beside it."""
        found: dict[str, Any] = self.equipment()[uid]
        return found

    @staticmethod
    def node(**changes: Any) -> dict[str, Any]:
        """Return a node as it is at the other site, with some values changed."""
        sites = json.loads(SMALL.read_text())["sites"]
        return {**sites["south"]["clusters"]["beta"]["nodes"]["beta-1"], **changes}

    @staticmethod
    def ports(kind: str, *ports: dict[str, Any], rate: int | None = 10**10) -> dict[str, Any]:
        """Return a line card: an unused port and those given."""
        return {"kind": kind, "ports": [{}, *ports]} | ({} if rate is None else {"rate": rate})


@pytest.fixture
def grid() -> SmallGrid:
    """The small reference, to be changed."""
    return SmallGrid(json.loads(SMALL.read_text()))


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Any], tuple[Grid5000, tuple[DataWarning, ...]]]:
    """A function from a reference to what is read of it."""

    def reader(grid: Any) -> tuple[Grid5000, tuple[DataWarning, ...]]:
        path = tmp_path / "grid.json"
        path.write_text(json.dumps(grid))
        return read_reference(path)

    return reader


@pytest.fixture(scope="session")
def random_platforms() -> st.SearchStrategy[Platform]:
    """Strategy of platforms that SimGrid loads."""
    return _platforms()


class _OddMaker(Maker):
    """Draws platforms with odd names and numbers, and values in all fields."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw(st.integers(0, 2**32)))
        kinds = LABELS, SPEEDS, BANDWIDTHS, LATENCIES, PROPERTIES
        pools = [draw(st.lists(kind, min_size=1, max_size=4)) for kind in kinds]
        self.labels, self.speeds, self.bandwidths, self.latencies, self.properties = pools

    def name(self, prefix: str) -> str:
        return super().name(f"{prefix}{self.draw.choice(self.labels)}.")

    def bandwidth(self) -> float:
        return self.draw.choice(self.bandwidths)

    def latency(self) -> float:
        return self.draw.choice(self.latencies)

    def adorned(self, part: Any) -> Any:
        """Return a part with values in the fields that routes do not depend on."""
        if not isinstance(part, Zone | Host | Link | Cluster):
            return part
        chance, choice = self.draw.random, self.draw.choice
        changes: dict[str, Any] = {"properties": choice(self.properties) | dict(part.properties)}
        if isinstance(part, Zone):
            changes["elements"] = tuple(map(self.adorned, part.elements))
        elif not isinstance(part, Link):
            further = [choice([*self.speeds, 0.0]) for _ in range(self.draw.randint(0, 2))]
            changes |= {"speed": choice(self.speeds), "further_speeds": tuple(further)}
            changes["cores"] = self.draw.randint(1, 1000)
        if isinstance(part, Host):
            disk = Disk("d", self.bandwidth(), self.bandwidth(), choice(self.properties))
            disks = (disk,) if chance() < 0.5 else ()
            changes |= {"pstate": self.draw.randint(0, len(further)), "disks": disks}
        elif isinstance(part, Cluster) and part.topology == "FLAT":
            policy = choice(["SPLITDUPLEX", "SHARED", "FATPIPE"])
            changes |= {"suffix": choice(self.labels), "sharing_policy": policy}
        return replace(part, **changes)


@st.composite
def _platforms(draw: st.DrawFn) -> Platform:
    """Draw a platform with one root zone."""
    maker = _OddMaker(draw)
    (root,) = map(maker.adorned, maker.platform().elements)
    profile = maker.name("p")
    points = draw(st.lists(st.floats(0, 1e9, allow_subnormal=False), max_size=3).map(sorted))
    elements = [Profile.of_points(profile, [(date, 0.5) for date in points], period=2e9), root]
    hosts = list(Platform(tuple(elements)).host_names())
    elements.append(ProfileUse(profile, hosts[0], "SPEED"))
    arguments = st.lists(TEXTS, max_size=2).map(tuple)
    times = st.just(0.0) | st.floats(1e-9, 1e9), st.none() | st.floats(2e9, 3e9)
    failure = st.sampled_from(["DIE", "RESTART"])
    actor = st.builds(
        DeployedActor,
        st.sampled_from(hosts),
        TEXTS.filter(bool),
        arguments,
        *times,
        failure,
        PROPERTIES,
    )
    config = st.builds(Config, st.just({"network/model": "CM02"}), TEXTS)
    configs = draw(st.lists(config, max_size=1))
    return Platform(tuple(elements), tuple(configs), tuple(draw(st.lists(actor, max_size=2))))
