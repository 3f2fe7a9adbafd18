"""Results: plain data, equal for equal inputs."""

from __future__ import annotations

import csv
import dataclasses
import math
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from naming import raises_naming
from simgrid_texts import SIMGRID_VERSION
from xml_zones import zone_xml

from simplugin import Host, Platform, Zone
from simplugin.core.errors import SimpluginError
from simplugin.simulation import Placement, Result, simulate
from simplugin.simulation.digests import canonical_bytes


async def worker(me: Any, flops: float) -> Any:
    await me.execute(flops, label="work, of the day")
    await me.sleep_for(1)
    return {"at": me.now, "array": np.arange(3), "nan": math.nan, "random": me.random.random()}


@pytest.fixture(scope="module")
def result(two_hosts: Path) -> Result:
    """Return a result with a bit of everything."""
    return simulate(two_hosts, [("ada", worker, 1e9), ("bob", worker, 2e9)], seed=7)


def test_same_inputs_same_bytes(result: Result, two_hosts: Path) -> None:
    again = simulate(two_hosts, [("ada", worker, 1e9), ("bob", worker, 2e9)], seed=7)
    assert again == result
    assert again.digest() == result.digest()
    assert pickle.dumps(again) == pickle.dumps(result)
    assert hash(again) == hash(result)


def test_other_inputs_other_bytes(result: Result, two_hosts: Path) -> None:
    def run(first: float, seed: int, host: str = "bob") -> Result:
        return simulate(two_hosts, [("ada", worker, first), (host, worker, 2e9)], seed=seed)

    results = [result, run(1e9 + 1, 7), run(1e9, 8), run(1e9, 7, "ada")]
    assert len({each.digest() for each in results}) == 4
    assert len({each.provenance["content_sha256"] for each in results}) == 4
    assert result.returned[0].value["random"] != results[2].returned[0].value["random"]


def test_parts_are_equal_by_their_columns(result: Result) -> None:
    copy = pickle.loads(pickle.dumps(result))
    assert (copy, copy.digest()) == (result, result.digest())
    assert np.isnan(result.hosts.energy).all()
    for name in ("hosts", "links", "trace"):
        one, other = getattr(result, name), getattr(copy, name)
        assert one is not other
        assert one == other
        assert hash(one) == hash(other)
    assert result.hosts != dataclasses.replace(result.hosts, flops=result.hosts.flops + 1)
    assert result.links != dataclasses.replace(result.links, name=("another",))
    assert result.trace != dataclasses.replace(result.trace, end=result.trace.end + 1)
    assert result.hosts != result.links


def test_reading_needs_no_simgrid(result: Result, tmp_path: Path) -> None:
    file = tmp_path / "result.pickle"
    file.write_bytes(pickle.dumps(result))
    code = (
        "import pickle, sys\n"
        f"result = pickle.load(open({str(file)!r}, 'rb'))\n"
        f"assert result.digest() == {result.digest()!r}\n"
        "print([m for m in ('simgrid', 'simplugin.simulation._driver') if m in sys.modules])\n"
    )
    project = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project
    )
    assert done.stdout.strip() == "[]"


def test_columns_are_read_only(result: Result) -> None:
    copy = pickle.loads(pickle.dumps(result))
    for column in (result.trace.start, result.hosts.flops, result.links.bytes, copy.trace.start):
        with pytest.raises(ValueError, match="read-only"):
            column[:] = 0
    with pytest.raises(AttributeError):
        result.clock = 1.0  # type: ignore[misc]


def test_provenance(result: Result) -> None:
    provenance = result.provenance
    assert provenance["simgrid"] == SIMGRID_VERSION
    assert provenance["python"] == ".".join(map(str, sys.version_info[:3]))
    assert provenance["seed"] == 7
    assert len(provenance["platform_sha256"]) == 64
    assert provenance["options"]["network/model"] == "LV08"


def test_platform_hash_follows_profiles(tmp_path: Path) -> None:
    file = tmp_path / "platform.xml"
    file.write_text(zone_xml('<host id="ada" speed="1Gf" speed_file="speed.txt"/>'))
    hashes, clocks = [], []
    for speed in ("1.0", "0.5"):
        (tmp_path / "speed.txt").write_text(f"0 {speed}\n")
        found = simulate(file, [("ada", worker, 1e9)])
        hashes.append(found.provenance["platform_sha256"])
        clocks.append(found.clock)
    assert clocks == pytest.approx([2.0, 3.0])
    assert hashes[0] != hashes[1]


def test_values_by_name(result: Result, two_hosts: Path) -> None:
    assert [value["at"] for value in result.values("worker")] == [2.0, 2.0]
    with raises_naming(SimpluginError, "'worker'"):
        result.value_of("worker")
    with raises_naming(SimpluginError, "'nobody'"):
        result.value_of("nobody")
    named = simulate(two_hosts, [Placement("ada", worker, (1e9,), name="only")])
    assert named.value_of("only")["at"] == 2.0


