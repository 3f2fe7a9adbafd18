"""Scenarios whose bundles are sold to peers; the bundles, logs, peers and sites that they name."""

import numpy as np
import pytest
from changed_scenarios import change, cut, refused, run

from simplugin.core.errors import WorkloadFileError
from simplugin.market.policies.negotiation import party_generator
from simplugin.market.sites import site_of
from simplugin.platforms.twelve_peers import chosen_site, consistent_site, scaled_site
from simplugin.scenarios import load_scenario
from simplugin.scenarios.kinds.market import KIND
from simplugin.workloads.bundles import lcg_bundles

CAPPED = "alpha = 0.5\nn_max = 2"


def with_scheduler(path, parameters, name="market.optimum"):
    return change(path, '"market.optimum"', f'"{name}"\nparameters = {{ {parameters} }}')


def test_three_tasks_by_hand(three):
    outcome = run(three)
    row, [peers] = outcome.row, outcome.listings
    assert peers.column("ECT") == pytest.approx((2.0, 2.5))
    assert peers.column("base price") == pytest.approx((5.0, 4.0))
    assert peers.column("tasks") == peers.column("best") == (2, 1)
    assert peers.column("income") == pytest.approx((7.5, 4.0))
    assert peers.column("payment") == pytest.approx((5.0, 2.5))
    assert peers.column("real") == pytest.approx((4.0, 2.5), rel=1e-5)
    assert row["benefit"] == pytest.approx(11.5)
    assert (row.best.value, row.gap) == (pytest.approx(11.5), pytest.approx(0.0))
    assert (row["clears_above"], row["clears_up_to"]) == pytest.approx((2.0, 2.5))
    assert row["price"] == pytest.approx(2.5)
    assert row["completion"] == pytest.approx(4.0, rel=1e-5)
    assert row["total_time"] == pytest.approx(6.5, rel=1e-5)
    assert row["fairness"] == pytest.approx(6.5**2 / 2 / (16 + 6.25), rel=1e-5)
    assert abs(row["ect_error"]) < 1e-5
    assert row["makespan"] == pytest.approx(4.0 + row["negotiation"], rel=1e-5)
    assert [figure.name for figure in outcome.figures] == ["allocation", "prices", "demand"]


def test_default_network_is_the_papers_only_if_asked_for(three):
    cut(three, "[simulation.options]", "[output]")
    # SimGrid's model lets through 0.97 of the bandwidth, and cross-traffic takes 5 %.
    assert run(three).row["ect_error"] == pytest.approx((0.5 + 2 * 1.05 / 0.97) / 2.5 - 1, rel=1e-4)


def test_setup_is_taken_for_each_task(three):
    outcome = run(change(three, "setup = 0.0", 'setup = "500ms"'))
    assert outcome.listings[0].column("ECT") == pytest.approx((2.5, 3.0))
    assert abs(outcome.row["ect_error"]) < 1e-5


def test_overlap_hides_transfers(three):
    outcome = run(with_scheduler(three, "overlap = true"))
    # 1 s, then twice 1 s at once with the next transfer.
    assert outcome.listings[0].column("real") == pytest.approx((3.0, 2.5), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "tasks"), [("n_max = 2", (2, 1)), ("lambda = 1.0", (2, 1)), ("n_max = 3", (3, 0))]
)
def test_caps(three, given, tasks):
    slow = change(three, '"2Gf"]', '"100Mf"]', "setup = 0.0", f"setup = 0.0\n{given}")
    # The other peer's first task is worth less than 5, 2.5 and 1.25.
    assert run(slow).listings[0].column("tasks") == tasks


def test_rates_by_peer(three):
    rates = 'alpha = { "peer-2" = 0.01, "peer-1" = 0.9 }'
    # 5 and 0.5, against 4, 3.96.
    assert run(change(three, "alpha = 0.5", rates)).listings[0].column("tasks") == (1, 2)


def test_discounts_of_tasks_and_absent_peers(three):
    # The first is worth 5, 5, 0, the other 4, 4, 0.
    outcome = run(change(three, "alpha = 0.5", "discounts = [1.0, 1.0, 0.0]"))
    assert outcome.listings[0].column("tasks") == (2, 1)
    assert outcome.row["price"] == pytest.approx(4.0)
    change(three, "setup = 0.0", "setup = 0.0\nn_max = { peer-1 = 0 }")
    outcome = run(three)
    assert outcome.listings[0].column("tasks") == (0, 3)
    assert (outcome.row["price"], outcome.row["benefit"]) == pytest.approx((0.0, 8.0))


