"""Simulated schedules of batch jobs beside real runs, and beside those of other simulators.

The logs are public, but not shipped. `SOURCES` says where each is, and where it is looked for below
one directory. Without them, generated logs show what the policies do, and nothing is compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simplugin.core.errors import WorkloadFileError
from simplugin.formats.batsim import read_batsim
from simplugin.formats.job_schedules import read_job_schedule
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.documents import JsonValue, read_json
from simplugin.inputs.files import unpacked_name
from simplugin.inputs.text_tables import read_table
from simplugin.jobs.actors.batch_system import JobConditions
from simplugin.jobs.charts import executed_schedule, job_chart
from simplugin.jobs.execution import JobExecution, execute
from simplugin.jobs.metrics import measures
from simplugin.jobs.nodes import nodes_of
from simplugin.jobs.policies.queues import QueueScheduler
from simplugin.jobs.policies.shipped import POLICIES
from simplugin.jobs.policy import JobPolicy
from simplugin.results.charts import ScheduleChart
from simplugin.results.claims import Claim
from simplugin.results.tables import Cell, ResultTable
from simplugin.workloads.batch_jobs import Delay, Job, JobLog
from simplugin.workloads.job_logs import scaled_log, trace_jobs
from simplugin.workloads.job_schedules import JobSchedule
from simplugin.workloads.lublin import lublin

# Time from a decision of OAR to the start of a job, and what it adds to run times [s].
LATENCY, ADDED = 1.5, 0.6
# Cores of Cirrus, as in ElastiSim's platform; nodes of graphene; cores of 2017.
CIRRUS_CORES, GRAPHENE_NODES, CORES_2017 = 13_249, 32, 128
_CIRRUS = "cirrus"
_SEED = re.compile(r"seed(\d+)")
_BATSIM_NODES = 32


_EXPERIMENTS, _EVALYS = "oar-team/batsim-experiments", "oar-team/evalys"
_MIRA = "EPCCed/mira-cirrus-elastisim"
# Public files by where they are looked for below the directory.
SOURCES = ResultTable(
    "Files",
    (("file below DIR, perhaps compressed", ""), ("repository", ""), ("path there", ""), ("", "")),
    (
        (
            "oar_graphene/runs/RUN__seedN.csv",
            _EXPERIMENTS,
            "replay_workload/results_*/oar_gant_*.json",
            "to be written as a line a job, with columns batsim_id (by *job_id_mapping.csv),"
            " submit, start, stop, walltime and nodes, dates from the first submission",
        ),
        (
            "oar_graphene/workloads/*seedN.json",
            _EXPERIMENTS,
            "workload_generation/generated_workloads/*/g5k_workload_*_seedN_size32.json",
            "the first of several by name: delay_* before msg_*",
        ),
        (
            "oar_graphene/graphene.xml",
            _EXPERIMENTS,
            "simulated_experiment/platforms/graphene.xml",
            "",
        ),
        (
            "oar_hpc128/*.csv",
            _EVALYS,
            "examples/mercierm/workloads/hpc_alone_seed*_iter*_jobset.csv",
            "",
        ),
        (
            "batsim_medium_late/medium_late.json",
            _EVALYS,
            "examples/batsim_outputs/medium_late/medium_late.json",
            "",
        ),
        (
            "batsim_medium_late/easy/out_jobs.csv",
            _EVALYS,
            "examples/batsim_outputs/medium_late/easy/out_jobs.csv",
            "",
        ),
        (
            "cirrus/rigid*.csv",
            _MIRA,
            "cirrus-cpu-simple-rigid/data/input/2024_Q1_CPU-jobs.json and"
            " data/output/job_statistics.csv",
            "to be written as a line a job, with columns id, submit, base_cores, runtime_at_base"
            " and elastisim_start",
        ),
        ("cirrus/measured*.csv", _MIRA, "cirrus-cpu-raw-job-data/job_statistics.csv", ""),
    ),
)


@dataclass(frozen=True)
class JobValidation:
    """Comparison with real and published schedules.

    Attributes
    ----------
    claims : tuple of Claim
        Verdicts; those without a bar have none.
    tables : tuple of ResultTable
        A table a part.
    chart : ScheduleChart, optional
        A real schedule beside the simulated one.
    missing : tuple of str
        Files that were not there.
    generated : bool
        True if there was no data, so that logs are generated.
    """

    claims: tuple[Claim, ...]
    tables: tuple[ResultTable, ...]
    chart: ScheduleChart | None = None
    missing: tuple[str, ...] = ()
    generated: bool = False


def validate(data: Path | None = None) -> JobValidation:
    """Compare simulated schedules with those of real runs and of other simulators.

    Parameters
    ----------
    data : Path, optional
        Directory with the files of `SOURCES`; those that are missing leave out their part. Without
        it, generated logs are simulated.

    Raises
    ------
    WorkloadFileError
        The directory has none of the files, or one of them says something wrong.
    """
    if data is None:
        return JobValidation((), (_generated(),), generated=True)
    files = _Files(data)
    parts = [part(files) for part in _PARTS]
    found = [part for part in parts if part is not None]
    if not found:
        wanted = ", ".join(str(line[0]) for line in SOURCES.lines)
        raise WorkloadFileError(
            "the directory has none of the files that are compared",
            file=data,
            remedy=f"put these below it: {wanted}",
        )
    chart = next((part.chart for part in found if part.chart is not None), None)
    return JobValidation(
        tuple(claim for part in found for claim in part.claims),
        tuple(table for part in found for table in part.tables),
        chart,
        tuple(files.missing),
    )


class _Files:
    """The files of a directory, perhaps compressed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.missing: list[str] = []

    def all(self, pattern: str) -> list[Path]:
        """Return the files of a pattern, sorted."""
        suffix = Path(pattern).suffix
        every = sorted(self._directory.glob(f"{pattern}*"))
        found = [path for path in every if unpacked_name(path).suffix == suffix]
        if not found:
            self.missing.append(pattern)
        return found

    def one(self, pattern: str) -> Path | None:
        """Return the first file of a pattern, if there is one."""
        return next(iter(self.all(pattern)), None)