def test_data_frames(result: Result) -> None:
    hosts = result.hosts.to_pandas()
    assert hosts.columns.tolist() == ["name", "flops", "busy", "energy", "utilisation"]
    assert dict(zip(hosts["name"], hosts["flops"], strict=True)) == {"ada": 1e9, "bob": 2e9}
    # Both compute for 1 s of the 2 s.
    assert hosts["utilisation"].tolist() == pytest.approx([0.5, 0.5])
    assert result.hosts.row("ada")["utilisation"] == pytest.approx(0.5)
    assert result.links.to_pandas()["name"].tolist() == list(result.links.name)
    returned = result.returned.to_pandas()
    assert returned[["host", "state"]].values.tolist() == [["ada", "ended"], ["bob", "ended"]]
    assert [value["at"] for value in returned["value"]] == [2.0, 2.0]


def test_totals_of_no_time_have_no_utilisation(two_hosts: Path) -> None:
    async def idle(me: Any) -> None:
        pass

    found = simulate(two_hosts, [("ada", idle)])
    assert np.isnan(found.hosts.utilisation).all()
    assert "ends at 0 s" in found._repr_html_()
    assert len(repr(found)) < 100


def test_trace_columns(result: Result) -> None:
    trace = result.trace
    rows = sorted(trace.rows())
    assert [row[:4] for row in rows if row[2] == "exec"] == [
        ("worker", "ada", "exec", "work, of the day"),
        ("worker", "bob", "exec", "work, of the day"),
    ]
    executions = trace.kind == "exec"
    np.testing.assert_allclose(trace.end[executions], 1.0)
    np.testing.assert_allclose(sorted(trace.amount[executions]), [1e9, 2e9])
    assert set(trace.state) == {"done"}


def test_no_trace(two_hosts: Path) -> None:
    found = simulate(two_hosts, [("ada", worker, 1e9)], trace=False)
    assert len(found.trace) == 0
    assert list(found.trace.rows()) == []
    assert found.trace.to_pandas().empty
    assert found.hosts.row("ada")["flops"] == pytest.approx(1e9)


def test_export(result: Result, tmp_path: Path) -> None:
    trace = result.trace
    rows = [tuple(row) for row in trace.rows()]
    trace.to_csv(tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["actor", "resource", "kind", "label", "start", "end", "amount", "state"]
    assert [tuple(line[:4]) for line in lines] == [(*row[:3], row[3] or "") for row in rows]
    assert [tuple(map(float, line[4:7])) for line in lines] == [row[4:7] for row in rows]
    frame = trace.to_pandas()
    assert frame["actor"].tolist() == ["worker"] * len(rows)
    assert frame["label"].isna().tolist() == [not row[3] for row in rows]
    pytest.importorskip("pyarrow")
    trace.to_parquet(tmp_path / "trace.parquet")
    read = pd.read_parquet(tmp_path / "trace.parquet")
    pd.testing.assert_frame_equal(
        read.astype(object).fillna(""), frame.astype(object).fillna(""), check_dtype=False
    )


def test_canonical_bytes_do_not_depend_on_identity_or_order() -> None:
    text = "long text"
    assert canonical_bytes([text, text]) == canonical_bytes([text, "".join(["long", " text"])])
    assert canonical_bytes({"a": 1, "b": 2}) == canonical_bytes({"b": 2, "a": 1})
    assert canonical_bytes({3, 1, 2}) == canonical_bytes({1, 2, 3})
    assert canonical_bytes(math.nan) == canonical_bytes(float("nan"))


def test_canonical_bytes_tell_apart() -> None:
    scalars = [1, 1.0, True, "1", b"1", None, 0.0, -0.0, np.float64(1.0)]
    nested = [(1, 2), [1, 2], [[1], 2], [1, [2]], {1, 2}, frozenset({1, 2}), {1: 2}]
    arrays = [np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]])]
    names = [worker, lambda: 1, lambda: 2, math.sin, math, Placement]
    objects = [Placement("a", worker), Placement("b", worker)]
    values: list[Any] = [*scalars, *nested, *arrays, *names, *objects]
    assert len({canonical_bytes(value) for value in values}) == len(values)


def test_canonical_bytes_of_what_holds_itself() -> None:
    def loop() -> list[Any]:
        found: list[Any] = [1]
        found.append(found)
        return found

    assert canonical_bytes(loop()) == canonical_bytes(loop())


def test_no_canonical_bytes() -> None:
    with raises_naming(SimpluginError, "lock"):
        canonical_bytes([threading.Lock()])


async def switches(me):
    host = me.host_by_name("b")
    for date, on in ((1.0, False), (2.5, True), (3.0, False), (3.0, True), (4.0, False)):
        await me.sleep_until(date)
        (host.turn_on if on else host.turn_off)()
    await me.sleep_until(6.0)


def test_hosts_that_actors_turn_off_are_known(back_end):
    platform = Platform(Zone("z", "Full", [Host("a", 1e9), Host("b", 1e9)]))
    result = simulate(platform, [("a", switches)], back_end=back_end)
    assert result.off_times == {"b": ((1.0, 2.5), (4.0, 6.0))}
    assert dataclasses.replace(result, off_times={}) != result
