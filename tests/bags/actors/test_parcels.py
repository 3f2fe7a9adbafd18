"""Tasks that the root hands out: each once, in the proportions asked for."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import bags_of

from simplugin.bags.actors.messages import Supply
from simplugin.bags.policy import NodeKnowledge


def bags(count, weight):
    """Return bags whose tasks of application k take k + 1 flop and k + 10 bytes."""
    number = np.arange(len(count))
    return bags_of(number + 1.0, number + 10.0, count, weight)


def everything(supply):
    """Return the application and number of every task of every parcel."""
    return [
        part[:2]
        for kind, stock in enumerate(supply.stock)
        for number in range(stock)
        for part in supply.parcel(kind, number, ()).parts
    ]


applications = st.integers(1, 4).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(1, 30), min_size=size, max_size=size),
        st.lists(st.floats(0.1, 10), min_size=size, max_size=size),
    )
)


class TestSupply:
    @settings(max_examples=60)
    @given(applications, st.sampled_from(["plain", "bundled", "parallel"]))
    def test_every_task_is_in_one_parcel(self, drawn, how):
        count, weight = drawn
        lines = Supply.lines(
            bags(count, weight), bundled=how == "bundled", parallel=how == "parallel"
        )
        found = Counter(task for line in lines for task in everything(line))
        assert found == Counter((k, i) for k, size in enumerate(count) for i in range(size))
        assert len(lines) == (len(count) if how == "parallel" else 1)

    @settings(max_examples=60)
    @given(applications)
    def test_bundles_are_in_proportion(self, drawn):
        count, weight = drawn
        (supply,) = Supply.lines(bags(count, weight), bundled=True, parallel=False)
        share = np.array(weight) / min(weight)
        handed = np.zeros(len(count))
        for number in range(supply.stock[0] - 1):
            parcel = supply.parcel(0, number, ())
            assert parcel.parts
            assert parcel.byte == sum(part[0] + 10 for part in parcel.parts)
            assert all(part[2] == part[0] + 1 for part in parcel.parts)
            for part in parcel.parts:
                handed[part[0]] += 1
            # Never a whole task away from the exact share of all parcels so far.
            exact = np.minimum(share * (number + 1), count)
            assert np.all(handed <= exact + 1e-9)
            assert np.all(handed > exact - 1 - 1e-9)

    def test_what_nodes_know(self):
        two = bags([5, 5], [2.0, 1.0])
        (bundle,) = Supply.lines(two, bundled=True, parallel=False)
        whole = NodeKnowledge(two.flop.tolist(), two.byte.tolist(), two.weight.tolist(), 7.0, [3.0])
        known = bundle.known(whole)
        assert (known.flop, known.byte) == ([1 * 2 + 2.0], [10 * 2 + 11.0])
        plain = Supply.lines(two, bundled=False, parallel=False)[0].known(whole)
        assert (plain.flop, plain.byte, plain.weight) == ([1.0, 2.0], [10.0, 11.0], [2.0, 1.0])
        assert (plain.speed, plain.bandwidth) == (7.0, [3.0])
        second = Supply.lines(two, bundled=False, parallel=True)[1]
        assert (second.known(whole).flop, second.stock) == ([2.0], [5])

    def test_parcels_carry_their_tag_and_number(self):
        (plain,) = Supply.lines(bags([5, 5], [1.0, 1.0]), bundled=False, parallel=False)
        parcel = plain.parcel(1, 3, (0.5,))
        assert (parcel.kind, parcel.number, parcel.tag) == (1, 3, (0.5,))
        assert parcel.parts == ((1, 3, 2.0),)