# ---- Real runs of OAR ----


# Plans over numbers of nodes, and over sets of nodes.
_NUMBERS, _SETS = "planner", "planner of sets"


def planners() -> dict[str, JobPolicy]:
    """Return OAR's policy in two readings, and two others to show beside.

    It is conservative, and makes all reservations anew when something changes.
    """
    rebuilding = QueueScheduler(backfill="conservative", compress="rebuild", name="planner")
    return {
        _NUMBERS: rebuilding,
        _SETS: replace(rebuilding, reservation="nodes"),
        "EASY": POLICIES["easy"](),
        "FCFS": POLICIES["fcfs"](),
    }


def _executed(log: JobLog, n_nodes: int, conditions: JobConditions) -> dict[str, JobExecution]:
    """Return the execution of a log under each of `planners`."""
    return {
        name: execute(log, policy, n_nodes=n_nodes, conditions=conditions)
        for name, policy in planners().items()
    }


def _beside(
    title: str, note: str, rows: Sequence[tuple[str, int, JobSchedule, Mapping[str, JobExecution]]]
) -> tuple[ResultTable, ...]:
    """Return tables of makespans and mean waits: name, nodes, measured, and under each policy."""
    tables = []
    for key in ("makespan", "mean_wait"):
        lines: list[tuple[Cell, ...]] = [
            (name, n_nodes, measures(real)[key], *(measures(run)[key] for run in runs.values()))
            for name, n_nodes, real, runs in rows
        ]
        columns = [("run", ""), ("nodes", ""), ("measured", "s")]
        columns += [(policy, "s") for policy in rows[0][-1]]
        words = f"{title}: {key.replace('_', ' ')}"
        tables.append(ResultTable(words, tuple(columns), tuple(lines), note))
    return tuple(tables)


