import pytest

from simplugin import Cluster, Platform, simulate
from simplugin.core.formatting import percent, readable
from simplugin.reports import print_result
from simplugin.results.row import Best, Metric, Row


@pytest.fixture
def lines_of(printed):
    """A function from a result to the lines that are printed of it."""
    return lambda result, **given: printed(lambda to: print_result(result, console=to, **given))


def test_everything_is_there(result, lines_of):
    row = Row((Metric("makespan", result.clock, "s"),), best=Best("makespan", 2.5, "bound"))
    lines = lines_of(result, row=row, title="Title", bandwidths={"wire": 1e8})
    assert lines[0] == "Title"
    assert f"makespan {result.clock:.4g} s" in lines
    assert "bound of makespan 2.5 s" in lines
    # 200 MB through 100 MB/s.
    load = 2.0 / result.clock
    for known in (
        f"wire 200 MB {readable(2e8 / result.clock, 'byte/s')} {percent(load)}",
        "transfer data 2 2 s 200 MB 50 MB/s",
        f"node-10 1 Gflop 1 s {percent(1 / result.clock)}",
    ):
        assert sum(line.startswith(known) for line in lines) == 1
    # There is no load without bandwidths.
    assert "name carried mean rate" in lines_of(result)


def test_long_tables_are_cut(lines_of):
    cluster = Cluster("c", "0-29", 1e9, 1e8, 1e-4)

    async def busy(me):
        await me.execute(1e9 * me.pid)

    lines = lines_of(simulate(Platform(cluster), [(h, busy) for h in cluster.host_names()]), most=5)
    assert "and 25 more" in lines
    hosts = [line.split()[0] for line in lines[lines.index("Hosts") + 3 :][:5]]
    assert hosts == ["29", "28", "27", "26", "25"]


def test_nothing_to_print(nothing, lines_of):
    assert lines_of(nothing) == []


def test_energies_have_a_column_and_add_up_to_the_total(lines_of):
    cluster = Cluster("c", "0-9", 1e9, 1e8, 1e-4, properties={"wattage_per_state": "1:2:3"})

    async def busy(me):
        await me.execute(10e9)

    result = simulate(Platform(cluster), [("9", busy)], energy=True)
    lines = lines_of(result, most=10)
    assert "name computed busy of the time energy" in lines
    # One core at full load for 10 s is 30 J, and nine idle ones have 10 J each.
    hosts = [line.split() for line in lines[lines.index("Hosts") + 3 :]]
    assert hosts[0][:7] == ["9", "10", "Gflop", "10", "s", "100.0", "%"]
    assert [line[0] for line in hosts] == ["9", *map(str, range(9))]
    assert sum(float(line[-2]) for line in hosts) == 120.0 == result.hosts.energy.sum()
    assert "and 8 more" in lines_of(result, most=2)


READABLE = [
    (999.0, "byte", "999 B"),
    (1.25e9, "byte", "1.25 GB"),
    (-2e6, "J", "-2 MJ"),
    (123456.0, "s", "123\u202f456 s"),
    (1.25e300, "G$", "1.25e+300 G$"),
    (1e15, "s", "1e+15 s"),
    (9.99e14, "s", "999\u202f000\u202f000\u202f000\u202f000 s"),
    (1234567, "", "1\u202f234\u202f567"),
    (0.25, "", "0.25"),
    (None, "s", "-"),
    (float("nan"), "J", "-"),
    ("text", "", "text"),
]


@pytest.mark.parametrize(("value", "unit", "text"), READABLE)
def test_readable(value, unit, text):
    assert readable(value, unit) == text


def test_percent():
    found = [percent(value) for value in (0.123, -1e-6, None, float("inf"))]
    assert found == ["12.3 %", "0.0 %", "-", "-"]
