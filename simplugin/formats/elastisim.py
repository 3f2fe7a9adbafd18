"""Batch jobs from the jobs files and application models of ElastiSim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.inputs.documents import JsonValue, read_json
from simplugin.inputs.files import FilePath, uncollected
from simplugin.inputs.formulas import FormulaError, formula_value
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import suggestion
from simplugin.results.tables import OpenPoints
from simplugin.workloads.batch_jobs import (
    Computation,
    Delay,
    DiskTransfer,
    Job,
    JobKind,
    JobLog,
    JobWork,
    Message,
    Messages,
    ParallelWork,
    Phases,
)

_KINDS: dict[str, JobKind] = {"rigid": "rigid", "moldable": "moldable", "malleable": "malleable"}
# Jobs that ask for other nodes while they run, and what they are without these requests.
_EVOLVING: dict[str, JobKind] = {"adaptive": "malleable", "evolving": "moldable"}
_GPUS = ("num_gpus_per_node", "num_gpus_per_node_min", "num_gpus_per_node_max")
_DEEPEST, _MOST_NODES, _MOST_COMMUNICATING = 50, 1_000_000, 3000
_VECTORS = ("uniform", "all_ranks", "total", "root_only", "even_ranks", "odd_ranks", "vector")


@uncollected()
def read_elastisim(
    path: FilePath, *, models: FilePath | None = None, lenient: bool = False
) -> JobLog:
    """Read the jobs of a jobs file of ElastiSim, and their application models [1]_.

    The id of a job is its place in the file, from 0. A rigid job has the work that its model gives
    for its nodes; the work of others is a function of the number of nodes, and their size is the
    largest one. Patterns are those of ElastiSim's program. Formulas of sizes, delays and iterations
    know the job's arguments and ``num_nodes``. A walltime of 0 is none. Waiting, busy or idle, is a
    delay of the longest wait of a node. A ``cpu`` task is a parallel task if it is coupled or has
    both computation and communication, else a computation or messages.

    Not read are tasks ``gpu``, ``bb_read`` and ``bb_write`` and jobs with GPUs. What happens at a
    change of nodes (``on_reconfiguration``, ``on_expansion``) is left out and counted in
    `JobLog.left_open`.

    Parameters
    ----------
    path : path
        The jobs file, perhaps compressed.
    models : path, optional
        Directory of the application models. By default their paths in the file hold, from its
        directory on, or a file of this name beside it.
    lenient : bool
        True if jobs that evolve are read without their requests (adaptive ones malleable, evolving
        ones moldable), asynchronous reads and writes as synchronous ones, and transfers of some
        nodes as such of all; they are counted. Else these are refused.

    Raises
    ------
    WorkloadFileError
        A file cannot be read, says something wrong, or something that is not read; the message
        names the line.

    References
    ----------
    .. [1] ElastiSim. Workload. https://elastisim.github.io/workload/workload.html
    """
    document = read_json(path, WorkloadFileError)
    listed = JsonValue(document, (), document.content).member("jobs")
    reading = _Reading(Path(path), None if models is None else Path(models), lenient)
    jobs = tuple(reading.job(str(at), place) for at, place in enumerate(listed.items()))
    if not jobs:
        raise listed.error("there is no job", "add one")
    return JobLog(jobs, left_open=reading.points.points())


class _Reading:
    """The models that were read, and what they leave open."""

    def __init__(self, path: Path, models: Path | None, lenient: bool) -> None:
        self.points = OpenPoints()
        self._around = path.parent if models is None else models
        self._lenient = lenient
        self._models: dict[str, JsonValue] = {}

    def job(self, name: str, place: JsonValue) -> Job:
        """Return a job."""
        kind = self._kind(place.member("type"))
        for key in _GPUS:
            if (gpus := place.get(key)) is not None and gpus.number() > 0:
                raise gpus.error("jobs with GPUs are not read", "leave out the GPUs")
        rigid = kind == "rigid"
        least = place.member("num_nodes" if rigid else "num_nodes_min").whole(1)
        largest = place.member("num_nodes" if rigid else "num_nodes_max")
        if (most := largest.whole(1)) < least:
            raise largest.error(f"it is {most}, num_nodes_min {least}", "give at least as many")
        if most > _MOST_NODES:
            raise largest.error(f"these are {most} nodes", f"give at most {_MOST_NODES:,}")
        root = self._model(place.member("application_model"))
        work = _ModelWork(root, _arguments(place.get("arguments")), self._lenient)
        largest_work = work.on(most, self.points)
        if least < most:
            work(least)  # raises if it has none
        limit, attributes = place.get("walltime"), place.get("attributes")
        members = {} if attributes is None else attributes.members()
        priority = members.pop("priority", None)
        self.points.note("other attributes of jobs", "not used", len(members))
        return Job(
            id=name,
            submit=place.member("submit_time").number(),
            size=most,
            work=largest_work if rigid else work,
            walltime=(None if limit is None else limit.number()) or None,
            kind=kind,
            least=None if rigid else least,
            most=None if rigid else most,
            priority=0.0 if priority is None else priority.number(negative=True),
        )

    def _kind(self, place: JsonValue) -> JobKind:
        """Return the kind of a job."""
        name = place.text().lower()
        if name in _EVOLVING:
            taken_as = "without requests for other nodes"
            _only_lenient(place, f"{name} jobs", taken_as, self._lenient, self.points)
        elif name not in _KINDS:
            raise place.error(f"this is {shown(name)}", suggestion(name, _KINDS, "give one of"))
        return (_KINDS | _EVOLVING)[name]

    def _model(self, place: JsonValue) -> JsonValue:
        """Return the application model that a path names."""
        name = place.text()
        if name not in self._models:
            paths = self._around / name, self._around / Path(name).name
            try:
                path = next(path for path in paths if path.is_file())
            except (StopIteration, OSError, ValueError):
                remedy = f"put it into {self._around}, or name its directory: models = ..."
                raise place.error(f"there is no file {shown(name)}", remedy) from None
            document = read_json(path, WorkloadFileError)
            self._models[name] = root = JsonValue(document, (), document.content)
            for key in ("on_reconfiguration", "on_expansion"):
                self.points.note(f"phases {key}", "left out", root.get(key) is not None)
        return self._models[name]


def _only_lenient(
    place: JsonValue, what: str, taken_as: str, lenient: bool, points: OpenPoints
) -> None:
    """Count what is not read as it is; raise WorkloadFileError unless that is allowed."""
    if not lenient:
        remedy = "change it, or read what there is of them: lenient = true"
        raise place.error(f"{what} are not read", remedy)
    points.note(what, taken_as)


def _arguments(place: JsonValue | None) -> dict[str, float]:
    """Return the arguments of a job; texts are formulas of the arguments above."""
    values: dict[str, float] = {}
    for name, each in {} if place is None else place.members().items():
        values[name] = _amount(each, values, negative=True)
    return values


def _amount(place: JsonValue, variables: dict[str, float], *, negative: bool = False) -> float:
    """Return a number, or the value of a formula."""
    if not isinstance(place.content, str):
        return place.number(negative=negative)
    try:
        value = formula_value(place.text(), variables)
    except FormulaError as error:
        raise place.error(error.message, error.remedy) from None
    if value < 0 and not negative:
        raise place.error(f"{shown(place.content)} is {value:g}", "give a formula >= 0")
    return value


@dataclass(frozen=True, slots=True)
class _ModelWork:
    """The work of a job by its number of nodes: an application model and arguments."""

    model: JsonValue
    arguments: dict[str, float]
    lenient: bool

    def __call__(self, nodes: int) -> JobWork:
        """Return the work on a number of nodes."""
        return self.on(nodes, OpenPoints())

    def on(self, nodes: int, points: OpenPoints) -> JobWork:
        """Return the work on a number of nodes, and count what it leaves open."""
        gpus = {"num_gpus": 0.0, "num_gpus_per_node": 0.0}
        variables = {**self.arguments, "num_nodes": float(nodes), **gpus}
        evaluation = _Evaluation(nodes, variables, self.lenient, points)
        start = self.model.get("on_init")
        phases = [] if start is None or start.content is None else [start]
        phases += self.model.member("phases").items()
        works = tuple(work for phase in phases for work in evaluation.works(phase))
        return works[0] if len(works) == 1 else Phases(works or (Delay(0.0),))


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The evaluation of a model on a number of nodes."""

    nodes: int
    variables: dict[str, float]
    lenient: bool
    points: OpenPoints

    def works(self, place: JsonValue, depth: int = 0) -> tuple[JobWork, ...]:
        """Return what a phase, a task, or a list of tasks does; none for no repetition."""
        if depth > _DEEPEST:
            raise place.error("tasks are nested too deeply", "nest fewer sequences")
        if isinstance(place.content, list):
            return tuple(w for task in place.items() for w in self.works(task, depth + 1))
        self.points.note(
            "evolving requests of phases", "left out", place.get("evolving_request") is not None
        )
        iterations, tasks = place.get("iterations"), place.get("tasks")
        given = None if iterations is None or iterations.content is None else iterations
        times = 1 if given is None else int(_amount(given, self.variables))
        try:
            works = (self._task(place),) if tasks is None else self.works(tasks, depth + 1)
        except (WorkloadError, OverflowError) as error:
            raise place.error(str(error), "correct the amounts") from None
        if not (times and works):
            return ()
        return works if times == 1 else (Phases(works, times),)

    def _task(self, place: JsonValue) -> JobWork:
        """Return what a task does."""
        kind = place.member("type")
        match kind.text().lower():
            case "busy_wait" | "idle":
                return Delay(max(self._vector(place, "delay", "pattern")))
            case "pfs_read" | "pfs_write" as name:
                byte, pattern = (
                    sum(self._vector(place, "bytes", "pattern")),
                    place.member("pattern"),
                )
                used, waits = pattern.text().lower(), place.get("async")
                if waits is not None and waits.content is True:
                    self._inexact(waits, "asynchronous transfers", "synchronous ones")
                if used in ("even_ranks", "odd_ranks", "vector"):
                    self._inexact(pattern, "transfers of some nodes", "transfers of all")
                nodes: Literal["root", "all"] = "root" if used == "root_only" else "all"
                return DiskTransfer(byte, writes=name == "pfs_write", nodes=nodes)
            case "cpu":
                return self._computed(place)
        known = "cpu, busy_wait, idle, pfs_read, pfs_write and sequence are read"
        raise kind.error(f"tasks of type {shown(kind.text())} are not read", known)

    def _inexact(self, place: JsonValue, what: str, taken_as: str) -> None:
        """Count what is not read as it is; see `_only_lenient`."""
        _only_lenient(place, what, taken_as, self.lenient, self.points)

    def _vector(self, task: JsonValue, key: str, pattern: str) -> tuple[float, ...]:
        """Return the amount of each node."""
        given, name = task.member(key), _word(task.member(pattern), _VECTORS)
        if name == "vector":
            return _listed(given, self.nodes)
        size = _amount(given, self.variables)
        steps = {"root_only": (0, 1), "even_ranks": (0, 2), "odd_ranks": (1, 2)}
        first, step = steps.get(name, (0, 1))
        chosen = range(1) if name == "root_only" else range(first, self.nodes, step)
        share = size if name == "uniform" else size / max(len(chosen), 1)
        return tuple(share if node in chosen else 0.0 for node in range(self.nodes))

    def _computed(self, task: JsonValue) -> JobWork:
        """Return a computation, messages, or both as a parallel task."""
        flops, byte, tied = task.get("flops"), task.get("bytes"), task.get("coupled")
        if flops is None and byte is None:
            raise task.error("there are neither flops nor bytes", "add one of them")
        coupled = tied is not None and tied.content is True
        flop: float | tuple[float, ...] = 0.0
        if flops is not None:
            amounts = self._vector(task, "flops", "computation_pattern")
            flop = amounts[0] if len(set(amounts)) == 1 else amounts
        if byte is None:
            return ParallelWork(flop) if coupled else Computation(flop)
        messages = self._messages(byte, task.member("communication_pattern"))
        if flops is None and not coupled:
            return Messages(messages)
        if not coupled:
            what = "tasks that compute and communicate without being coupled"
            self.points.note(what, "coupled")
        matrix = [0.0] * self.nodes**2
        for sender, receiver, size in messages:
            matrix[sender * self.nodes + receiver] += size
        return ParallelWork(flop, tuple(matrix))

    def _messages(self, place: JsonValue, pattern: JsonValue) -> tuple[Message, ...]:
        """Return sender, receiver and size of each message, as ElastiSim's program has them."""
        nodes = self.nodes
        if nodes > _MOST_COMMUNICATING:
            raise pattern.error(
                f"{nodes} nodes communicate", f"give jobs of at most {_MOST_COMMUNICATING}"
            )
        ranks, others = range(nodes), range(1, nodes)
        clockwise = [(rank, (rank + 1) % nodes) for rank in ranks]
        counter = [(rank, (rank - 1) % nodes) for rank in ranks]
        scatter, gather = [(0, rank) for rank in others], [(rank, 0) for rank in others]
        # The messages, and the number of parts that the data have.
        patterns: dict[str, tuple[list[tuple[int, int]], float]] = {
            "all_to_all": ([], nodes * (nodes - 1)),
            "gather": (gather, nodes),
            "scatter": (scatter, nodes),
            "ring": (clockwise + counter, 2 * nodes),
            "ring_clockwise": (clockwise, nodes),
            "ring_counter_clockwise": (counter, nodes),
            "master_worker": (scatter + gather, (nodes - 1) / 2),
            "matrix": ([], 1),
        }
        pairs, parts = patterns[name := _word(pattern, patterns)]
        every = pairs or [(a, b) for a in ranks for b in ranks]
        if name == "matrix":
            sizes = zip(every, _listed(place, nodes * nodes), strict=True)
            return tuple((*pair, size) for pair, size in sizes if size)
        size = _amount(place, self.variables)
        return tuple((a, b, size / parts) for a, b in every if a != b and parts)


def _word(place: JsonValue, known: Iterable[str]) -> str:
    """Return one of some words."""
    if (name := place.text().lower()) not in known:
        raise place.error(f"this is {shown(name)}", suggestion(name, known, "give one of"))
    return name


def _listed(place: JsonValue, length: int) -> tuple[float, ...]:
    """Return a list of numbers of a length."""
    values = tuple(each.number() for each in place.items())
    if len(values) != length:
        raise place.error(f"there are {len(values)} numbers", f"give {length} for this job")
    return values
