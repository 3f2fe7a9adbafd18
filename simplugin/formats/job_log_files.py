"""Logs of batch jobs from files of any format that is read."""

from __future__ import annotations

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.formats.batsim import read_batsim
from simplugin.formats.elastisim import read_elastisim
from simplugin.formats.sacct import Size, read_sacct
from simplugin.formats.swf import read_swf
from simplugin.inputs.documents import JsonValue, read_json
from simplugin.inputs.files import FilePath, unpacked_name
from simplugin.workloads.batch_jobs import JobLog
from simplugin.workloads.job_logs import trace_jobs


def read_job_log(path: FilePath, *, size: Size = "nodes", lenient: bool = False) -> JobLog:
    """Read batch jobs.

    The format follows from the end of the name, without that of a compression: ``.swf`` is the
    Standard Workload Format (`read_swf`, `trace_jobs`), ``.json`` a workload of Batsim
    (`read_batsim`) or, if it has no profiles, a jobs file of ElastiSim (`read_elastisim`);
    all others are tables of ``sacct`` (`read_sacct`).

    Parameters
    ----------
    path : path
        The file, perhaps compressed.
    size : {"nodes", "cores"}
        What a node of the log is, in tables of sacct.
    lenient : bool
        As for `read_swf` and `read_elastisim`.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    """
    match unpacked_name(path).suffix.lower():
        case ".swf":
            try:
                return trace_jobs(read_swf(path, lenient=lenient))
            except WorkloadError as error:
                raise WorkloadFileError(str(error), file=path, remedy="add these fields") from None
        case ".json":
            document = read_json(path, WorkloadFileError)
            root = JsonValue(document, (), document.content)
            if root.get("profiles") is None and root.member("jobs").items():
                return read_elastisim(path, lenient=lenient)
            return read_batsim(path)
    return read_sacct(path, size=size)
