"""Batch systems by brute force, in exact arithmetic, and a validator; for comparison only.

Jobs are dictionaries as in files of instances. Nothing here is fast, and nothing is shared with
the package.
"""

# Rules have one signature.
# ruff: noqa: ARG001

from __future__ import annotations

import itertools
from fractions import Fraction


def run(jobs, n_nodes, *, backfill="none", order="fcfs", **rules):
    """Return start, end and nodes of each job, None where it is rejected."""
    found = [None] * len(jobs)
    waiting, running, reserved = [], [], {}
    to_come = sorted(range(len(jobs)), key=lambda job: (jobs[job]["submit"], job))
    now, wake = None, None
    while to_come or waiting or running:
        dates = [found[job][1] for job in running]
        dates += [Fraction(jobs[job]["submit"]) for job in to_come[:1]]
        dates += [wake] if wake is not None else []
        now = min(dates)
        early = False
        for job in [job for job in running if found[job][1] <= now]:
            running.remove(job)
            early |= planned(jobs, found, job) > now
        while to_come and jobs[to_come[0]]["submit"] <= now:
            job = to_come.pop(0)
            if jobs[job]["size"] <= n_nodes:
                waiting.append(job)
        keys = {
            "fcfs": lambda job: (jobs[job]["submit"], job),
            "sjf": lambda job: (jobs[job]["walltime"], jobs[job]["submit"], job),
            "largest": lambda job: (-jobs[job]["size"], jobs[job]["submit"], job),
        }
        waiting.sort(key=keys[order])
        decide = {"easy": easy, "conservative": conservative}.get(backfill, simple)
        state = (jobs, n_nodes, now, waiting, running, found)
        for job, nodes in decide(*state, reserved, early, backfill, rules):
            end = now + min(Fraction(jobs[job]["runtime"]), Fraction(jobs[job]["walltime"]))
            found[job] = (now, end, nodes)
            waiting.remove(job)
            running.append(job)
            reserved.pop(job, None)
        wake = min((date for date, _ in reserved.values()), default=None)
    return found


def planned(jobs, found, job):
    """Return the planned end of a job."""
    return found[job][0] + Fraction(jobs[job]["walltime"])


def chosen(free, size, rules):
    """Return the nodes for a job, or None."""
    free = sorted(free)
    if rules.get("allocation") == "contiguous":
        for first in free:
            if set(range(first, first + size)) <= set(free):
                return frozenset(range(first, first + size))
        return None
    return frozenset(free[:size]) if len(free) >= size else None


def free_nodes(n_nodes, running, found):
    """Return the free nodes."""
    return set(range(n_nodes)) - {node for job in running for node in found[job][2]}


def simple(jobs, n_nodes, now, waiting, running, found, reserved, early, backfill, rules):
    """Return the starts without reservations."""
    free, starts = free_nodes(n_nodes, running, found), []
    for job in waiting:
        nodes = chosen(free, jobs[job]["size"], rules)
        if nodes is not None:
            starts.append((job, nodes))
            free -= nodes
        elif backfill == "none":
            break
    return starts


def easy(jobs, n_nodes, now, waiting, running, found, reserved, early, backfill, rules):
    """Return the starts of EASY: a job starts behind the head if the head can keep its date."""
    starts = simple(jobs, n_nodes, now, waiting, running, found, {}, early, "none", rules)
    rest = waiting[len(starts) :]
    if not rest:
        return starts
    head, size = rest[0], jobs[rest[0]]["size"]
    ends = [(planned(jobs, found, job), found[job][2]) for job in running]
    ends += [(now + jobs[job]["walltime"], nodes) for job, nodes in starts]
    ends.sort(key=lambda each: each[0])
    free = free_nodes(n_nodes, running, found) - {n for _, nodes in starts for n in nodes}
    # Nodes at the date of the head, by rule.
    for shadow in sorted({end for end, _ in ends}):
        later = free | {n for end, nodes in ends if end <= shadow for n in nodes}
        kept = chosen(later, size, rules)
        if kept is not None:
            break
    extra = len(later) - size
    if rules.get("extra_at_shadow") == "first":
        count = len(free)
        for _, nodes in ends:
            if count >= size:
                break
            count += len(nodes)
        extra = count - size
    for job in rest[1:]:
        wants, in_time = jobs[job]["size"], now + jobs[job]["walltime"] <= shadow
        if rules.get("reservation") == "nodes":
            nodes = chosen(free if in_time else free - kept, wants, rules)
        else:
            nodes = chosen(free, wants, rules) if in_time or wants <= extra else None
            extra -= wants if nodes is not None and not in_time else 0
        if nodes is not None:
            starts.append((job, nodes))
            free -= nodes
    assert head not in {job for job, _ in starts}
    return starts


