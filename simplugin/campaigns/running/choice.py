"""Who does the jobs of a campaign: what the options of the commands choose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from simplugin.campaigns.jobs import Runners
from simplugin.errors import SetupError

if TYPE_CHECKING:
    from simplugin.campaigns.running.slurm import SlurmSection


@contextmanager
def chosen_runners(
    jobs: int | None = None,
    scheduler: str | None = None,
    slurm: SlurmSection | None = None,
) -> Iterator[Runners]:
    """Start those who do jobs; afterwards end what they still do, and a cluster made for them.

    Parameters
    ----------
    jobs : int, optional
        Processes of this host; without, one for each core that this process may use.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster that runs, for instance
        ``tcp://10.0.0.1:8786``: its workers do the jobs.
    slurm : SlurmSection, optional
        Jobs that Slurm is asked for: they do the jobs as the workers of a Dask cluster, which
        ends with them.

    Yields
    ------
    Runners
        Those who do jobs.

    Raises
    ------
    SetupError
        More than one of the three is given, or the cluster cannot be used.
    """
    given = {"jobs": jobs, "scheduler": scheduler, "slurm": slurm}
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise SetupError(
            f"{' and '.join(named)} exclude each other; --jobs counts processes of this host, "
            "the workers of a Dask cluster are counted where they are started, and those of "
            "Slurm in [slurm] of the campaign file"
        )
    if slurm is not None:
        from simplugin.campaigns.running.dask_runners import DaskRunners
        from simplugin.campaigns.running.slurm import keep_up, slurm_cluster

        with (
            slurm_cluster(slurm) as cluster,
            closing(DaskRunners(cluster, keep_up=partial(keep_up, cluster, slurm.jobs))) as runners,
        ):
            yield runners
    elif scheduler is not None:
        from simplugin.campaigns.running.dask_runners import DaskRunners

        with closing(DaskRunners(scheduler)) as runners:
            yield runners
    else:
        from simplugin.campaigns.running.local import LocalRunners

        with closing(LocalRunners(jobs)) as local:
            yield local