def test_a_peer_that_fails(three):
    site = "peer_site"
    failing = (
        "def failing(speed: list[str], bandwidth: list[str]):\n"
        "    from simplugin.platforms import Platform\n"
        "    from simplugin.platforms.peers import PeerSite\n"
        "    from simplugin.platforms.profiles import Profile, ProfileUse\n"
        "    zone = PeerSite.numbered([1e9, 2e9], [1e8, 5e7]).platform().elements\n"
        "    off = Profile('off', '3 0')\n"
        "    return Platform((*zone, off, ProfileUse('off', 'peer-1')))\n"
    )
    (three.parent / "own_site.py").write_text(failing)
    change(three, f'"{site}"', '"own_site:failing"')
    outcome = run(with_scheduler(three, 'patience = "10s"'))
    # One of two tasks of 2 s is done before.
    assert outcome.listings[0].column("tasks") == (1, 2)


def test_policy_of_ones_own(three):
    outcome = run(change(three, '"market.optimum"', '"mine:all_to_one"'))
    # 5 + 2.5 + 1.25 instead of 11.5.
    assert outcome.row["benefit"] == pytest.approx(8.75)
    assert outcome.row.gap == pytest.approx(2.75 / 11.5)
    assert outcome.row["price"] == 1.0
    chosen = '"mine:all_to_one"\nparameters = { peer = 1, overlap = true }'
    assert run(change(three, '"mine:all_to_one"', chosen)).listings[0].column("tasks") == (0, 3)


def test_negotiation_of_ones_own(three):
    chosen = 'decides = "negotiation", first = 1'
    outcome = run(change(with_scheduler(three, chosen, "mine:in_turn"), "alpha = 0.5", CAPPED))
    assert outcome.listings[0].column("tasks") == (1, 2)
    # Two calls of one peer, with an answer each.
    assert (outcome.row["rounds"], outcome.row["messages"]) == (2, 4)


def test_draws_follow_the_seed(three):
    change(three, "count = 3", "count = 400", "alpha = 0.5", "alpha = 0.01")
    change(three, '"market.optimum"', '"mine:anywhere"')
    drawn = {}
    for seed in (0, 1):
        change(three, "[simulation.options]", f"[simulation]\nseed = {seed}\n[simulation.options]")
        drawn[seed] = run(three).listings[0].column("tasks")
        # The local scheduler's numbers are the source of the policy's seed.
        given = party_generator(seed).integers(2**63)
        expected = np.bincount(np.random.default_rng(given).integers(0, 2, 400))
        assert drawn[seed] == tuple(expected)
        change(three, f"[simulation]\nseed = {seed}\n", "")
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(
    "name",
    ["mine:anywhere", *(f"market.{each}" for each in ("double_auction", "double_auction_rounds"))],
)
def test_copies_are_dealt_anew(three, name):
    change(three, "count = 3", "count = 400\ncopies = 3\nperiod = 2000.0")
    run_once = run(change(three, "alpha = 0.5", "alpha = 0.01", "market.optimum", name))
    assert len(set(run_once.listings[0].column("benefit"))) == 3


@pytest.mark.parametrize("name", sorted({*KIND.scheduler_names} - {"market.isgbmat_printed"}))
def test_every_shipped_scheduler_places_all_tasks(three, name):
    change(three, "count = 3", "count = 57", "alpha = 0.5", "alpha = 0.03")
    row = run(change(three, "market.optimum", name)).row
    assert row["tasks"] == 57
    assert row["benefit"] <= row.best.value * (1 + 1e-9)
    exact = ("optimum", "isgbmat", "bisection", "median", "secant", "double_auction_marginal")
    if name.removeprefix("market.") in exact:
        assert row.gap == pytest.approx(0.0, abs=1e-9)


def test_the_printed_algorithm_may_not_end(three):
    change(three, "market.optimum", "market.isgbmat_printed")
    refused(three, "'market.isgbmat_printed' cannot be used: ", "scheduler.name")


FADED = 5.0 * 0.5 ** (2 * np.exp(-1))
SECOND = {"": 5.0, 'counters = "kept"': 1.25, 'counters = "20s"': FADED, "counters = 20.0": FADED}