def _graphene(files: _Files) -> JobValidation | None:
    """Compare with the runs of 2016 on graphene: nominal run times, two overheads for all."""
    runs = files.all("oar_graphene/runs/*.csv")
    workloads = [*files.all("oar_graphene/workloads/*.json")]
    if not runs or not workloads:
        return None
    conditions = JobConditions(latency=LATENCY, added=ADDED)
    rows = []
    groups: dict[tuple[str, int], list[JobSchedule]] = {}
    done: dict[tuple[str, int], JobExecution] = {}
    for path in runs:
        real = read_job_schedule(path)
        found = _workload_of(real, path, workloads)
        if found is None:
            files.missing.append(f"oar_graphene/workloads/*seed{_seed(path)}.json")
            continue
        workload, log = found
        n_nodes = len({node for nodes in real.nodes for node in nodes}) or GRAPHENE_NODES
        key = workload, n_nodes
        groups.setdefault(key, []).append(real)
        simulated = _executed(log, n_nodes, conditions)
        done[key] = simulated[_NUMBERS]
        rows.append((_run_name(path), n_nodes, real, simulated))
    if not rows:
        return None
    claims: list[Claim] = []
    chart = None
    for (workload, n_nodes), reals in groups.items():
        run = done[workload, n_nodes]
        claims += _bars(f"{workload} on {n_nodes} nodes", reals, run)
        if chart is None:
            pair = {"real": reals[0], "simulated": executed_schedule(run)}
            chart = job_chart(pair, n_nodes, f"OAR on graphene, {workload}: real and simulated")
    note = (
        f"nominal run times; {LATENCY} s from a decision to the start and {ADDED} s more of run"
        f" time, the same for all; verdicts are on the {_NUMBERS}"
    )
    tables = _beside("Real runs of 2016 on graphene, 800 MPI jobs each", note, rows)
    return JobValidation(tuple(claims), tables, chart)


def _bars(name: str, reals: Sequence[JobSchedule], run: JobExecution) -> Iterator[Claim]:
    """Yield verdicts on makespan and mean wait beside the repeats of a run."""
    simulated, known = measures(run), [measures(real) for real in reals]
    several = len(reals) > 1
    for key, words, share, least in (
        ("makespan", "makespan", 0.005 if several else 0.02, 0.0),
        ("mean_wait", "mean wait", 0.06 if several else 0.1, 3.0),
    ):
        values = [each[key] for each in known]
        mean, spread = float(np.mean(values)), max(values) - min(values)
        bar = max(2 * spread, share * mean, least)
        runs = f"{len(reals)} runs" if several else "one run"
        yield Claim(
            f"{words} of {name}, {runs} [s]", round(mean, 1), round(simulated[key], 1),
            abs(simulated[key] - mean) <= bar, "", "oar_graphene", kind="ours",
            id=f"graphene-{name.replace(' ', '-')}-{key.replace('_', '-')}",
            criterion=f"within {bar:.3g} s",
        )  # fmt: skip


def _run_name(path: Path) -> str:
    """Return the name of a file without directory and suffixes."""
    return unpacked_name(path).stem


def _workload_of(
    real: JobSchedule, path: Path, workloads: Sequence[Path]
) -> tuple[str, JobLog] | None:
    """Return the workload of a run: of the same seed, with most jobs of equal submission and size.

    Of equal ones the first by name, so delays come before messages.
    """
    seed = _seed(path)
    best: tuple[int, str, JobLog] | None = None
    for each in workloads:
        if _seed(each) != seed:
            continue
        log = nominal_log(each)
        jobs = {job.id: job for job in log.jobs}
        rows = zip(real.ids, real.submit.tolist(), real.sizes.tolist(), strict=True)
        alike = sum(
            job in jobs and jobs[job].size == size and abs(jobs[job].submit - submit) < 60
            for job, submit, size in rows
        )
        if best is None or alike > best[0]:
            best = alike, _run_name(each), log
    return None if best is None else best[1:]


def _seed(path: Path) -> str:
    """Return the seed in the name of a file."""
    found = _SEED.search(path.name)
    return found[1] if found else ""


def nominal_log(path: Path) -> JobLog:
    """Return the jobs of a workload of Batsim with the ``runtime`` of their profiles.

    Raises
    ------
    WorkloadFileError
        A profile has none.
    """
    document = read_json(path, WorkloadFileError)
    root = JsonValue(document, (), document.content)
    profiles = root.member("profiles").members()
    times = {name: each.member("runtime").number() for name, each in profiles.items()}
    log = read_batsim(path)
    names = [place.member("profile").text() for place in root.member("jobs").items()]
    jobs = (
        replace(job, work=Delay(times[name])) for job, name in zip(log.jobs, names, strict=True)
    )
    return JobLog(tuple(jobs), log.n_nodes)


