"""Batch jobs from workloads of Batsim, versions 2 to 5."""

from __future__ import annotations

import json

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.inputs.documents import JsonValue, read_json
from simplugin.inputs.files import FilePath, uncollected
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import suggestion
from simplugin.results.tables import OpenPoints
from simplugin.workloads.batch_jobs import (
    Delay,
    DiskTransfer,
    Job,
    JobLog,
    JobWork,
    ParallelWork,
    Phases,
)
from simplugin.workloads.job_schedules import nodes_in

_DEEPEST = 50
_JOB = {"id", "subtime", "res", "walltime", "profile", "extra_data"}
_SPREAD = {"defined_amount_used_for_each_value": False, "defined_amount_spread_uniformly": True}


@uncollected()
def read_batsim(path: FilePath) -> JobLog:
    """Read the jobs of a workload of Batsim [1]_.

    Types of profiles have the names of any version, for instance ``delay`` or ``DelayProfile``,
    ``msg_par``, ``parallel``, ``ptask`` or ``ParallelTaskProfile``. A walltime that is missing or
    -1 is none. Reads and writes of a storage become transfers of the platform's shared disk, a read
    before a write, where Batsim has them at the same time; staging between two storages becomes a
    transfer between the shared disk and the first node. The nodes that a job wants are the
    ``desired_allocation`` of its ``extra_data``. `JobLog.left_open` counts what was taken so, and
    what is not used.

    Parameters
    ----------
    path : path
        The JSON file, perhaps compressed.

    Returns
    -------
    JobLog
        Jobs in the order of the file.

    Raises
    ------
    WorkloadFileError
        The file cannot be read, says something wrong, or a job has a profile of another type, such
        as SMPI and traces; the message names the line.

    References
    ----------
    .. [1] Batsim. Workload. https://batsim.readthedocs.io/en/latest/input-workload.html
    """
    document = read_json(path, WorkloadFileError)
    root = JsonValue(document, (), document.content)
    points = OpenPoints()
    profiles = _Profiles(root.member("profiles"), points)
    listed = root.member("jobs")
    jobs: dict[str, Job] = {}
    for place in listed.items():
        job = _read_job(place, profiles, points)
        if job.id in jobs:
            raise place.member("id").error(f"two jobs have the id {job.id!r}", "give each its own")
        jobs[job.id] = job
    if not jobs:
        raise listed.error("there is no job", "add one")
    profiles.note_unused()
    size = root.get("nb_res")
    return JobLog(tuple(jobs.values()), None if size is None else size.whole(1), points.points())


def _read_job(place: JsonValue, profiles: _Profiles, points: OpenPoints) -> Job:
    """Return a job."""
    given = place.member("res")
    size = given.whole()
    points.note("jobs without resources", "on one node", size == 0)
    size = max(size, 1)
    profile = place.member("profile")
    walltime = place.get("walltime")
    limit = None
    if walltime is not None and walltime.content is not None:
        limit = walltime.number(negative=True)
        if limit != -1 and limit <= 0:
            raise walltime.error(f"this is {limit:g} s", "give a time > 0, or -1 for none")
    for key in sorted(place.members().keys() - _JOB):
        points.note(f"{shown(key)} of jobs", "not used")
    return Job(
        id=_identifier(place.member("id")),
        submit=place.member("subtime").number(),
        size=size,
        work=profiles.work(_identifier(profile), size, profile),
        walltime=None if limit == -1 else limit,
        nodes=_wanted(place.get("extra_data"), size, points),
    )


def _identifier(place: JsonValue) -> str:
    """Return a name that is a text or a whole number."""
    if isinstance(place.content, int) and not isinstance(place.content, bool):
        return str(place.content)
    return place.text()


def _wanted(extra: JsonValue | None, size: int, points: OpenPoints) -> tuple[int, ...]:
    """Return the nodes that a job wants, from its extra data: an object, or a text of one."""
    if extra is None:
        return ()
    content = extra.content
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            content = None
    nodes = content.get("desired_allocation") if isinstance(content, dict) else None
    if not isinstance(nodes, str):
        points.note("extra data of jobs", "not used")
        return ()
    try:
        wanted = tuple(dict.fromkeys(nodes_in(nodes)))
    except WorkloadError as error:
        raise extra.error(f"desired_allocation: {error}", "write for example '0 2-3'") from None
    if len(wanted) != size:
        raise extra.error(
            f"desired_allocation has {len(wanted)} nodes, the job {size}", "give as many"
        )
    return wanted


