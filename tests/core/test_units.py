import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core import units
from simplugin.core.errors import UnitError

FORMATS = [
    (units.format_speed, units.parse_speed),
    (units.format_bandwidth, units.parse_bandwidth),
    (units.format_size, units.parse_size),
    (units.format_time, units.parse_time),
]


READ = [
    (units.parse_speed, "2gigaflops", 2e9),
    (units.parse_speed, "1E9f", 1e9),
    (units.parse_speed, " \t+1Ef", 1e18),
    (units.parse_speed, ".5kf", 500.0),
    (units.parse_speed, "5.kf", 5000.0),
    (units.parse_speed, "0x10f", 271.0),  # the f is a hexadecimal digit
    (units.parse_speed, "0x1p4f", 16.0),
    (units.parse_speed, "inff", math.inf),
    (units.parse_bandwidth, "8Kibps", 1024.0),
    (units.parse_size, "4MiB", 4194304.0),
    (units.parse_size, "64b", 8.0),
    (units.parse_size, "1Kib", 128.0),
    (units.parse_size, "1YiB", 2.0**80),
    (units.parse_time, "1w", 604800.0),
    (units.parse_time, "1.5m", 90.0),
    (units.parse_speed, "4.3", 4.3),
    (units.parse_speed, "0x1p3", 8.0),
    (units.parse_time, "5", 5.0),
]
WITHOUT_UNIT = {"4.3", "5", "0x10f", "0x1p3"}


@pytest.mark.parametrize(("parse", "text", "value"), READ)
def test_what_is_read(parse, text, value):
    assert parse(text) == value
    assert units.has_unit(text) == (text not in WITHOUT_UNIT)


def test_lists():
    assert units.parse_speeds("100Mf, 50Mf ,20Mf") == [1e8, 5e7, 2e7]
    assert units.parse_bandwidths("1MBps;2MBps,3MBps") == [1e6, 2e6, 3e6]


REFUSED = [
    (units.parse_bandwidth, "10GBps ", "GBps'"),
    (units.parse_bandwidth, "10 GBps", "did you mean 'GBps'"),
    (units.parse_bandwidth, "1KBps", "did you mean 'kBps'"),
    (units.parse_speed, "1GF", "did you mean 'Gf'"),
    (units.parse_time, "1min", "did you mean 'm'"),
    (units.parse_time, "3months", "unknown unit 'months'; write"),
    (units.parse_time, "", "not a number"),
    (units.parse_time, "nan", "not a number"),
    (units.parse_time, "1e400s", "out of the range"),
    (units.parse_time, "1e-400s", "out of the range"),
    (units.parse_time, "0x1p9999s", "out of the range"),
    (units.parse_size, "1,5kB", "unknown unit ',5kB'"),
    (units.parse_size, "\u0661kB", "not a number"),
]


@pytest.mark.parametrize(("parse", "text", "says"), REFUSED)
def test_refused(parse, text, says):
    with pytest.raises(UnitError) as error:
        parse(text)
    assert repr(text) in str(error.value)
    assert says in str(error.value)


WRITTEN = [
    (units.format_speed(98.095e6), "98.095Mf"),
    (units.format_speed(0), "0f"),
    (units.format_bandwidth(1.25e9), "1.25GBps"),
    (units.format_size(4194304), "4MiB"),
    (units.format_size(1023), "1023B"),
    (units.format_time(0.015), "15ms"),
    (units.format_time(3600.0), "3600s"),
    (units.format_time(2e-06), "2us"),
    (units.format_time(5e-05), "0.05ms"),  # SimGrid reads 50us as 4.9999999999999996e-05
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN)
def test_what_is_written(text, expected):
    assert text == expected


@pytest.mark.parametrize(("write", "read"), FORMATS)
@given(value=st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False))
def test_reading_gives_back_what_was_written(write, read, value):
    assert read(write(value)) == value


@pytest.mark.parametrize(("write", "_read"), FORMATS)
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_only_finite_values_are_written(write, _read, value):
    with pytest.raises(UnitError):
        write(value)


# Runs in a process of its own: prints the floats that SimGrid makes of texts.
ASK_SIMGRID = """
import json, locale, sys, simgrid
texts = json.load(sys.stdin)
locale.setlocale(locale.LC_ALL, "C")  # SimGrid compares names by its rules
engine = simgrid.Engine(["units", "--log=root.thresh:critical"])
zone = engine.netzone_root
speeds = [zone.add_host(f"h{i}", t).speed for i, t in enumerate(texts["speed"])]
links = [zone.add_link(f"b{i}", t) for i, t in enumerate(texts["bandwidth"])]
delays = [zone.add_link(f"l{i}", "1Bps").set_latency(t) for i, t in enumerate(texts["time"])]
json.dump(
    {
        "speed": speeds,
        "bandwidth": [link.bandwidth for link in links],
        "time": [link.latency for link in delays],
    },
    sys.stderr,
)
"""


def test_simgrid_reads_the_same():
    numbers = ["1", "0.1", "98.095", "7e3", "123456789.123456789", "3.3e-5", "0x1.8p1"]
    texts = {
        "speed": [n + u for n in numbers for u in units._SPEEDS],
        "bandwidth": [n + u for n in numbers for u in units._BANDWIDTHS],
        "time": [n + u for n in numbers for u in units._TIMES],
    }
    answer = subprocess.run(
        [sys.executable, "-c", ASK_SIMGRID],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    simgrid = json.loads(answer.stderr.splitlines()[-1])
    assert [units.parse_speed(t) for t in texts["speed"]] == simgrid["speed"]
    assert [units.parse_bandwidth(t) for t in texts["bandwidth"]] == simgrid["bandwidth"]
    assert [units.parse_time(t) for t in texts["time"]] == simgrid["time"]