def _contention(files: _Files) -> JobValidation | None:
    """Show what contention adds to the run times of jobs with messages on graphene."""
    platform = files.one("oar_graphene/graphene.xml")
    workloads = [each for each in files.all("oar_graphene/workloads/*msg*.json")]
    if platform is None or not workloads:
        return None
    # Its options are those of SimGrid 3.
    graphene = replace(read_platform(platform), config=())
    hosts = tuple(graphene.host_names())[:GRAPHENE_NODES]
    lines = []
    for path in workloads:
        nominal = np.array([_time(job) for job in nominal_log(path).jobs])
        done = execute(
            read_batsim(path),
            POLICIES["easy"](),
            platform=graphene,
            conditions=JobConditions(hosts=hosts),
        )
        longer = (done.end - done.start) / nominal - 1
        parts = np.quantile(longer, (0.5, 0.95, 1.0)).tolist()
        lines.append((_run_name(path), len(longer), *parts))
    table = ResultTable(
        "What contention adds to nominal run times, parallel tasks on graphene",
        (("workload", ""), ("jobs", ""), ("median", "%"), ("95 of 100 below", "%"), ("most", "%")),
        tuple(lines),
    )
    return JobValidation((), (table,))


def _time(job: Job) -> float:
    """Return the duration of a job that is a delay."""
    work = job.work_on(job.size)
    assert isinstance(work, Delay)
    return work.time


def _cores(files: _Files) -> JobValidation | None:
    """Compare with the runs of 2017 on 128 cores, with the run times that were measured."""
    paths = files.all("oar_hpc128/*.csv")
    if not paths:
        return None
    rows, hits = [], dict.fromkeys((_NUMBERS, _SETS), 0)
    for path in paths:
        real = read_job_schedule(path).from_first_submission()
        runs = _executed(measured_log(real), CORES_2017, JobConditions(latency=LATENCY))
        rows.append((_run_name(path), CORES_2017, real, runs))
        known = measures(real)
        for name in hits:
            found = measures(runs[name])
            apart = {key: abs(found[key] - known[key]) for key in ("makespan", "mean_wait")}
            is_near = apart["mean_wait"] <= max(2.0, 0.02 * known["mean_wait"])
            hits[name] += apart["makespan"] <= 30 and is_near
    note = (
        f"measured run times, {LATENCY} s from a decision to the start; the verdict is on the"
        f" {_SETS}: with numbers of cores, {hits[_NUMBERS]} of the runs are as near"
    )
    tables = _beside("Real runs of 2017 on 128 cores, 250 jobs each", note, rows)
    claim = Claim(
        "runs of 2017 with makespan within 30 s and mean wait within 2 s or 2 %",
        len(paths), hits[_SETS], 6 * hits[_SETS] >= 5 * len(paths), "", "oar_hpc128", kind="ours",
        id="cores-2017", criterion="five of six",
    )  # fmt: skip
    return JobValidation((claim,), tables)


def measured_log(schedule: JobSchedule) -> JobLog:
    """Return jobs that run as long as they did in a schedule, by submission and number."""
    order = sorted(
        np.flatnonzero(schedule.started()).tolist(),
        key=lambda place: (schedule.submit[place], len(schedule.ids[place]), schedule.ids[place]),
    )
    return JobLog(
        tuple(
            Job(
                id=schedule.ids[place],
                submit=float(schedule.submit[place]),
                size=int(schedule.sizes[place]),
                work=Delay(float(schedule.end[place] - schedule.start[place])),
                walltime=_known(schedule.walltimes[place]),
            )
            for place in order
        )
    )


def _known(value: float) -> float | None:
    """Return a number; None for NaN."""
    return None if np.isnan(value) else float(value)


# ---- Schedules of other simulators ----