def conservative(jobs, n_nodes, now, waiting, running, found, reserved, early, backfill, rules):
    """Return the starts of conservative backfilling, and update the reservations."""
    by_nodes = rules.get("reservation") == "nodes"
    rebuild = rules.get("compress") == "rebuild"
    if rebuild:
        reserved.clear()

    def uses(start, end, job):
        """Return planned uses of nodes that overlap a time."""
        spans = [(now, planned(jobs, found, each), found[each][2]) for each in running]
        for each, (date, nodes) in reserved.items():
            if each != job:
                held = nodes if by_nodes else jobs[each]["size"]
                spans.append((date, date + jobs[each]["walltime"], held))
        return [span for span in spans if span[0] < end and span[1] > start]

    def fits(start, job):
        """Return nodes for a job at a date, a number if they are counted, or None."""
        end, size = start + jobs[job]["walltime"], jobs[job]["size"]
        spans = uses(start, end, job)
        if by_nodes:
            taken = {n for _, _, nodes in spans for n in nodes}
            return chosen(set(range(n_nodes)) - taken, size, rules)
        for date in {start, *(span[0] for span in spans if span[0] > start)}:
            held = [span[2] for span in spans if span[0] <= date < span[1]]
            count = sum(each if isinstance(each, int) else len(each) for each in held)
            if n_nodes - count < size:
                return None
        return size

    def place(job):
        """Reserve nodes at the first possible date."""
        dates = {now, *(planned(jobs, found, each) for each in running)}
        for each, (date, _) in reserved.items():
            if each != job:
                dates |= {date, date + jobs[each]["walltime"]}
        for date in sorted(each for each in dates if each >= now):
            nodes = fits(date, job)
            if nodes is not None:
                reserved[job] = (date, nodes)
                return

    for job in waiting:
        if rebuild or early or job not in reserved:
            place(job)
    starts, free = [], free_nodes(n_nodes, running, found)
    for job in waiting:
        date, nodes = reserved[job]
        if date <= now:
            nodes = nodes if by_nodes else chosen(free, jobs[job]["size"], rules)
            starts.append((job, nodes))
            free -= nodes
    return starts


def run_malleable(jobs, n_nodes, bandwidth, policy):
    """Return the steps and the end of each job of variable size under a rule of sizes."""
    count = len(jobs)
    left, since, size = [Fraction(1)] * count, [None] * count, [0] * count
    steps, ends = [[] for _ in jobs], [None] * count
    to_come = sorted(range(count), key=lambda job: (jobs[job]["submit"], job))
    known = []

    def time(job):
        serial = Fraction(jobs[job]["serial"])
        return Fraction(jobs[job]["work"]) * (serial + (1 - serial) / size[job])

    while None in ends:
        due = {job: since[job] + left[job] * time(job) for job in range(count) if size[job]}
        now = min([*due.values(), *(Fraction(jobs[job]["submit"]) for job in to_come[:1])])
        for job in [job for job in due if due[job] <= now]:
            ends[job], size[job] = now, 0
            known.remove(job)
        while to_come and jobs[to_come[0]]["submit"] <= now:
            known.append(to_come.pop(0))
        for job, nodes in policy(jobs, n_nodes, known, size).items():
            if nodes == size[job]:
                continue
            if size[job]:
                left[job] -= max(now - since[job], 0) / time(job)
                since[job] = now + Fraction(jobs[job]["data"]) / Fraction(bandwidth)
            else:
                since[job] = now
            size[job] = nodes
            steps[job].append((now, nodes))
    return steps, ends


def fcfs_max(jobs, n_nodes, known, size):
    """Return the sizes of jobs that start in order, each as large as possible."""
    free, sizes = n_nodes - sum(size), {}
    for job in known:
        if size[job] == 0:
            if jobs[job]["min"] > free:
                break
            sizes[job] = min(jobs[job]["max"], free)
            free -= sizes[job]
    return sizes


def equipartition(jobs, n_nodes, known, size):
    """Return the sizes of jobs that share the machine equally."""
    fixed = {job for job in known if size[job] and jobs[job]["kind"] != "malleable"}
    sizes = {}
    for job in known:
        least = size[job] if job in fixed else jobs[job]["min"]
        if sum(sizes.values()) + least > n_nodes:
            break
        sizes[job] = least
    while sum(sizes.values()) < n_nodes:
        open_ = [job for job in sizes if job not in fixed and sizes[job] < jobs[job]["max"]]
        if not open_:
            break
        sizes[min(open_, key=lambda job: (sizes[job], known.index(job)))] += 1
    return sizes


def flaws(jobs, n_nodes, schedule):
    """Return what is wrong with a schedule, rows of start, end and set of nodes, or None."""
    found = []
    for job, row in zip(jobs, schedule, strict=True):
        if row is None:
            if job["size"] <= n_nodes:
                found.append(f"{job['id']} never ran")
            continue
        start, end, nodes = row
        if start < job["submit"] - 1e-6:
            found.append(f"{job['id']} starts before its submission")
        if len(nodes) != job["size"] or not set(nodes) <= set(range(n_nodes)):
            found.append(f"{job['id']} has nodes {sorted(nodes)}")
        if abs(end - start - min(job["runtime"], job["walltime"])) > 1e-6:
            found.append(f"{job['id']} runs from {start} to {end}")
    for node in range(n_nodes):
        spans = sorted((row[0], row[1]) for row in schedule if row and node in row[2])
        for (_, end), (start, _) in itertools.pairwise(spans):
            if start < end - 1e-6:
                found.append(f"node {node} has two jobs at {start}")
    return found
