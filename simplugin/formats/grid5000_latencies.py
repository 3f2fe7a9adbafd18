"""The table of latencies of Grid'5000 from and to TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from simplugin.errors import PlatformError, UnitError
from simplugin.inputs.documents import read_toml
from simplugin.inputs.positions import toml_line
from simplugin.near_names import perhaps
from simplugin.platforms.grid5000.latencies import Latencies, town
from simplugin.units import format_time, parse_bandwidth, parse_time

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from simplugin.platforms.grid5000.facts import Grid5000

_BITS = {"Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3, "bps": 1.0}
_KEYS = ("switch", "router", "detour", "adapters", "links", "cities")
_Value = TypeVar("_Value")
_HEADER = """\
# Latencies of Grid'5000, one way: texts with a unit, or seconds.
# Where each number comes from: docs/platforms/grid5000.md.
"""
_COMMENTS = {
    "switch": "Between two switches, or a switch and the router of the site.",
    "router": "Of each backbone link, besides the way through the fibre.",
    "detour": "Length of a fibre over the distance of its ends.",
    "adapters": "From a host to its switch. An adapter has the latency of the highest rate here\n"
    "# that is not above its own.",
    "links": "Of backbone links, where it is known; computed for all others.",
    "cities": "Latitude and longitude of points of presence and sites, in degrees.",
}


def read_latencies(path: str | os.PathLike[str], facts: Grid5000 | None = None) -> Latencies:
    """Read a table of latencies.

    Keys that it lacks have the values of `Latencies`. The tables ``adapters.<interface>`` replace
    all rates of the interface, ``cities`` adds to those that are known.

    Parameters
    ----------
    path : path
        A TOML file as `latencies_text` writes it.
    facts : Grid5000, optional
        All that is known, not only what was selected: interfaces, links and cities that neither
        these nor the built-in table have are refused. Without, they are taken.

    Returns
    -------
    Latencies
        What it says.

    Raises
    ------
    PlatformError
        It cannot be read, has an unknown key, a name that nothing has, or a value that is none;
        with the line.
    """
    found = read_toml(path, PlatformError, "write it as --print-latencies prints it")
    text, document = found.text, found.content
    reader = _Reader(path, text)
    reader.known(document)
    table = reader.checked(document)
    if facts is not None:
        reader.matching(document, facts)
    return table


def latencies_text(latencies: Latencies) -> str:
    """Return a table of latencies as TOML; reading it gives the same table.

    Parameters
    ----------
    latencies : Latencies
        What to write.

    Returns
    -------
    str
        The document, with comments.
    """
    lines = [_HEADER.rstrip()]
    for key in ("switch", "router"):
        lines += ["", f"# {_COMMENTS[key]}", f'{key} = "{format_time(getattr(latencies, key))}"']
    lines += ["", f"# {_COMMENTS['detour']}", f"detour = {float(latencies.detour)!r}"]
    lines += ["", f"# {_COMMENTS['adapters']}"]
    for interface, rates in latencies.adapters.items():
        lines.append(f"[adapters.{_key(interface)}]")
        lines += [f'"{_rate_text(rate)}" = "{format_time(rates[rate])}"' for rate in rates]
    lines += ["", f"# {_COMMENTS['links']}", "[links]"]
    lines += [
        f'{_key(one)}.{_key(other)} = "{format_time(value)}"'
        for (one, other), value in sorted(latencies.links.items())
    ]
    lines += ["", f"# {_COMMENTS['cities']}", "[cities]"]
    lines += [
        f"{_key(name)} = [{float(latitude)!r}, {float(longitude)!r}]"
        for name, (latitude, longitude) in sorted(latencies.cities.items())
    ]
    return "\n".join(lines) + "\n"


class _Reader:
    """Takes the values out of a document."""

    def __init__(self, path: str | os.PathLike[str], text: str) -> None:
        self._path = path
        self._text = text

    def error(self, message: str, remedy: str | None, *key: str) -> PlatformError:
        """Return an error with the line of a key."""
        line = toml_line(self._text, key)
        return PlatformError(message, file=self._path, line=line, remedy=remedy)

    def known(self, document: Mapping[str, Any]) -> None:
        """Refuse keys that say nothing."""
        for key in document:
            if key not in _KEYS:
                remedy = perhaps(key, _KEYS, 1) or f"give {', '.join(_KEYS)}"
                raise self.error(f"there is no latency {key!r}", remedy, key)

    def checked(self, document: Mapping[str, Any]) -> Latencies:
        """Return what the document says."""
        given: dict[str, Any] = {}
        for key in ("switch", "router"):
            if key in document:
                given[key] = self.time(document[key], key)
        if "detour" in document:
            given["detour"] = self.number(document["detour"], "detour")
            if not 1 <= given["detour"] < float("inf"):
                raise self.error(f"detour is {given['detour']!r}", "give 1 or more", "detour")
        if "adapters" in document:
            adapters = self.table(document["adapters"], "adapters")
            given["adapters"] = {name: self.rates(rates, name) for name, rates in adapters.items()}
        if "links" in document:
            given["links"] = self.links(document["links"])
        if "cities" in document:
            given["cities"] = {
                name: self.place(value, name)
                for name, value in self.table(document["cities"], "cities").items()
            }
        return Latencies(**given)

    def matching(self, document: Mapping[str, Any], facts: Grid5000) -> None:
        """Refuse names that neither the facts nor the built-in table have."""
        built_in = Latencies()
        adapters = {*built_in.adapters, *_interfaces(facts)}
        for name in document.get("adapters", ()):
            if name not in adapters:
                raise self.unknown("interface", name, adapters, "adapters", name)
        ends = {end for link in facts.backbone for end in link.ends}
        sites = {each.name for each in facts.places} | {site.uid for site in facts.sites}
        cities = {*built_in.cities, *sites, *ends, *map(town, ends)}
        for name in document.get("cities", ()):
            if name not in cities:
                raise self.unknown("site or point of presence", name, cities, "cities", name)
        links = {link.ends for link in facts.backbone}
        pairs = {".".join(ends) for ends in links}
        for one, others in document.get("links", {}).items():
            for other in others:
                if not links & {(one, other), (other, one)}:
                    name = f"{one}.{other}"
                    raise self.unknown("backbone link", name, pairs, "links", one, other)

    def unknown(self, what: str, name: str, known: Iterable[str], *key: str) -> PlatformError:
        """Return the error for a name that nothing has."""
        every = sorted(known)
        listed = f"give one of {', '.join(every)}" if every else "leave it out"
        return self.error(f"there is no {what} {name!r}", perhaps(name, every) or listed, *key)

    def rates(self, value: Any, interface: str) -> dict[float, float]:
        """Take the latencies of the adapters of an interface."""
        key = ("adapters", interface)
        rates: dict[float, float] = {}
        for text, latency in self.table(value, *key).items():
            rate = self.rate(text, *key)
            if rate in rates:
                raise self.error(f"{'.'.join(key)} has {text!r} twice", "remove one", *key, text)
            rates[rate] = self.time(latency, *key, text)
        if not rates:
            raise self.error(f"{'.'.join(key)} is empty", "give a latency for a rate", *key)
        return rates

    def links(self, value: Any) -> dict[tuple[str, str], float]:
        """Take the latencies of backbone links, which their two ends name."""
        links: dict[tuple[str, str], float] = {}
        for one, others in self.table(value, "links").items():
            for other, latency in self.table(others, "links", one).items():
                if (other, one) in links or one == other:
                    raise self.error(
                        f"the link {one} - {other} is given twice or joins nothing",
                        "give each link once, by its two ends",
                        *("links", one, other),
                    )
                links[one, other] = self.time(latency, "links", one, other)
        return links

    def table(self, value: Any, *key: str) -> Mapping[str, Any]:
        """Take a table."""
        if not isinstance(value, Mapping):
            remedy = "write it as --print-latencies prints it"
            raise self.error(f"{'.'.join(key)} is {value!r}, no table", remedy, *key)
        return value

    def number(self, value: Any, *key: str) -> float:
        """Take a plain number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{'.'.join(key)} is {value!r}", "give a number", *key)
        return float(value)

    def time(self, value: Any, *key: str) -> float:
        """Take a duration of at least 0 [s]."""
        if isinstance(value, str):
            value = self.parsed(parse_time, value, *key)
        latency = self.number(value, *key)
        if not 0 <= latency < float("inf"):
            remedy = "give 0 or more, e.g. '10us'"
            raise self.error(f"{'.'.join(key)} is {latency!r} s", remedy, *key)
        return latency

    def rate(self, text: str, *key: str) -> float:
        """Take a rate [bit/s]."""
        rate = self.parsed(_bits, text, *key, text)
        if not 0 < rate < float("inf"):
            remedy = "give a rate above 0, e.g. '10Gbps'"
            raise self.error(f"{'.'.join(key)} has the rate {text!r}", remedy, *key, text)
        return rate

    def parsed(self, parse: Callable[[str], _Value], text: str, *key: str) -> _Value:
        """Read a text with a unit."""
        try:
            return parse(text)
        except UnitError as error:
            raise self.error(f"{'.'.join(key)}: {error}", None, *key) from None

    def place(self, value: Any, name: str) -> tuple[float, float]:
        """Take latitude and longitude."""
        if not isinstance(value, list) or len(value) != 2:
            remedy = "give [latitude, longitude] in degrees"
            raise self.error(f"cities.{name} is {value!r}", remedy, "cities", name)
        latitude, longitude = (self.number(each, "cities", name) for each in value)
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
            remedy = "give [latitude, longitude] in degrees"
            raise self.error(f"cities.{name} is {value!r}", remedy, "cities", name)
        return latitude, longitude


def _interfaces(facts: Grid5000) -> set[str]:
    """Return the interfaces of all adapters."""
    return {
        adapter.interface
        for site in facts.sites
        for cluster in site.clusters
        for group in cluster.groups
        for adapter in (group.adapter, group.fast_adapter)
        if adapter is not None
    }


def _bits(text: str) -> float:
    """Read a rate [bit/s]."""
    for unit, scale in _BITS.items():
        # To the bit what `_rate_text` wrote, which bytes and back would not be.
        number = text.removesuffix(unit)
        if number != text and number.replace(".", "", 1).isdecimal():
            return float(number) * scale
    return parse_bandwidth(text) * 8


def _rate_text(rate: float) -> str:
    """Write a rate in the largest unit that reads back as the same."""
    for unit, scale in _BITS.items():
        text = f"{rate / scale!r}".removesuffix(".0") + unit
        if rate >= scale and _bits(text) == rate:
            return text
    return f"{rate!r}bps"


def _key(name: str) -> str:
    """Write a key, quoted where TOML asks for it."""
    if name and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name):
        return name
    escaped = "".join(
        f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter
        for letter in name.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'