def _batsim(files: _Files) -> JobValidation | None:
    """Compare with the schedule that Batsim published, job by job."""
    workload = files.one("batsim_medium_late/medium_late.json")
    published = files.one("batsim_medium_late/easy/out_jobs.csv")
    if workload is None or published is None:
        return None
    log, known = read_batsim(workload), read_job_schedule(published)
    policy = QueueScheduler(backfill="easy", reservation="nodes", order="id_text", margin=5.0)
    done = execute(log, policy, n_nodes=log.n_nodes or _BATSIM_NODES)
    place = {job.id: number for number, job in enumerate(log.jobs)}
    at = [place[each] for each in known.ids]
    # Dates are printed with six digits.
    same = np.abs(done.start[at] - known.start) <= 1e-5
    nodes = [nodes_of(done.nodes[each]) for each in at]
    alike = [a == tuple(sorted(b)) for a, b in zip(nodes, known.nodes, strict=True)]
    hits = int(np.sum(same & np.array(alike)))
    claim = Claim(
        "jobs of Batsim's EASY schedule with equal start and nodes", len(at), hits,
        hits == len(at), "", "batsim_medium_late", kind="ours", id="batsim-easy", criterion="all",
    )  # fmt: skip
    return JobValidation((claim,), ())


def _cirrus(files: _Files) -> JobValidation | None:
    """Compare with ElastiSim on the log of Cirrus, and with what was measured there."""
    path, real = files.one(f"{_CIRRUS}/rigid*.csv"), files.one(f"{_CIRRUS}/measured*.csv")
    if path is None or real is None:
        return None
    table = read_table(path)
    for name in ("id", "submit", "base_cores", "runtime_at_base", "elastisim_start"):
        table.required(name)
    jobs, starts = [], []
    for line in table.lines:
        time = line.number("runtime_at_base")
        jobs.append(
            Job(
                id=line.text("id"),
                submit=line.number("submit"),
                size=line.count("base_cores"),
                work=Delay(time),
                walltime=time,
            )
        )
        starts.append(line.number("elastisim_start"))
    log = JobLog(tuple(jobs), CIRRUS_CORES)
    fcfs, easy = (execute(log, POLICIES[name]()) for name in ("fcfs", "easy"))
    hits = int(np.sum(np.abs(fcfs.start - np.array(starts)) <= 1e-6))
    waits = [measures(each)["mean_wait"] for each in (read_job_schedule(real), easy, fcfs)]
    claims = (
        Claim(
            "jobs of ElastiSim's FCFS schedule with equal start", len(jobs), hits,
            hits == len(jobs), "", _CIRRUS, kind="ours", id="cirrus-fcfs", criterion="all",
        ),
        Claim(
            "mean wait on Cirrus under EASY with perfect estimates [100 s]", round(waits[0], 1),
            round(waits[1], 1), None, "", _CIRRUS, kind="ours", id="cirrus-easy",
            criterion="none: shown",
        ),
    )  # fmt: skip
    columns = ("schedule", ""), ("mean wait [100 s]", "")
    names = "measured, Slurm", "simulated, EASY with perfect estimates", "simulated, FCFS"
    lines = tuple(zip(names, waits, strict=True))
    shown = ResultTable(f"Cirrus, {len(jobs):,} jobs on {CIRRUS_CORES:,} cores", columns, lines)
    return JobValidation(claims, (shown,))


# ---- Without data ----


def _generated() -> ResultTable:
    """Return the measures of policies on generated logs."""
    lines: list[tuple[Cell, ...]] = []
    for seed in (1, 2, 3):
        log = trace_jobs(lublin(800, GRAPHENE_NODES, seed=seed, overestimate=1.0))
        log = scaled_log(log, load=0.7, n_nodes=GRAPHENE_NODES)
        runs = _executed(log, GRAPHENE_NODES, JobConditions())
        found = [measures(run) for run in runs.values()]
        lines += [
            (seed, key.replace("_", " "), *(each[key] for each in found))
            for key in ("makespan", "mean_wait")
        ]
    columns = ("seed", ""), ("measure", ""), *((policy, "s") for policy in planners())
    title = f"Generated logs of 800 jobs on {GRAPHENE_NODES} nodes, load 0.7"
    return ResultTable(title, columns, tuple(lines))


_PARTS: tuple[Callable[[_Files], JobValidation | None], ...] = (
    _graphene, _cores, _batsim, _cirrus, _contention,
)  # fmt: skip