@pytest.mark.parametrize(("counters", "value"), SECOND.items())
def test_counters_go_on_or_start_anew(three, counters, value):
    change(three, "setup = 0.0", "setup = 0.0\npeers = ['peer-1']")
    change(three, "count = 3", "count = 2\ncopies = 2\nperiod = 20.0")
    [bundles, _] = run(with_scheduler(three, counters)).listings
    assert bundles.column("bundle") == ("bundle-1", "bundle-2")
    assert bundles.column("from") == (0.0, 20.0)
    # Of two tasks on one peer one is worth half the other.
    assert bundles.column("benefit") == pytest.approx((1.5 * 5.0, 1.5 * value), rel=1e-5)
    assert bundles.column("gap") == pytest.approx((0.0, 0.0), abs=1e-9)


def test_two_tiers(two_sites):
    outcome = run(two_sites)
    [bundles, peers] = outcome.listings
    assert bundles.column("bundle") == ("first-1", "first-2", "later")
    # The quicker site is idle at first; the second bundle finds it busy.
    assert bundles.column("site") == ("two", "one", "one")
    assert peers.column("site") == ("one", "two", "two")
    assert peers.column("tasks") == (13, 5, 5)
    # Ten times 1.01 s from 1 s on, and SimGrid's default network between the schedulers.
    assert bundles.column("until")[1] == pytest.approx(11.1, rel=0.02)


@pytest.mark.parametrize(
    ("dispatch", "sites"),
    # By turns; where the first site would take 10 s, against 5 s after 5 s at most.
    [("round_robin", ("one", "two", "one")), ("earliest", ("two", "two", "one"))],
)
def test_dispatch(two_sites, dispatch, sites):
    bundles = run(with_scheduler(two_sites, f'dispatch = "{dispatch}"')).listings[0]
    assert bundles.column("site") == sites


def test_rates_of_peers_of_several_sites(two_sites):
    rates = 'alpha = { "peer-1-1" = 0.1, "peer-2-1" = 0.9, "peer-2-2" = 0.01 }'
    peers = run(change(two_sites, 'setup = "10ms"', f'setup = "10ms"\n{rates}')).listings[1]
    tasks = dict(zip(peers.column("peer"), peers.column("tasks"), strict=True))
    # After its first task the one at 0.9 asks for nothing.
    assert tasks["peer-2-1"] < tasks["peer-2-2"]


SIZES = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'


def site_in(path):
    return site_of(load_scenario(path).make_platform())


def test_classes_are_those_of_the_paper(three):
    change(three, "price_unit = 10.0", 'price_unit = "1h"')
    outcome = run(change(three, SIZES, 'class = "neutral"'))
    # 500 Mflop and 500 MB.
    assert outcome.listings[0].column("ECT") == pytest.approx((5.5, 10.25))
    assert outcome.listings[0].column("base price")[0] == pytest.approx(3600 / 5.5)


def test_peers_of_a_site_may_be_named(two_sites):
    named = '"scheduler-2", peers = ["peer-2-2"]'
    peers = run(change(two_sites, '"scheduler-2"', named)).listings[1]
    assert peers.column("peer") == ("peer-1-1", "peer-2-2")


def test_any_platform_file(three, pytestconfig):
    star = pytestconfig.rootpath / "platforms_xml" / "star.xml"
    change(three, "count = 3", "count = 100")
    cut(three, "generator =", "[workload]", f"file = '{star}'")
    refused(three, "'scheduler' is no host; there are master, worker-1", "workload.scheduler")
    outcome = run(change(three, "setup = 0.0", 'scheduler = "master"'))
    assert sum(outcome.listings[0].column("tasks")) == 100
    # All share the master's link, which the estimates know nothing of.
    assert outcome.row["ect_error"] > 1
    change(three, 'scheduler = "master"', 'scheduler = "master"\nestimates = "shared"')
    assert abs(run(three).row["ect_error"]) < 0.5


def test_a_log(three):
    change(three, SIZES, 'file = "log.swf"\nleast = 2\nspeed = "1Gf"\nbyte = "100MB"')
    bundles, peers, *_ = run(three).listings
    assert bundles.column("bundle") == ("log-1", "log-2")
    assert bundles.column("tasks") == (3, 2)
    # The last job of either at 120 and 405 s.
    assert bundles.column("from") == (0.0, 285.0)
    assert sum(peers.column("tasks")) == 5


