import numpy as np

from simplugin.papers.beaumont.periodic_schedules import is_sliced, natural, rounded, slices, star


def test_slices():
    tree, bags = star(np.random.default_rng(0))
    hosts = np.argsort(-tree.bandwidth)
    high, low = np.argmax(bags.ratio), np.argmin(bags.ratio)
    compute = np.zeros((tree.n_hosts, bags.n_applications))
    # The others are on the host in the middle, all of them.
    compute[hosts[1], :] = 1.0
    compute[hosts[0], high] = compute[hosts[2], low] = 1.0
    assert is_sliced(tree, bags, compute)
    compute[hosts[0], low], compute[hosts[2], high] = 1.0, 1.0
    assert not is_sliced(tree, bags, compute)


def test_proposition_1_holds_and_periodic_schedules_lose_a_constant():
    assert slices(quick=True)["sliced"].value == 1
    for experiment in (natural, rounded):
        assert 0 < experiment(quick=True)["short"].value <= 1
