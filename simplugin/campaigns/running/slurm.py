"""The workers of a campaign as jobs of Slurm: ``[slurm]`` of a campaign file."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import Field

from simplugin.core.errors import SetupError
from simplugin.inputs.sections import AnyPath, Section

_log = logging.getLogger(__name__)


class SlurmSection(Section):
    """``[slurm]``: jobs of Slurm that do the runs; names as in ``dask_jobqueue.SLURMCluster``.

    Attributes
    ----------
    jobs : int
        Number of jobs; each is one worker.
    cores : int
        Cores of a job; the number of its simultaneous runs.
    memory : str
        Memory of a job for all its runs, for instance ``"8GB"``.
    walltime : str, optional
        Time limit of a job in Slurm's format (``"02:00:00"``); 30 minutes by default. Jobs that
        end are replaced.
    queue, account : str, optional
        Partition and account.
    interface : str, optional
        Network interface for scheduler and workers, for instance ``"ib0"``.
    job_extra_directives : list of str
        Additional lines after ``#SBATCH``.
    job_directives_skip : list of str
        Texts; lines of the script that contain one of them are removed.
    job_script_prologue : list of str
        Shell commands before the worker starts, for instance ``"module load gcc"``.
    worker_extra_args : list of str
        Additional options of ``dask worker``.
    python : str, optional
        The interpreter; by default the one of the campaign.
    shebang : str, optional
        First line of the script.
    log_directory, local_directory : path, optional
        Directories of the output of the jobs, and of temporary files of the workers.
    """

    jobs: Annotated[int, Field(ge=1)] = 1
    cores: Annotated[int, Field(ge=1)] = 1
    memory: Annotated[str, Field(pattern=r"^[0-9.]+ ?[kKMGTP]i?B$")] = "4GB"
    walltime: Annotated[str, Field(pattern=r"^([0-9]+-)?[0-9]+(:[0-9]+){0,2}$")] | None = None
    queue: str | None = None
    account: str | None = None
    interface: str | None = None
    job_extra_directives: list[str] = Field(default_factory=list)
    job_directives_skip: list[str] = Field(default_factory=list)
    job_script_prologue: list[str] = Field(default_factory=list)
    worker_extra_args: list[str] = Field(default_factory=list)
    python: str | None = None
    shebang: str | None = None
    log_directory: AnyPath | None = None
    local_directory: AnyPath | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for ``SLURMCluster``."""
        given = self.model_dump(exclude={"jobs"}, exclude_none=True)
        # -P: a file of the current directory must not shadow a module of Dask.
        given["python"] = f"{self.python or sys.executable} -P"
        for name in ("log_directory", "local_directory"):
            if name in given:
                given[name] = str(given[name].resolve())
        return given


@contextmanager
def slurm_cluster(section: SlurmSection) -> Iterator[Any]:
    """Start a Dask cluster with jobs of Slurm as workers; end it and its jobs afterwards.

    The scheduler runs in this process: jobs that outlive it end when they cannot connect.

    Parameters
    ----------
    section : SlurmSection
        The jobs.

    Yields
    ------
    dask_jobqueue.SLURMCluster
        The cluster; its workers join when Slurm starts their jobs.

    Raises
    ------
    SetupError
        dask-jobqueue is not installed, there is no Slurm here, or it refuses such jobs.
    """
    cluster = _cluster(section)
    try:
        script = cluster.job_script()
        _log.info("each of %d jobs of Slurm:\n%s", section.jobs, script)
        # Check that Slurm accepts such jobs.
        answer = subprocess.run(
            ["sbatch", "--test-only"], input=script, capture_output=True, text=True, check=False
        )
        if answer.returncode:
            raise SetupError(
                f"Slurm refuses the jobs: {answer.stderr.strip()}; change [slurm] of the campaign "
                f"file. The script was:\n{script}"
            )
        cluster.scale(jobs=section.jobs)
        yield cluster
    finally:
        cluster.close()


def _cluster(section: SlurmSection) -> Any:
    """Start the scheduler, without jobs yet."""
    if shutil.which("sbatch") is None:
        raise SetupError(
            "there is no sbatch here; --slurm works on hosts from which jobs of Slurm are "
            "submitted, --scheduler ADDRESS with any Dask cluster"
        )
    from simplugin.campaigns.running.dask_runners import load_quietly

    load_quietly()
    try:
        import dask_jobqueue
    except ImportError as error:
        raise SetupError(
            f"dask-jobqueue is not installed here ({error}); pip install 'simplugin[slurm]'"
        ) from error
    make: Any = dask_jobqueue.SLURMCluster  # type: ignore[attr-defined] # it has no types
    return make(
        **section.arguments(),
        # Its threads only wait for the processes that do the runs.
        processes=1,
        job_name="simplugin",
        silence_logs="critical",
        # No web pages; the port that Dask opens anyway is a free one.
        scheduler_options={"dashboard": False, "dashboard_address": ":0"},
    )


def replace_lost_workers(cluster: Any, jobs: int, workers: int) -> None:
    """Submit jobs again that ended or were rejected, if there are fewer `workers` than `jobs`."""
    if workers >= jobs:
        return
    for name, job in list(cluster.workers.items()):
        if job.job_id is None:
            del cluster.workers[name]
    cluster.scale(jobs=jobs)
