"""``[campaign]`` of a campaign file: where results go, and how far a run may go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo

from simplugin.campaigns.named_files import NamedFiles
from simplugin.errors import UnitError
from simplugin.inputs.sections import AnyPath, Section
from simplugin.units import parse_size


def _in_bytes(value: Any) -> Any:
    """Take a text as an amount of memory."""
    if not isinstance(value, str):
        return value
    try:
        size = parse_size(value)
    except UnitError as error:
        raise ValueError(str(error)) from None
    if not math.isfinite(size):
        raise ValueError("leave it out for no limit")
    return round(size)


def _number_or_all(value: Any) -> Any:
    """Refuse what says not how many."""
    if value != "all" and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ValueError("give a number of runs, or 'all'")
    return value


def _matching(value: str, info: ValidationInfo) -> str:
    """Refuse a path or pattern that names no file."""
    directory = (info.context or {}).get("directory", Path())
    if next(NamedFiles(directory).of_path(value), None) is None:
        raise ValueError(
            "it names no file: give a path or a pattern such as 'data/*.csv', relative to the "
            "campaign file; the directory around it, hidden files and stores do not count"
        )
    return value


def _limited(value: Any) -> Any:
    """Take None, which programs have and TOML has not, as no limit."""
    return math.inf if value is None else value


class CampaignSection(Section):
    """``[campaign]`` as it is written.

    Attributes
    ----------
    store : path, optional
        Where results are kept; without, beside the campaign file, with its name.
    wall_limit : float
        Real time that a run may take [s]; ``inf`` for no limit.
    memory_limit : int, optional
        Memory that a run may occupy with all its processes [byte].
    retries : int
        How often a run whose process died is tried again.
    keep : int or "all"
        Of how many runs curves and Gantt charts are kept.
    inputs : list of str
        Paths and patterns of files, besides those that the scenario names, that runs read.
    """

    store: AnyPath | None = None
    wall_limit: Annotated[float, Field(gt=0), BeforeValidator(_limited)] = 3600.0
    memory_limit: Annotated[int, Field(gt=0), BeforeValidator(_in_bytes)] | None = None
    retries: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[int | Literal["all"], PlainValidator(_number_or_all)] = 8
    inputs: list[Annotated[str, AfterValidator(_matching)]] = Field(default_factory=list)

    def settings(self, store: Path, total: int) -> CampaignSettings:
        """Return the settings of a campaign.

        Parameters
        ----------
        store : Path
            Where results are kept if the section does not say.
        total : int
            How many runs there are.
        """
        return CampaignSettings(
            store=self.store or store,
            wall_limit=self.wall_limit if math.isfinite(self.wall_limit) else None,
            memory_limit=self.memory_limit,
            retries=self.retries,
            keep=total if self.keep == "all" else min(self.keep, total),
            inputs=tuple(self.inputs),
        )


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """Where results go, and how far a run may go.

    Attributes
    ----------
    store : Path
        Where results are kept.
    wall_limit : float, optional
        Real time that a run may take [s].
    memory_limit : int, optional
        Memory that a run may occupy with all its processes [byte].
    retries : int
        How often a run whose process died is tried again.
    keep : int
        Of how many runs curves and Gantt charts are kept, spread over the campaign.
    inputs : tuple of str
        Paths and patterns of further files that runs read.
    """

    store: Path
    wall_limit: float | None
    memory_limit: int | None
    retries: int
    keep: int
    inputs: tuple[str, ...]
