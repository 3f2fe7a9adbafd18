"""What every shipped policy for task graphs must do, and what each gives."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import RENNES
from simplugin.taskgraphs.policies.shares import checked_shares
from simplugin.taskgraphs.policies.shipped import POLICIES, policy_called
from simplugin.workloads.task_graphs import TaskGraph

SITE = RENNES.site()


def graph_of(name: str, flop: list[float], edges: list[tuple[int, int]]) -> TaskGraph:
    """Return a graph without data."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return TaskGraph(
        name, tuple(map(str, range(len(flop)))), np.array(flop), np.full(len(flop), 0.1),
        np.zeros(len(flop)), pairs, np.zeros(len(edges)),
    )  # fmt: skip


# A chain of 6 Gflop, and a fork with three branches: path 4, width 3, work 12.
CHAIN = graph_of("chain", [2e9, 2e9, 2e9], [(0, 1), (1, 2)])
FORK = graph_of("fork", [1e9, 5e9, 3e9, 3e9], [(0, 1), (0, 2), (0, 3)])
GRAPHS = (CHAIN, FORK)
EXPECTED = {
    "s": [1.0, 1.0],
    "es": [1 / 2, 1 / 2],
    "ps_cp": [6 / 12, 6 / 12],
    "ps_width": [1 / 4, 3 / 4],
    "ps_work": [6 / 18, 12 / 18],
    "wps_cp": [1 / 2, 1 / 2],
    "wps_width": [0.5 / 2 + 0.5 / 4, 0.5 / 2 + 0.5 * 3 / 4],
    "wps_work": [0.7 / 2 + 0.3 / 3, 0.7 / 2 + 0.3 * 2 / 3],
}


class TestConformance:
    @pytest.mark.parametrize("name", POLICIES)
    def test_shares_are_shares(self, name: str) -> None:
        for graphs in ([CHAIN], GRAPHS, [*GRAPHS, graph_of("third", [7e11], [])]):
            shares = checked_shares(POLICIES[name](graphs, SITE), len(graphs), name)
            assert name in ("s", "balanced") or float(np.sum(shares)) == pytest.approx(1)

    @pytest.mark.parametrize("name", POLICIES)
    def test_alone_a_graph_has_all(self, name: str) -> None:
        assert POLICIES[name]([FORK], SITE).tolist() == [1.0]

    @pytest.mark.parametrize("name", POLICIES)
    def test_order_does_not_matter(self, name: str) -> None:
        forth = POLICIES[name](GRAPHS, SITE).tolist()
        assert POLICIES[name](GRAPHS[::-1], SITE).tolist() == pytest.approx(forth[::-1])

    @pytest.mark.parametrize("name", POLICIES)
    def test_equal_graphs_have_equal_shares(self, name: str) -> None:
        alike = [graph_of(str(number), [1e9, 3e9], [(0, 1)]) for number in range(3)]
        shares = POLICIES[name](alike, SITE).tolist()
        assert shares == pytest.approx([shares[0]] * 3)


class TestShippedPolicies:
    @pytest.mark.parametrize("name", EXPECTED)
    def test_by_hand(self, name: str) -> None:
        assert POLICIES[name](GRAPHS, SITE).tolist() == pytest.approx(EXPECTED[name])

    @pytest.mark.parametrize("name", ["ps_width", "wps_width"])
    def test_same_shape_same_shares(self, name: str) -> None:
        # What the paper says of Strassen's graphs, that differ in their costs only.
        edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
        graphs = [graph_of(str(k), [k * 1e9] * 4, edges) for k in range(1, 8)]
        equal = POLICIES["es"](graphs, SITE).tolist()
        assert POLICIES[name](graphs, SITE).tolist() == pytest.approx(equal)
        assert POLICIES["ps_work"](graphs, SITE).tolist() != pytest.approx(equal)


class TestPolicyCalled:
    @pytest.mark.parametrize("name", POLICIES)
    def test_shipped(self, name: str) -> None:
        assert policy_called(name) is POLICIES[name]

    @pytest.mark.parametrize("kind", ["cp", "width", "work"])
    def test_mu(self, kind: str) -> None:
        equal = policy_called(f"wps_{kind}", mu=1.0)(GRAPHS, SITE)
        assert equal.tolist() == pytest.approx(EXPECTED["es"])
        purely = policy_called(f"wps_{kind}", mu=0.0)(GRAPHS, SITE)
        assert purely.tolist() == pytest.approx(EXPECTED[f"ps_{kind}"])

    def test_mu_of_the_paper_for_fft(self) -> None:
        # 0.3 / 2 + 0.7 / 4, and the rest.
        shares = policy_called("wps_width", mu=0.3)(GRAPHS, SITE)
        assert shares.tolist() == pytest.approx([0.325, 0.675])

    def test_ones_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module = ModuleType("own_sharing")

        def last(graphs: list[TaskGraph], site: object, rest: float = 0.1) -> list[float]:
            assert site is SITE
            return [rest] * (len(graphs) - 1) + [1.0]

        vars(module).update(last=last, number=7)
        monkeypatch.setitem(sys.modules, "own_sharing", module)
        assert policy_called("own_sharing:last")(GRAPHS, SITE) == [0.1, 1.0]
        assert policy_called("own_sharing:last", rest=0.2)(GRAPHS, SITE) == [0.2, 1.0]
        with pytest.raises(WorkloadError, match="'own_sharing:number' is no function"):
            policy_called("own_sharing:number")

    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("fair", {}, r"no policy is called 'fair'; .*'wps_work'"),
            ("nowhere:fair", {}, r"'nowhere:fair' cannot be loaded: No module named 'nowhere'"),
            ("math:fair", {}, r"'math:fair' cannot be loaded"),
            ("es", {"mu": 0.5}, r"'es' has no parameter 'mu'; it has none"),
            ("wps_cp", {"nu": 0.5}, r"'wps_cp' has no parameter 'nu'; it has 'mu'"),
        ],
    )
    def test_refused(self, name: str, parameters: dict[str, float], message: str) -> None:
        with pytest.raises(WorkloadError, match=message):
            policy_called(name, **parameters)

    def test_a_mu_out_of_range_is_refused_when_shares_are_asked_for(self) -> None:
        with pytest.raises(WorkloadError, match=r"mu is 1\.5"):
            policy_called("wps_cp", mu=1.5)(GRAPHS, SITE)

    def test_graphs_without_work_cannot_share_by_it(self) -> None:
        idle = [graph_of(name, [0.0], []) for name in "ab"]
        with pytest.raises(WorkloadError, match=r"contributions \[0\.0, 0\.0\] cannot be shared"):
            POLICIES["ps_work"](idle, SITE)
        assert POLICIES["ps_width"](idle, SITE).tolist() == [0.5, 0.5]
