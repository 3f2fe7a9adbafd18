"""Quantities and laws in descriptions of federations: what is refused, with line and remedy."""

import tomllib

import pytest

from simplugin.errors import PlatformError
from simplugin.formats.federation_tables import Document
from simplugin.formats.federation_toml import federation_from, read_federation

TEXT = """\
name = "f"

[backbone]
kind = "star"
bandwidth = "1Gbps"

[[sites]]
name = "s"

[[sites.clusters]]
name = "c"
hosts = 4
speed = "1Gf"
bandwidth = "1Gbps"
latency = "50us"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('speed = "1Gf"', 'speed = "4.3"', 13,
         "sites.0.clusters.0.speed is '4.3', which has no unit; write e.g. \"2.5Gf\", or a number "
         "[flop/s] without quotes"),
        ('bandwidth = "1Gbps"\nlatency', 'bandwidth = "1e9"\nlatency', 14,
         "sites.0.clusters.0.bandwidth is '1e9', which has no unit; write e.g. \"10Gbps\""),
        ('latency = "50us"', 'latency = "0"', 15,
         "sites.0.clusters.0.latency is '0', which has no unit; write e.g. \"50us\", or a number "
         "[s] without quotes"),
        ('kind = "star"\nbandwidth = "1Gbps"', 'kind = "star"\nbandwidth = "7"', 5,
         "backbone.bandwidth is '7', which has no unit"),
        ('speed = "1Gf"', 'speed = { law = "uniform", low = "1", high = "2Gf" }', 13,
         "sites.0.clusters.0.speed.low is '1', which has no unit"),
        ('speed = "1Gf"', 'speed = { low = "1Gf", high = "2Gf" }', 13,
         "key 'sites.0.clusters.0.speed.law' is missing; add it: one of constant, uniform, "),
        ('speed = "1Gf"', 'speed = { law = "uniform", low = "1Gf" }', 13,
         "key 'sites.0.clusters.0.speed.high' is missing; add it: e.g. high = \"2.5Gf\""),
        ('speed = "1Gf"', 'speed = { law = "gamma", mean = "1Gf" }', 13,
         "key 'sites.0.clusters.0.speed.variation' is missing; add it: e.g. variation = 0.3"),
        ('speed = "1Gf"', 'speed = { law = "gamma", mean = "1Gf", varation = 1 }', 13,
         "unknown key 'sites.0.clusters.0.speed.varation'; did you mean 'variation'?"),
        ('speed = "1Gf"', 'speed = { law = ["uniform"] }', 13,
         "sites.0.clusters.0.speed.law is ['uniform']; give one of constant"),
        ('latency = "50us"', 'latency = { law = "uniform", low = 0, high = "1s" }', 15,
         "sites.0.clusters.0.latency.low is 0; give a number, more than 0"),
        ("hosts = 4", 'hosts = { law = "uniform", low = 4, high = "6" }', 12,
         "sites.0.clusters.0.hosts.high is '6'; give a number, more than 0, e.g. 5"),
        ('speed = "1Gf"', f"speed = 1{'0' * 400}", 13, "give a number, more than 0"),
        ('kind = "star"\n', "", 3,
         "key 'backbone.kind' is missing; add it: one of star, mesh, ring, chain, links"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, line, message):
    assert TEXT.count(old) == 1
    file = tmp_path / "federation.toml"
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(PlatformError) as caught:
        read_federation(file)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_parameters_of_a_law_have_their_own_lines():
    law = 'speed.law = "uniform"\nspeed.low = "1Gf"\nspeed.high = "9"\n'
    text = TEXT.replace('speed = "1Gf"\n', law)
    with pytest.raises(PlatformError, match="which has no unit") as caught:
        federation_from(tomllib.loads(text), document=Document("f.toml", text))
    assert caught.value.line == 15
