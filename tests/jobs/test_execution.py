"""Executions of batch jobs: conditions, works, failures and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core.errors import ActorError, PlatformError, WorkloadError
from simplugin.jobs import (
    POLICIES,
    Decisions,
    JobConditions,
    LocalCluster,
    QueueScheduler,
    RandomAllocation,
    Resize,
    Start,
    SwitchAllocation,
    by_queue,
    daly_interval,
    execute,
    execute_clusters,
    least_loaded,
    mask_of,
    measures,
    node_text,
    nodes_of,
    young_interval,
)
from simplugin.jobs.nodes import contiguous, lowest
from simplugin.platforms import (
    Cluster,
    Disk,
    Host,
    Link,
    Platform,
    Profile,
    ProfileUse,
    Route,
    Zone,
)
from simplugin.platforms.links import LinkUse
from simplugin.simulation import Placement
from simplugin.workloads.batch_jobs import (
    AmdahlWork,
    Computation,
    Delay,
    DiskTransfer,
    Job,
    JobLog,
    Messages,
    ParallelWork,
    Phases,
)

BY_NODES = {"reservation": "nodes"}


def job(name, submit=0.0, size=1, time=10.0, walltime=None, **fields):
    """Return a job of known duration, or of other work."""
    work = fields.pop("work", None) or Delay(time)
    return Job(id=name, submit=submit, size=size, work=work, walltime=walltime, **fields)


def run(*jobs, policy="fcfs", n_nodes=4, platform=None, **conditions):
    """Return the execution of some jobs."""
    policy = POLICIES[policy]() if isinstance(policy, str) else policy
    size = {"n_nodes": n_nodes} if platform is None else {"platform": platform}
    return execute(JobLog(jobs), policy, conditions=JobConditions(**conditions), **size)


def dates(done):
    """Return start and end of each job."""
    return [(start, end) for start, end in zip(done.start.tolist(), done.end.tolist(), strict=True)]


def cluster(count, backbone=None):
    """Return a cluster of nodes of 1 flop/s with links of 1 byte/s in each direction."""
    part = Cluster("c", f"0-{count - 1}", 1.0, 1.0, 0.0, backbone_bandwidth=backbone)
    return Platform((Zone("all", "Full", (part,)),))


def test_overheads_shift_starts_and_hold_nodes():
    done = run(
        job("a", size=4, time=10.0),
        job("b", size=4, time=1.0),
        latency=1.0,
        prologue=2.0,
        epilogue=4.0,
        added=0.5,
        shortest=2.0,
    )
    assert dates(done) == [(3.0, 13.5), (20.5, 22.5)]


@pytest.mark.parametrize(
    ("conditions", "end", "state"),
    [
        ({}, 10.0, "completed"),
        ({"at_walltime": "killed"}, 10.0, "killed"),
        ({"added": 1.0}, 10.0, "killed"),
        ({"added": 1.0, "grace": 0.5}, 10.5, "killed"),
        ({"added": 1.0, "grace": 2.0}, 11.0, "completed"),
    ],
)
@pytest.mark.parametrize("work", [Delay(10.0), Computation(10.0)], ids=["delay", "computation"])
def test_the_end_of_a_job_as_long_as_its_walltime(conditions, end, state, work):
    done = run(job("a", walltime=10.0, work=work), platform=cluster(2), **conditions)
    assert done.end[0] == pytest.approx(end)
    assert done.state == (state,)


def test_a_kill_frees_hosts_and_network_at_that_date():
    send = Messages(((0, 1, 100.0),))
    done = run(
        job("a", size=2, walltime=10.0, work=send),
        job("b", size=2, work=Messages(((0, 1, 15.0),))),
        platform=cluster(4, backbone=1.0),
    )
    # Half of the backbone for 10 s, then all of it.
    assert done.state == ("killed", "completed")
    assert done.end.tolist() == pytest.approx([10.0, 20.0])


async def traffic(me):
    await me.sendto("2", "3", 1e3)


def test_foreign_traffic_shares_the_network():
    log = JobLog((job("a", size=2, work=Messages(((0, 1, 10.0),))),))
    others = [Placement("2", traffic, daemon=True)]
    done = execute(log, POLICIES["fcfs"](), platform=cluster(4, backbone=1.0), others=others)
    assert done.end.tolist() == pytest.approx([20.0])


def test_works_take_the_times_of_their_closed_forms():
    works = [
        (AmdahlWork(10.0, 0.5), 7.5),
        (Phases((Delay(1.0), Computation(2.0)), times=3), 9.0),
        (Computation((1.0, 4.0)), 4.0),
        (Messages(((0, 1, 3.0), (1, 0, 2.0))), 3.0),
        (Phases((Delay(1.0), Delay(0.0))), 1.0),
    ]
    for work, time in works:
        done = run(job("a", size=2, work=work), platform=cluster(2))
        assert done.end[0] == pytest.approx(time), work
    # A parallel task is as slow as its slowest resource.
    for flop, byte, time in [
        ((1.0, 4.0), 0.0, 4.0),
        (0.0, (0.0, 3.0, 2.0, 0.0), 3.0),
        (2.0, (0.0, 1.0, 0.0, 0.0), 2.0),
        (1.0, 5.0, 5.0),
        (0.0, 0.0, 0.0),
    ]:
        done = run(job("a", size=2, work=ParallelWork(flop, byte)), platform=cluster(2))
        assert done.end[0] == pytest.approx(time), (flop, byte)


def storage_platform(**host):
    """Return a node and a host with a disk that a link joins."""
    store = Host("store", 1.0, disks=(Disk("d", 2.0, 4.0),))
    link = Link("l", 3.0)
    parts = (Host("front", 1.0), Host("n", 1.0, **host), store, link)
    use = (LinkUse("l", "NONE"),)
    routes = (Route("n", "store", use), Route("front", "store", use), Route("front", "n", use))
    return Platform((Zone("z", "Full", parts, routes),))


def test_a_transfer_is_as_slow_as_disk_or_network():
    for writes, time in ((False, 6.0), (True, 4.0)):
        work = DiskTransfer(12.0, writes=writes)
        done = run(job("a", work=work), platform=storage_platform(), hosts=("n",), storage="store")
        assert done.end[0] == pytest.approx(time)


def test_dependent_jobs_follow_with_their_think_time():
    done = run(
        job("a", submit=1.0),
        job("b", after=("a", "c"), think_time=3.0),
        job("c", submit=5.0, time=2.0),
    )
    assert dates(done) == [(1.0, 11.0), (14.0, 24.0), (5.0, 7.0)]
    assert done.submit.tolist() == [1.0, 14.0, 5.0]


def only_one(state):
    """Start a job if no other one waits."""
    return Decisions([Start(each) for each in state.queue if len(state.queue) == 1])


def test_a_pass_comes_after_all_events_of_a_date_or_after_each():
    jobs = job("a", submit=5.0), job("b", submit=5.0)
    assert dates(run(*jobs, policy=only_one, passes="event")) == [(5.0, 15.0)] * 2
    with pytest.raises(WorkloadError, match="'a'"):
        run(*jobs, policy=only_one)
    # An end comes before a submission of its date.
    done = run(job("c", size=4, time=5.0), job("d", submit=5.0, size=4), policy="fcfs")
    assert dates(done) == [(0.0, 5.0), (5.0, 15.0)]


def test_a_failed_job_is_requeued_and_restarts_from_its_checkpoints(tmp_path):
    profile = tmp_path / "state.txt"
    profile.write_text("0 1\n25 0\n40 1\n")
    platform = storage_platform(state_profile=str(profile))
    given = {"platform": platform, "hosts": ("front", "n"), "failures": True}
    one = job("a", size=2, time=30.0)
    assert run(one, **given).state == ("failed",)
    done = run(one, **given, restarts=1)
    assert (done.starts, done.start[0], done.end[0]) == ((2,), 40.0, 70.0)
    # Checkpoints after 10 and 20 s of work, at 11 and 22 s; the rest takes 2 + 10 s.
    done = run(one, **given, restarts=1, checkpoint=10.0, checkpoint_cost=1.0, restart_cost=2.0)
    assert (done.starts, done.start[0], done.end[0]) == ((2,), 40.0, 52.0)
    # Parts before the last checkpoint are not done again: 12 s, 4 s, then 15 s.
    save = DiskTransfer(8.0, writes=True, checkpoint=True)
    two = job("a", size=2, work=Phases((Computation(12.0), save, Computation(15.0))))
    done = run(two, **given, storage="store", restarts=1)
    assert (done.start[0], done.end[0]) == (40.0, pytest.approx(55.0))


def failing(lines, host="n1", **conditions):
    """Return a machine of four nodes of which one fails, and its conditions."""
    hosts = tuple(Host(f"n{node}", 1.0) for node in range(4))
    parts = Profile("p", text=lines), Zone("z", "Full", hosts), ProfileUse("p", host, "HOST_AVAIL")
    return {"platform": Platform(parts), "failures": True, **conditions}


@pytest.mark.parametrize(
    "options",
    [{}, {"compress": "rebuild"}, BY_NODES, {**BY_NODES, "allocation": "contiguous"}],
)
def test_plans_wait_for_nodes_that_failed_and_use_the_others(options):
    policy = QueueScheduler(backfill="conservative", **options)
    # All four are free at 9 s, and each job follows the one before.
    jobs = [job(name, 3.0, 4, 10.0, 20.0) for name in "ab"]
    done = run(*jobs, policy=policy, **failing("0 1\n2 0\n9 1"))
    assert dates(done) == [(9.0, 19.0), (19.0, 29.0)]
    pair = run(*[job(name, 3.0, 2, 10.0, 20.0) for name in "ab"], policy=policy, **failing("2 0"))
    assert pair.start.tolist() == [3.0, 13.0]
    assert not any(nodes & 2 for nodes in pair.nodes)


def test_a_host_that_is_off_from_the_beginning_gets_no_job():
    done = run(job("a", size=3), **failing("0 0"))
    assert (dates(done), node_text(done.nodes[0])) == ([(0.0, 10.0)], "0 2-3")


def test_nodes_that_failed_are_not_shared_out():
    for policy, kind in (("equipartition", "malleable"), ("earliest_completion", "moldable")):
        one = job("a", 5.0, work=AmdahlWork(30.0), kind=kind, most=4)
        assert dates(run(one, policy=policy, **failing("2 0"))) == [(5.0, 15.0)]


def test_a_host_that_fails_in_an_epilogue_or_below_the_batch_system():
    over = run(job("a", size=4), **failing("11 0\n14 1", epilogue=2.0, restarts=1))
    assert (over.state, over.starts, dates(over)) == (("completed",), (1,), [(0.0, 10.0)])
    compute = job("a", size=2, work=Computation(10.0))
    over = run(compute, **failing("11 0\n14 1", epilogue=2.0))
    assert (over.state, over.end[0]) == (("completed",), pytest.approx(10.0))
    with pytest.raises(PlatformError, match="'n0'"):
        run(job("a"), **failing("3 0\n8 1", host="n0") | {"failures": False})


def test_a_job_that_takes_no_time_holds_its_nodes():
    # Both are due at 5 s on node 0; the one that takes no time goes first.
    jobs = [job("a", size=4, time=5.0, walltime=5.0), job("b", 1.0, 4, 0.0, 0.0)]
    for compress in ("forward", "rebuild"):
        policy = QueueScheduler(backfill="conservative", compress=compress, **BY_NODES)
        done = run(*jobs, job("c", 2.0, 1, 3.0, 3.0), policy=policy)
        assert dates(done) == [(0.0, 5.0), (5.0, 5.0), (5.0, 8.0)]


def test_intervals_between_checkpoints_are_those_of_the_formulas():
    assert young_interval(2.0, 100.0) == 20.0
    # To first order Daly's is Young's without the cost.
    assert daly_interval(1e-6, 1e6) == pytest.approx(young_interval(1e-6, 1e6), rel=1e-6)
    assert daly_interval(300.0, 100.0) == 100.0


def test_nodes_without_jobs_are_switched_off_and_boot_for_the_next_job():
    policy = POLICIES["idle_shutdown"](POLICIES["fcfs"](), idle=5.0, spare=1)
    done = run(
        job("a", size=4),
        job("b", submit=30.0, size=1),
        job("c", submit=31.0, size=2),
        policy=policy,
        boot_time=7.0,
    )
    assert dates(done) == [(0.0, 10.0), (30.0, 40.0), (38.0, 48.0)]


def test_a_power_cap_limits_the_busy_nodes():
    policy = POLICIES["power_cap"](cap=4 * 10.0 + 2 * 90.0, idle=10.0, busy=100.0)
    jobs = [job(name, walltime=10.0) for name in "abc"]
    assert dates(run(*jobs, policy=policy)) == [(0.0, 10.0), (0.0, 10.0), (10.0, 20.0)]


def test_fair_sharing_prefers_the_user_who_used_less():
    jobs = [
        job("a", size=4, walltime=10.0, user="u"),
        job("b", submit=1.0, size=4, walltime=10.0, user="u"),
        job("c", submit=2.0, size=4, walltime=10.0, user="v"),
    ]
    done = run(*jobs, policy=POLICIES["multifactor"]())
    assert done.start.tolist() == [0.0, 20.0, 10.0]


def test_moldable_jobs_complete_as_early_as_they_can():
    work = AmdahlWork(12.0)
    wide = {"least": 1, "most": 4, "kind": "moldable", "work": work}
    done = run(job("a", size=2, time=2.0), job("b", size=1, **wide), policy="earliest_completion")
    # On two nodes at once 6 s; on four from 2 s on until 5 s.
    assert dates(done) == [(0.0, 2.0), (2.0, 5.0)]


def test_malleable_jobs_shrink_for_others_and_grow_again():
    work = AmdahlWork(16.0)
    first = job("a", size=4, least=1, most=4, kind="malleable", work=work)
    done = run(first, job("b", submit=2.0, size=2, time=2.0), policy="shrink_to_start")
    assert done.steps[0] == ((0.0, 4), (2.0, 2), (4.0, 4))
    assert dates(done) == [(0.0, 5.0), (2.0, 4.0)]


def late(_):
    """Start nothing."""
    return Decisions()


def twice(state):
    """Start a job twice."""
    return Decisions([Start(each) for each in state.queue * 2])


def anywhere(state):
    """Start jobs on a node that is taken."""
    return Decisions([Start(each, mask_of([0])) for each in state.queue])


def too_wide(state):
    """Start jobs on too many nodes."""
    return Decisions([Start(each, size=9) for each in state.queue])


def strange(_):
    """Start a job of another log."""
    return Decisions([Start(job("x"))])


def rigid(state):
    """Change a rigid job."""
    if state.running:
        return Decisions(resizes=[Resize(state.running[0].job, 2)])
    return Decisions([Start(state.queue[0])])


def negative(state):
    """Start a job on a negative set of nodes."""
    return Decisions([Start(each, nodes=-1) for each in state.queue])


def none(state):
    """Start jobs on no nodes."""
    return Decisions([Start(each, size=0) for each in state.queue])


def switch(_):
    """Switch off a negative set of nodes."""
    return Decisions(switch_off=-1)


def nothing(state):
    """Forget to return."""


@pytest.mark.parametrize(
    "policy",
    [late, twice, anywhere, too_wide, strange, rigid, negative, none, switch, nothing],
)
def test_a_bad_decision_names_policy_and_date(policy):
    with pytest.raises(WorkloadError, match=rf"policy '{policy.__name__}'.*date [13] s"):
        run(job("a", submit=1.0), job("b", submit=3.0), policy=policy)


def broken(state):
    """Raise an exception."""
    return Decisions([state.queue[17]])


def test_an_exception_of_a_policy_shows_its_own_frames():
    with pytest.raises(ActorError) as caught:
        run(job("a"), policy=broken)
    assert isinstance(caught.value.__cause__, IndexError)
    frames = []
    trace = caught.value.__cause__.__traceback__
    while trace:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert frames == ["broken"] or "broken" in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "fields"),
    [
        ("easy", {"depth": -1}),
        ("conservative", {"margin": math.nan}),
        ("conservative", {"margin": -5.0}),
        ("multifactor", {"half_life": 0.0}),
        ("multifactor", {"longest": -1.0}),
        ("multifactor", {"priority": math.nan}),
        ("power_cap", {"cap": math.nan, "idle": 1.0, "busy": 2.0}),
        ("idle_shutdown", {"idle": -1.0}),
    ],
)
def test_parameters_out_of_range_are_named(policy, fields):
    with pytest.raises(WorkloadError, match=next(iter(fields))):
        POLICIES[policy](**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": math.nan},
        {"nodes": (1, 1), "size": 2},
        {"nodes": (1, 2)},
        {"nodes": (-1,)},
        {"reserved": 5.0, "submit": 7.0},
    ],
)
def test_fields_of_jobs_out_of_range_are_named(fields):
    with pytest.raises(WorkloadError, match=f"'a'.*{next(iter(fields))}"):
        job("a", **fields)


def test_jobs_that_wait_for_each_other_are_named():
    for jobs in ([job("a", after=("a",))], [job("a", after=("b",)), job("b", after=("a",))]):
        with pytest.raises(WorkloadError, match="'a'"):
            JobLog(tuple(jobs))


def test_backfilling_needs_walltimes():
    for policy in ("easy", "conservative"):
        with pytest.raises(WorkloadError, match=r"'a'.*walltime"):
            run(job("b", size=4, walltime=5.0), job("a", size=2), policy=policy)


def test_measures_have_no_means_where_nothing_started():
    found = measures(run(job("a", size=9)))
    assert found == {"jobs": 1, "completed": 0, "killed": 0, "rejected": 1}


def test_a_machine_that_blocks_says_so():
    with pytest.raises(WorkloadError, match="'a'"):
        run(job("a", size=9), job("b"), too_large="blocks")


def test_nodes_are_written_as_ranges():
    for nodes in ([], [0], [0, 1, 2, 3, 7], [5, 64, 65, 200], list(range(100))):
        assert list(nodes_of(mask_of(nodes))) == nodes
    assert node_text(mask_of([0, 1, 2, 3, 7])) == "0-3 7"
    assert math.isnan(run(job("a", size=9)).start[0])
    assert QueueScheduler(backfill="easy") == POLICIES["easy"](name="queue")


def test_advance_reservations_start_at_their_dates():
    jobs = [
        job("a", time=4.0, walltime=4.0, size=2),
        job("b", time=8.0, walltime=8.0, size=4),
        job("c", submit=1.0, time=5.0, walltime=5.0, size=4, reserved=6.0),
        job("d", submit=2.0, time=2.0, walltime=2.0, size=2),
    ]
    for options in ({}, {"reservation": "nodes"}, {"compress": "rebuild"}):
        done = run(*jobs, policy=QueueScheduler(backfill="conservative", **options))
        assert done.start.tolist() == [0.0, 11.0, 6.0, 2.0]
    with pytest.raises(WorkloadError, match="'c'"):
        run(*jobs, policy="greedy")


def test_advance_reservations_that_exclude_each_other_are_refused():
    first = job("a", size=3, walltime=3.0, reserved=5.0, time=3.0)
    later = job("b", size=3, walltime=3.0, reserved=8.0, time=3.0)
    assert run(later, first, policy="conservative").start.tolist() == [8.0, 5.0]
    with pytest.raises(WorkloadError, match="'c'"):
        run(first, later, job("c", size=2, reserved=7.0, walltime=1.0), policy="conservative")


def test_jobs_get_the_nodes_that_they_want():
    done = run(job("a", nodes=(2,)), job("b", size=2, nodes=(1, 2)), job("c", nodes=(3,)))
    assert [node_text(each) for each in done.nodes] == ["2", "1-2", "3"]
    assert done.start.tolist() == [0.0, 10.0, 10.0]
    with pytest.raises(WorkloadError, match="'a'"):
        run(job("a", nodes=(2,), walltime=1.0), policy="conservative")


@given(st.sets(st.integers(0, 40)), st.integers(1, 12))
def test_allocations_choose_suitable_nodes(nodes, count):
    free = mask_of(nodes)
    for allocate in (RandomAllocation(3), SwitchAllocation(8), contiguous, lowest):
        chosen = allocate(free, count) if len(nodes) >= count or allocate != lowest else None
        if allocate == contiguous and chosen is None:
            runs = [set(range(first, first + count)) for first in nodes]
            assert not any(run <= nodes for run in runs)
        else:
            assert (chosen is None) == (len(nodes) < count)
        if chosen is not None:
            assert chosen.bit_count() == count
            assert not chosen & ~free
    if len(nodes) >= count:
        assert nodes_of(lowest(free, count)) == tuple(sorted(nodes)[:count])
        per_switch = [sum(node // 8 == switch for node in nodes) for switch in range(6)]
        used = {node // 8 for node in nodes_of(SwitchAllocation(8)(free, count) or 0)}
        # No smaller number of switches has enough.
        most = sorted(per_switch, reverse=True)
        assert sum(most[: len(used) - 1]) < count <= sum(most[: len(used)])


def last(choice):
    """Choose the last option."""
    return len(choice.options) - 1


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_a_chooser_may_take_another_waiting_job(policy):
    jobs = [
        job(name, size=size, walltime=10.0) for name, size in zip("abcd", (3, 4, 2, 2), strict=True)
    ]
    log, policy = JobLog(tuple(jobs)), POLICIES[policy]()
    alone, first = (execute(log, policy, n_nodes=4, choices=each) for each in (False, True))
    assert dates(alone) == dates(first)
    assert first.result.choices
    other = execute(log, policy, n_nodes=4, choices=True, chooser=last)
    # From the end: d and c at once, then b, then a.
    assert other.start.tolist() == [20.0, 10.0, 0.0, 0.0]


def test_a_meta_scheduler_sends_jobs_over_the_network_to_queues_of_clusters():
    link = Link("l", 1024.0)
    hosts = [Host(name, 1.0) for name in ("a0", "a1", "b0")]
    use = (LinkUse("l", "NONE"),)
    routes = (Route("a0", "b0", use), Route("a1", "b0", use))
    platform = Platform((Zone("z", "Full", (*hosts, link), routes),))
    clusters = [
        LocalCluster("a", ("a0", "a1"), POLICIES["easy"]()),
        LocalCluster("b", ("b0",), POLICIES["fcfs"]()),
    ]
    jobs = [job(name, submit=3.0 * n, walltime=10.0, queue="b") for n, name in enumerate("cde")]
    jobs += [job("wide", submit=7.0, size=2, walltime=10.0, queue="b"), job("huge", size=3)]
    done = execute_clusters(JobLog(tuple(jobs)), clusters, by_queue, platform=platform)
    assert done.state == ("completed",) * 4 + ("rejected",)
    # A message of 1,024 byte takes 1 s where the reports of the cluster do not share its link.
    assert [node_text(each) for each in done.nodes] == ["2", "2", "2", "0-1", ""]
    assert 1.0 <= done.start[0] <= 1.5
    assert np.diff(done.start[:3]).tolist() == pytest.approx([10.0, 10.0])
    assert done.submit[:4].tolist() == [0.0, 3.0, 6.0, 7.0]
    done = execute_clusters(JobLog(tuple(jobs[:3])), clusters, least_loaded, platform=platform)
    assert sorted(node_text(each) for each in done.nodes) == ["0", "1", "2"]
    with pytest.raises(WorkloadError, match="'f'"):
        execute_clusters(JobLog((*jobs, job("f", after=("c",)))), clusters, platform=platform)
    twice = [clusters[0], clusters[0]]
    with pytest.raises(WorkloadError):
        execute_clusters(JobLog(tuple(jobs)), twice, platform=platform)