class _Profiles:
    """Profiles of a workload by their names, read when a job uses them."""

    def __init__(self, place: JsonValue, points: OpenPoints) -> None:
        self._places = place.members()
        self._points = points
        self._read: dict[tuple[str, int], JobWork] = {}

    def note_unused(self) -> None:
        """Count the profiles that no job has."""
        used = {name for name, _ in self._read}
        self._points.note("profiles that no job has", "not read", len(self._places.keys() - used))

    def work(self, name: str, size: int, user: JsonValue, depth: int = 0) -> JobWork:
        """Return what a profile does on a number of nodes.

        Parameters
        ----------
        name : str
            Of the profile.
        size : int
            Number of nodes.
        user : JsonValue
            The place that names it.
        depth : int
            Number of compositions around it.
        """
        if name not in self._places:
            known = suggestion(name, self._places, "the profiles are")
            raise user.error(f"there is no profile {shown(name)}", known)
        if depth > _DEEPEST:
            raise user.error(
                f"compositions are nested more than {_DEEPEST} deep", "is one part of itself?"
            )
        if (name, size) not in self._read:
            place = self._places[name]
            kind = place.member("type")
            if (means := _KINDS.get(kind.text())) is None:
                remedy = suggestion(kind.text(), _KINDS, "types that are read are")
                raise kind.error(f"profiles of type {shown(kind.text())} are not read", remedy)
            try:
                self._read[name, size] = self._made(means, place, size, depth)
            except WorkloadError as error:  # for products out of range
                raise place.error(str(error), "give smaller amounts") from None
        return self._read[name, size]

    def _made(self, kind: str, place: JsonValue, size: int, depth: int) -> JobWork:
        """Return what a profile of a kind does."""
        match kind:
            case "delay":
                return Delay(place.member("delay").number())
            case "parallel":
                return _parallel(place, size)
            case "homogeneous" | "total":
                share = size if kind == "total" or _spread(place) else 1
                return ParallelWork(*(place.member(key).number() / share for key in _AMOUNTS))
            case "storage":
                return self._storage(place, size)
            case "staging":
                between = "between the shared disk and the first node"
                self._points.note("staging between storages", between)
                ends = place.member("from").text(), place.member("to").text()
                writes = ends[1] == "pfs" or ends[0] != "pfs"
                return DiskTransfer(place.member("nb_bytes").number(), writes=writes, nodes="root")
        times, sequence = place.get("repeat"), place.member("seq")
        parts = (self.work(_identifier(each), size, each, depth + 1) for each in sequence.items())
        if not (made := tuple(parts)):
            raise sequence.error("the sequence is empty", "name at least one profile")
        return Phases(made, 1 if times is None else times.whole(1))

    def _storage(self, place: JsonValue, size: int) -> JobWork:
        """Return reads and writes of a storage by all nodes."""
        nodes = 1 if _spread(place) else size
        label = place.get("storage")
        other = label is not None and label.text() != "pfs"
        self._points.note("profiles with a storage other than pfs", "the shared disk", other)
        read, written = (
            0.0 if (found := place.get(key)) is None else found.number() * nodes
            for key in ("bytes_to_read", "bytes_to_write")
        )
        if (old := place.get("size")) is not None:
            writes = _choice(place.member("direction"), {"to_storage": True, "from_storage": False})
            read, written = (0.0, old.number() * nodes) if writes else (old.number() * nodes, 0.0)
        elif place.get("bytes_to_read") is None is place.get("bytes_to_write"):
            raise place.error("it neither reads nor writes", "add bytes_to_read or bytes_to_write")
        if read and written:
            self._points.note("profiles that read and write", "the read before the write")
            return Phases((DiskTransfer(read), DiskTransfer(written, writes=True)))
        return DiskTransfer(written, writes=True) if written else DiskTransfer(read)


def _parallel(place: JsonValue, size: int) -> JobWork:
    """Return a parallel task of a computation vector and a communication matrix."""
    flop, byte = (tuple(each.number() for each in place.member(key).items()) for key in _AMOUNTS)
    if len(flop) != size or len(byte) != size * size:
        raise place.error(
            f"there are {len(flop)} numbers in cpu and {len(byte)} in com",
            f"for jobs of {size} nodes, give {size} and {size * size}",
        )
    return ParallelWork(flop, byte)


def _spread(place: JsonValue) -> bool:
    """Return True if amounts are those of all nodes together."""
    found = place.get("generation_strategy")
    return found is not None and _choice(found, _SPREAD)


def _choice(place: JsonValue, meanings: dict[str, bool]) -> bool:
    """Return what a word means."""
    if place.text() not in meanings:
        raise place.error(f"this is {shown(place.text())}", f"give one of {', '.join(meanings)}")
    return meanings[place.text()]


_AMOUNTS = ("cpu", "com")
# Names of the types of profiles, by what they mean.
_NAMES = {
    "delay": "delay DelayProfile",
    "parallel": "msg_par parallel ptask ParallelTaskProfile",
    "homogeneous": (
        "msg_par_hg parallel_homogeneous ptask_homogeneous ParallelTaskHomogeneousProfile"
    ),
    "total": "msg_par_hg_tot parallel_homogeneous_total",
    "storage": (
        "msg_par_hg_pfs msg_par_hg_pfs0 parallel_homogeneous_pfs ptask_on_storage_homogeneous "
        "ParallelTaskOnStorageHomogeneousProfile"
    ),
    "staging": (
        "data_staging ptask_data_staging_between_storages "
        "ParallelTaskDataStagingBetweenStoragesProfile"
    ),
    "sequence": "composed sequential_composition SequentialCompositionProfile",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
