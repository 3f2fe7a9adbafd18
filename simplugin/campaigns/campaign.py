"""Campaigns: a scenario, and how its runs vary."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)

from simplugin.campaigns.campaign_checks import (
    refuse_large_numbers,
    refuse_uncountable,
    refuse_wrong_values,
    text_digest,
)
from simplugin.campaigns.jobs import Job
from simplugin.campaigns.keys import Keys, determining
from simplugin.campaigns.named_files import NamedFiles
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.errors import ScenarioError
from simplugin.inputs.messages import problems_of
from simplugin.inputs.quantities import Memory, Time
from simplugin.inputs.sections import AnyPath, Section
from simplugin.scenarios.scenario import SCENARIO_KEYS, read_toml, scenario_error
from simplugin.scenarios.substitutions import plain
from simplugin.scenarios.sweeps import SweepError, Variations, variations_of

TARGET = "simplugin.campaigns.scenario_runs:run"
_STORE = "campaign.sqlite"
# Parts of the golden ratio are spread evenly however many there are, and follow no period.
_GOLDEN = (5**0.5 - 1) / 2


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
    """``[campaign]`` of a campaign file.

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
        Of how many runs curves, tables and Gantt charts are kept, one in each equal part of the
        campaign.
    inputs : list of str
        Paths and patterns such as ``["data/*.csv"]`` of files, besides those that the scenario
        names, that decide what comes out.
    """

    store: AnyPath | None = None
    wall_limit: Annotated[Time, Field(gt=0), BeforeValidator(_limited)] = 3600.0
    memory_limit: Memory | None = None
    retries: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[int, Field(ge=0)] | Literal["all"] = 8
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


class _Variation(Section):
    """One of ``[[variations]]``; further keys are those that it sets."""

    model_config = ConfigDict(extra="allow")
    name: Annotated[str, Field(min_length=1)] | None = None
    sweep: dict[str, Any] = Field(default_factory=dict)


class Tables(Section):
    """The tables of a campaign file; those of its scenario are validated with values put in."""

    title: Any = None
    platform: Any = None
    workload: Any = None
    scheduler: Any = None
    simulation: Any = None
    output: Any = None
    campaign: CampaignSection = CampaignSection()
    slurm: SlurmSection | None = None
    sweep: dict[str, Any] = Field(default_factory=dict)
    variations: list[_Variation] = Field(default_factory=list)

    @classmethod
    def of(cls, document: Mapping[str, Any], file: Path, text: str) -> Tables:
        """Return the tables of a document.

        Raises
        ------
        ScenarioError
            A key is unknown, or a value of a campaign's own tables is invalid.
        """
        try:
            return cls.model_validate(document, context={"directory": file.parent})
        except ValidationError as error:
            raise scenario_error(problems_of(error, cls, document), file, text) from None


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """The store of a campaign, and limits of its runs.

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


