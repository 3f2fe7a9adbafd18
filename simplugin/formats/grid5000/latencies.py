"""The table of latencies of Grid'5000 from and to TOML."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import AfterValidator, Field

from simplugin.core.errors import PlatformError, UnitError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.core.units import format_time, parse_bandwidth
from simplugin.inputs.documents import Document, read_toml
from simplugin.inputs.files import FilePath
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, Time
from simplugin.inputs.validation import table, validated
from simplugin.platforms.grid5000.facts import Grid5000
from simplugin.platforms.grid5000.latencies import Latencies, town

_BITS = {"Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3, "bps": 1.0}
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


def read_latencies(path: FilePath, facts: Grid5000 | None = None) -> Latencies:
    """Read a table of latencies.

    Missing keys default to the values of `Latencies`. The tables ``adapters.<interface>`` replace
    all rates of the interface, ``cities`` adds to those that are known.

    Parameters
    ----------
    path : path
        A TOML file as `latencies_text` writes it.
    facts : Grid5000, optional
        All facts, not only selected ones: interfaces, links and cities that neither
        these nor the built-in table contain are refused; None to accept them.

    Returns
    -------
    Latencies
        The latencies.

    Raises
    ------
    PlatformError
        It cannot be read, has an unknown key, an unknown name, or an invalid value;
        with the line.
    """
    document = read_toml(path, PlatformError, "write it as --print-latencies prints it")
    latencies: Latencies = validated(_LATENCIES, document)
    if facts is not None:
        _require_known(document, facts)
    return latencies


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


def _rates(latencies: dict[str, float]) -> dict[float, float]:
    """Return the latencies of the adapters of an interface by rate [bit/s]."""
    rates: dict[float, float] = {}
    for text, latency in latencies.items():
        try:
            rate = _bits(text)
        except UnitError as error:
            raise InvalidValueError(f"{{key}}: {error.message}", error.remedy, (text,)) from None
        if not 0 < rate < float("inf"):
            remedy = "give a rate above 0, e.g. '10Gbps'"
            raise InvalidValueError("{key} is out of range", remedy, (text,))
        if rate in rates:
            raise InvalidValueError("{key} is given twice", "remove one", (text,))
        rates[rate] = latency
    if not rates:
        raise InvalidValueError("{key} is empty", "give a latency for a rate")
    return rates


def _links(tables: dict[str, dict[str, float]]) -> dict[tuple[str, str], float]:
    """Return the latencies of backbone links by their two ends."""
    links: dict[tuple[str, str], float] = {}
    for one, others in tables.items():
        for other, latency in others.items():
            if (other, one) in links or one == other:
                raise InvalidValueError(
                    f"the link {one} - {other} is given twice or joins nothing",
                    "give each link once, by its two ends",
                    (one, other),
                )
            links[one, other] = latency
    return links


def _position(degrees: list[float]) -> tuple[float, float]:
    """Return latitude and longitude."""
    if len(degrees) != 2 or not (-90 <= degrees[0] <= 90 and -180 <= degrees[1] <= 180):
        raise ValueError("give [latitude, longitude] in degrees")
    latitude, longitude = degrees
    return latitude, longitude


_LATENCY = Annotated[Time, NOT_NEGATIVE]
_LATENCIES = table(
    Latencies,
    switch=_LATENCY,
    router=_LATENCY,
    detour=Annotated[float, Field(ge=1, allow_inf_nan=False)],
    adapters=dict[str, Annotated[dict[str, _LATENCY], AfterValidator(_rates)]],
    links=Annotated[dict[str, dict[str, _LATENCY]], AfterValidator(_links)],
    cities=dict[str, Annotated[list[float], AfterValidator(_position)]],
)


def _require_known(document: Document, facts: Grid5000) -> None:
    """Raise if the document has a name that neither the facts nor the built-in table have."""
    built_in, content = Latencies(), document.content
    groups = [group for site in facts.sites for group in site.groups]
    fast = (group.fast_adapter for group in groups)
    adapters = {group.adapter.interface for group in groups}
    adapters |= {each.interface for each in fast if each} | built_in.adapters.keys()
    ends = {end for link in facts.backbone for end in link.ends}
    cities = {*built_in.cities, *ends, *map(town, ends), *(each.name for each in facts.places)}
    cities |= {site.uid for site in facts.sites}
    links = {".".join(sorted(link.ends)) for link in facts.backbone}
    asked: list[tuple[str, set[str], str, tuple[str, ...]]] = [
        ("backbone link", links, ".".join(sorted((one, other))), ("links", one, other))
        for one, others in content.get("links", {}).items()
        for other in others
    ]
    for what, known, key in (
        ("interface", adapters, "adapters"),
        ("site or point of presence", cities, "cities"),
    ):
        asked += [(what, known, name, (key, name)) for name in content.get(key, ())]
    for what, known, name, path in asked:
        if name not in known:
            listed = f"give one of {', '.join(sorted(known))}" if known else "leave it out"
            remedy = did_you_mean(name, sorted(known)) or listed
            raise document.error(path, f"there is no {what} {name!r}", remedy)


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
    """Write a key, quoted where TOML requires it."""
    if re.fullmatch(r"[\w-]+", name, re.ASCII):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