@pytest.mark.parametrize(("had", "asked", "mean"), [(4, -1, 4), (-1, 4, 4), (-1, -1, 1)])
def test_processors_of_a_log(three, had, asked, mean):
    job = f"{{}} {{}} -3 10 {had} -1 -1 {asked} -1 -1 {{}} 3" + " -1" * 6
    jobs = [job.format(1, 5, 1), job.format(2, 6, -1), job.format(3, 7, 0), job.format(4, -8, 1)]
    (three.parent / "log.swf").write_text("\n".join(jobs))
    change(three, SIZES, 'file = "log.swf"\nleast = 2\nspeed = "1Gf"\nbyte = "100MB"')
    with pytest.raises(WorkloadFileError) as caught:
        run(three)
    assert caught.value.line == 4
    assert "lenient" in str(caught.value)
    outcome = run(change(three, "least = 2", "least = 2\nlenient = true"))
    assert outcome.result.hosts.flops.sum() == pytest.approx(2 * 10e9 * mean, rel=1e-4)
    stated = {line[1:4] for line in outcome.listings[-1].lines}
    assert (
        stated
        == {
            ("odd values of wait", 3, "unknown"),
            ("jobs with wrong fields", 1, "left out"),
            ("jobs that did not complete", 1, "left out"),
        }
        | {
            (4, -1): set(),
            (-1, 4): {("jobs of unknown processors", 2, "as many as they requested")},
            (-1, -1): {("jobs of unknown and unrequested processors", 2, "1 processor")},
        }[had, asked]
    )


def test_real_sizes_of_a_log(three):
    log = 'file = "log.swf"\nleast = 2\nfirst = 1\nspeed = "1Gf"\nrelease = "5s"'
    change(three, SIZES, log + "\nreal_sizes = true")
    change(three, "setup = 0.0", "setup = 0.0\npeers = ['peer-1']")
    real = run(three)
    assert real.row["makespan"] == pytest.approx(5 + 2 * (10 + 20 + 30), rel=1e-6)
    assert abs(real.row["ect_error"]) < 1e-6
    change(three, "peers = ['peer-1']", "peers = ['peer-2']", '"1Gf", "2Gf"', '"1Gf", "4Gf"')
    assert run(three).row["completion"] == pytest.approx(30.0, rel=1e-6)


def test_the_shipped_log(three):
    change(three, SIZES, 'log = "lcg"\nfirst = 3\nspeed = "1Mf"')
    known = lcg_bundles()[:3]
    mean = run(three)
    assert mean.listings[0].column("tasks") == tuple(each.count for each in known)
    released = [each.release - known[0].release for each in known]
    assert mean.listings[0].column("from") == pytest.approx(released)
    computed = sum(each.count * each.mean for each in known) * 1e6
    assert mean.result.hosts.flops.sum() == pytest.approx(computed, rel=1e-4)
    real = run(change(three, "first = 3", "first = 3\nreal_sizes = true"))
    # As much is computed, but not by the estimates.
    assert real.result.hosts.flops.sum() == pytest.approx(computed, rel=1e-4)
    assert abs(real.row["ect_error"]) > 1e-2 > abs(mean.row["ect_error"])
    assert run(three).row.flat() == real.row.flat()


PEERS = [
    ("", "", chosen_site()),
    ("", "seed = 4", consistent_site(4)),
    ("{ degree = 3.0 }", "seed = 4", scaled_site(4, 3.0)),
    ("{ degree = 3.0 }", "", scaled_site(0, 3.0)),
]


@pytest.mark.parametrize(("parameters", "seed", "site"), PEERS)
def test_peers_that_fit_the_paper(three, parameters, seed, site):
    given = f"parameters = {parameters}\n" if parameters else ""
    found = site_in(cut(three, "parameters =", "[workload]", given + seed))
    assert found.speed == pytest.approx(site.speed)
    assert found.bandwidth == pytest.approx(site.bandwidth)


def test_sites_that_fit_the_paper(two_sites):
    given = 'parameters = { sites = 2, bandwidth = "1GBps" }\nseed = 4'
    cut(two_sites, "[platform.parameters]", "[workload]", given)
    peers = [f"peer-2-{number}" for number in range(1, 13)]
    found = site_of(load_scenario(two_sites).make_platform(), "scheduler-2", peers)
    assert found.speed == pytest.approx(consistent_site(5).speed)
