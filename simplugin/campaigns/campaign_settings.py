"""``[campaign]`` of a campaign file: where results go, and how far a run may go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from simplugin.campaigns.sections import AnyPath, Section
from simplugin.errors import UnitError
from simplugin.units import parse_size


def _in_bytes(value: Any) -> Any:
    """Take a text as an amount of memory."""
    if not isinstance(value, str):
        return value
    try:
        return round(parse_size(value))
    except UnitError as error:
        raise ValueError(str(error)) from None


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
    """

    store: AnyPath | None = None
    wall_limit: Annotated[float, Field(gt=0)] = 3600.0
    memory_limit: Annotated[int, Field(gt=0), BeforeValidator(_in_bytes)] | None = None
    retries: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[int, Field(ge=0)] | Literal["all"] = 8

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
    """

    store: Path
    wall_limit: float | None = 3600.0
    memory_limit: int | None = None
    retries: int = 1
    keep: int = 8