@dataclass(frozen=True)
class Campaign:
    """Many runs of a scenario; a source of jobs.

    Attributes
    ----------
    title : str
        For tables and charts.
    place : Path
        The file that messages are about; paths are relative to its directory.
    settings : CampaignSettings
        Where results go, and how far a run may go.
    variations : Variations
        The scenario, and how its runs vary.
    file, text : str
        Its file, and the content; empty if a program made it.
    slurm : SlurmSection, optional
        The jobs that a Slurm cluster is asked for.
    source : str
        SHA-256 of the text of the file at `place`; empty if there is none. Runs find the lines of
        their errors by it.
    recipe : mapping
        The document and the file that it belongs to; `from_recipe` makes the campaign again.
    """

    target = TARGET

    title: str
    place: Path
    settings: CampaignSettings
    variations: Variations
    file: str = ""
    text: str = ""
    slurm: SlurmSection | None = None
    source: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any], text: str) -> Campaign:
        """Make a recorded campaign again; its files are not checked.

        Raises
        ------
        ScenarioError
            This version of simplugin refuses the document.
        """
        file = Path(recipe["file"])
        return _campaign(recipe["document"], file, text, by_program=not text, check=False)

    @classmethod
    def from_scenario(
        cls,
        scenario: str | os.PathLike[str] | Mapping[str, Any],
        sweep: Mapping[str, Any] | None = None,
        variations: Sequence[Mapping[str, Any]] = (),
        *,
        directory: str | os.PathLike[str] = ".",
        **settings: Any,
    ) -> Campaign:
        """Make a campaign in a program.

        Parameters
        ----------
        scenario : path or mapping
            A scenario file, or what one holds.
        sweep : mapping, optional
            The grid: dotted keys with a list, a `range`, an array or
            ``{"from": ..., "to": ...}`` each.
        variations : sequence of mapping
            The list: dotted keys and values each; ``name`` and ``sweep`` may be among them.
        directory : path
            Where paths of a scenario that is no file start.
        **settings
            The keys of ``[campaign]``: ``store``, ``wall_limit``, ``memory_limit``, ``retries``,
            ``keep``, ``inputs``. Without `store` results are beside the scenario file, with its
            name; those of a scenario that is no file in ``campaign.sqlite`` in `directory`.

        Raises
        ------
        ScenarioError
            Something is wrong with it.
        """
        if isinstance(scenario, Mapping):
            document, text = dict(scenario), ""
            file = Path(directory) / Path(_STORE).with_suffix(".toml")
        else:
            file = Path(scenario)
            document, text = read_toml(file)
        for key, given in (("sweep", sweep), ("variations", list(variations))):
            if given and key in document:
                message = f"[{key}] is in the file, and given besides"
                raise ScenarioError(message, file=file, remedy="give it in one place")
            if given:
                document[key] = plain(given)
        if settings:
            document["campaign"] = {**document.get("campaign", {}), **plain(settings)}
        return _campaign(document, file, text, by_program=True)

    @property
    def directory(self) -> Path:
        """The directory of its modules, to which its paths are relative."""
        return Path(os.path.abspath(self.place)).parent

    @property
    def total(self) -> int:
        """The number of runs."""
        return self.variations.total

    @cached_property
    def identity(self) -> str:
        """SHA-256 of what it consists of: scenario, variations, files that they name, code."""
        listed = [
            [
                each.name,
                [[list(one.path), one.value] for one in each.settings],
                [axis.document() for axis in each.axes],
            ]
            for each in self.variations.listed
        ]
        grid = [axis.document() for axis in self.variations.grid]
        consists = [determining(self.variations.document), listed, grid]
        return self._keys.digest_of(consists, self.settings.inputs)

    def jobs(self) -> Iterator[Job]:
        """Make the jobs, in the order of their positions."""
        return map(self.job, range(self.total))

    def job(self, position: int) -> Job:
        """Make one job.

        Raises
        ------
        IndexError
            There is no such position.
        ScenarioError
            A key leads into nothing there, or a file that is named cannot be read.
        """
        point = self.variations.point(position)
        try:
            document = self.variations.scenario(point.settings)
        except SweepError as error:
            raise scenario_error([error.problem], self.place, self.text) from None
        document.pop("output", None)
        return Job(
            key=self._keys.key(document, self.settings.inputs),
            position=position,
            target=TARGET,
            arguments=self._arguments(document, position),
            varied=self.variations.varied(point),
            wall_limit=self.settings.wall_limit,
            memory_limit=self.settings.memory_limit,
        )

    def _arguments(self, document: Mapping[str, Any], position: int) -> dict[str, Any]:
        """Return what a run is given; the text of the file would be too much."""
        found = {
            "document": document,
            "directory": str(self.directory),
            "name": self.place.name,
            "keep": self.keeps(position),
        }
        if self.source:
            found["source"] = self.source
        if self.settings.inputs:
            found["inputs"] = list(self.settings.inputs)
        return found

    def again(self, job: Job) -> Job:
        """Return the same job as of now: with another key if a file has changed.

        Raises
        ------
        ScenarioError
            A file that it names cannot be read.
        """
        key = self._keys.key_of_run(job.arguments)
        return job if key == job.key else replace(job, key=key)

    def keeps(self, position: int) -> bool:
        """Return True if curves and the chart of a run are kept: one run in each equal part."""
        keep, total = self.settings.keep, self.total
        if not keep:
            return False
        part = position * keep // total
        first, end = -(-part * total // keep), -(-(part + 1) * total // keep)
        return position == first + int(part * _GOLDEN % 1 * (end - first))

    @cached_property
    def _keys(self) -> Keys:
        """Computes keys; knows the files that it has read."""
        return Keys(self.directory)


def load_campaign(path: str | os.PathLike[str], *, check: bool = True) -> Campaign:
    """Read a campaign file.

    Parameters
    ----------
    path : path
        A TOML file: a scenario, which may also have ``[campaign]``, ``[sweep]``,
        ``[[variations]]`` and ``[slurm]``.
    check : bool
        True if to try the values that are swept, and to import the modules that are named; who
        only asks what is recorded need not.

    Raises
    ------
    ScenarioError
        It cannot be read, has an unknown key, or sweeps what makes no sense; if checked, also if a
        value is out of range or what it names is not there; with key, line and remedy.
    """
    file = Path(path)
    document, text = read_toml(file)
    return _campaign(document, file, text, by_program=False, check=check)


def _campaign(
    document: Mapping[str, Any], file: Path, text: str, *, by_program: bool, check: bool = True
) -> Campaign:
    """Check a campaign, wherever it is from."""
    refuse_large_numbers(document, file, text)
    tables = Tables.of(document, file, text)
    scenario = {key: value for key, value in document.items() if key in SCENARIO_KEYS}
    try:
        variations = variations_of(scenario, tables.sweep, document.get("variations", []))
    except SweepError as error:
        raise scenario_error([error.problem], file, text) from None
    refuse_uncountable(variations, file, text)
    if check:
        refuse_wrong_values(variations, file, text)
    return Campaign(
        title=document.get("title", ""),
        place=file,
        settings=tables.campaign.settings(file.with_suffix(".sqlite"), variations.total),
        variations=variations,
        file="" if by_program else os.path.abspath(file),
        text="" if by_program else text,
        slurm=tables.slurm,
        source=text_digest(text) if text else "",
        recipe={"document": document, "file": os.path.abspath(file)},
    )
