"""Campaigns: a scenario, and how its runs vary."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
    refuse_uncountable,
    refuse_wrong_values,
)
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.keys import determining, digest_of, text_digest
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.campaigns.user_functions import TARGET as OWN_TARGET
from simplugin.campaigns.user_functions import OwnFunction
from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import InputProblem, InvalidValueError, problems_of
from simplugin.inputs.named_files import NamedFiles
from simplugin.inputs.quantities import Memory, Time
from simplugin.inputs.sections import AnyPath, Section, is_below
from simplugin.scenarios.loading import (
    CAMPAIGN_TABLES,
    SCENARIO_KEYS,
    load_scenario,
    read_toml,
    refuse_large_numbers,
)
from simplugin.scenarios.scenario import Scenario, scenario_error
from simplugin.scenarios.substitutions import file_value
from simplugin.scenarios.sweeps import KeyAssignment, SweepError, Variations, flatten, variations_of

TARGET = "simplugin.campaigns.scenario_runs:run"
# What the file of a campaign would be that a program makes.
_MADE = "campaign.toml"
# Parts of the golden ratio are spread evenly however many there are, and follow no period.
_GOLDEN = (5**0.5 - 1) / 2


class KeepTable(Section):
    """``[campaign.keep]``: which runs are kept.

    Attributes
    ----------
    each : str or list of str
        Varied keys: one run for each combination of their values.
    where : dict
        Values of further varied keys; what else is swept has its first value.
    """

    each: str | Annotated[list[str], Field(min_length=1)]
    where: dict[str, Any] = Field(default_factory=dict)


def _matching(value: str, info: ValidationInfo) -> str:
    """Refuse a path or pattern that names no file."""
    directory = (info.context or {}).get("directory", Path())
    if next(NamedFiles(directory).of_path(value), None) is None:
        raise ValueError(
            "it names no file: give a path or a pattern such as 'data/*.csv', relative to the "
            "campaign file; the directory around it, hidden files and stores do not count"
        )
    return value


# None, which programs have and TOML has not.
_NO_LIMIT = BeforeValidator(lambda value: math.inf if value is None else value)


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
    keep : int, "all" or KeepTable
        Of how many runs curves, tables and Gantt charts are kept, one in each equal part of the
        campaign; or of which.
    inputs : list of str
        Paths and patterns such as ``["data/*.csv"]`` of files, besides those that the scenario
        names, that decide what comes out.
    """

    store: AnyPath | None = None
    wall_limit: Annotated[Time, Field(gt=0), _NO_LIMIT] = 3600.0
    memory_limit: Memory | None = None
    retries: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[int, Field(ge=0)] | Literal["all"] | KeepTable = 8
    inputs: list[Annotated[str, AfterValidator(_matching)]] = Field(default_factory=list)

    def kept(self, variations: Variations) -> int | frozenset[int]:
        """Return of how many runs of a campaign, or of which, curves and Gantt charts are kept.

        Raises
        ------
        SweepError
            `keep` names what is not varied.
        """
        if isinstance(self.keep, KeepTable):
            each = [self.keep.each] if isinstance(self.keep.each, str) else self.keep.each
            try:
                return variations.selected(each, flatten("", self.keep.where))
            except InvalidValueError as error:
                message = f"campaign.keep: {error.message}"
                raise SweepError(("campaign", "keep"), message, error.remedy) from None
        return variations.total if self.keep == "all" else min(self.keep, variations.total)


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
    metrics: Any = None
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


@dataclass(frozen=True)
class Campaign:
    """Many runs of a scenario or of a function; a source of jobs.

    Attributes
    ----------
    title : str
        For tables and charts.
    place : Path
        The file that messages are about; paths are relative to its directory.
    settings : CampaignSection
        Where results go, and how far a run may go.
    variations : Variations
        The scenario, and how its runs vary.
    keep : int or frozenset of int
        Of how many runs, spread over the campaign, curves and Gantt charts are kept; or of which.
    file, text : str
        Its file, and the content; empty if a program made it.
    slurm : SlurmSection, optional
        The jobs that a Slurm cluster is asked for.
    source : str
        SHA-256 of the text of the file at `place`; empty if there is none. Runs find the lines of
        their errors by it.
    recipe : mapping
        The document and the file that it belongs to; `from_recipe` makes the campaign again.
    trust : tuple of str
        Modules that its runs may name although they are elsewhere; no store records them.
    function : OwnFunction, optional
        The function that runs call, with what `variations` makes as its parameters.
    store_chosen : bool
        True if a program chose the store, which may then be anywhere.
    """

    title: str
    place: Path
    settings: CampaignSection
    variations: Variations
    keep: int | frozenset[int]
    file: str = ""
    text: str = ""
    slurm: SlurmSection | None = None
    source: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    trust: tuple[str, ...] = ()
    function: OwnFunction | None = None
    store_chosen: bool = False

    @classmethod
    def from_recipe(
        cls, recipe: Mapping[str, Any], text: str, trust: Iterable[str] = ()
    ) -> Campaign:
        """Make a recorded campaign again; its files are not checked.

        Raises
        ------
        ScenarioError
            This version of simplugin refuses the document.
        """
        file = Path(recipe["file"])
        made = recipe.get("function")
        modules = tuple((name, place) for name, place in made["modules"]) if made else ()
        function = OwnFunction(**{**made, "modules": modules}) if made else None
        return _campaign(
            recipe["document"], file, text, function, by_program=not text, check=False, trust=trust
        )

    @classmethod
    def from_scenario(
        cls,
        scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
        sweep: Mapping[str, Any] | None = None,
        variations: Sequence[Mapping[str, Any]] = (),
        *,
        directory: str | os.PathLike[str] = ".",
        trust: Iterable[str] = (),
        **settings: Any,
    ) -> Campaign:
        """Make a campaign in a program.

        Parameters
        ----------
        scenario : Scenario, path or mapping
            A scenario, its file, or what one holds.
        sweep : mapping, optional
            The grid: dotted keys with a list, a `range`, an array or
            ``{"from": ..., "to": ...}`` each.
        variations : sequence of mapping
            The list: dotted keys and values each; ``name`` and ``sweep`` may be among them.
        directory : path
            Where paths of a scenario that is no file start.
        trust : iterable of str
            Modules and packages whose functions it may name wherever they are.
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
            file = Path(directory, _MADE)
        elif isinstance(scenario, Scenario):
            document, text, file = dict(scenario.document), scenario.text, scenario.file
        else:
            file = Path(scenario)
            document, text = read_toml(file)
        for key, given in (("sweep", sweep), ("variations", list(variations))):
            if given and key in document:
                message = f"[{key}] is in the file, and given besides"
                raise ScenarioError(message, file=file, remedy="give it in one place")
            if given:
                document[key] = file_value(given)
        if settings:
            document["campaign"] = {**document.get("campaign", {}), **file_value(settings)}
        made = _campaign(document, file, text, by_program=True, imports=True, trust=trust)
        return replace(made, store_chosen=isinstance(scenario, Mapping) or "store" in settings)

    @classmethod
    def from_function(
        cls,
        function: Callable[[dict[str, Any]], Any],
        sweep: Mapping[str, Any] | None = None,
        variations: Sequence[Mapping[str, Any]] = (),
        *,
        directory: str | os.PathLike[str] = ".",
        **settings: Any,
    ) -> Campaign:
        """Make a campaign of a function.

        Parameters
        ----------
        function : callable
            ``(parameters) -> metrics``: called with what is varied as a dict, returns a dict of
            numbers and texts, or a `simplugin.results.row.Row`. Its code goes to where runs are
            done, and another code is another campaign.
        sweep, variations, directory, **settings
            As in `from_scenario`; keys are the parameters.

        Raises
        ------
        SimpluginError
            Something is wrong with it.
        """
        own = OwnFunction.of(function)
        tables = {"sweep": sweep or {}, "variations": list(variations), "campaign": settings}
        document = {"title": own.name, **file_value(tables)}
        made = _campaign(document, Path(directory, _MADE), "", own, by_program=True)
        return replace(made, store_chosen=True)

    @property
    def directory(self) -> Path:
        """The directory of its modules, to which its paths are relative."""
        return Path(os.path.abspath(self.place)).parent

    def results(self, store: str | os.PathLike[str] | None = None) -> Path:
        """Return where results go: as asked for, else as the file says.

        Raises
        ------
        ScenarioError
            The file names a place that is not below its directory.
        """
        if store is not None:
            return Path(store)
        named = self.settings.store or self.place.with_suffix(".sqlite")
        if not self.store_chosen and not is_below(named, self.directory):
            message = f"campaign.store leads to {str(named)!r}, outside {str(self.directory)!r}"
            problem = InputProblem(("campaign", "store"), message, "give it by --store instead")
            raise scenario_error([problem], self.place, self.text)
        return named

    @property
    def target(self) -> str:
        """The target of all jobs."""
        return TARGET if self.function is None else OWN_TARGET

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
        consists = [self._determining(self.variations.document), listed, grid]
        return digest_of(consists, self.directory, self.settings.inputs)

    def _determining(self, document: Mapping[str, Any]) -> Any:
        """Return what determines what comes out of a document."""
        if self.function is None:
            return determining(document)
        return {"function": self.function.state(), "parameters": document}

    def _key(self, document: Mapping[str, Any]) -> str:
        """Return the key of a run as of now."""
        return digest_of(self._determining(document), self.directory, self.settings.inputs)

    def jobs(self) -> Iterator[RunJob]:
        """Make the jobs, in the order of their positions."""
        return map(self.job, range(self.total))

    def job(self, position: int) -> RunJob:
        """Make one job.

        Raises
        ------
        IndexError
            There is no such position.
        ScenarioError
            A key leads into nothing there, or a file that is named cannot be read.
        """
        number, settings = self.variations.point(position)
        try:
            document = self.variations.scenario(settings)
        except SweepError as error:
            raise scenario_error([error.problem], self.place, self.text) from None
        document.pop("output", None)
        return RunJob(
            key=self._key(document),
            position=position,
            target=self.target,
            arguments=self._arguments(document, position, settings),
            varied=self.variations.varied(number, settings),
            wall_limit=self.settings.wall_limit,
            memory_limit=self.settings.memory_limit,
        )

    def _arguments(
        self, document: Mapping[str, Any], position: int, settings: Iterable[KeyAssignment]
    ) -> dict[str, Any]:
        """Return what a run is given; the text of the file would be too much."""
        if self.function is not None:
            own = {"function": self.function.pickled, "places": self.function.places}
            return {"document": document, **own}
        found = {
            "document": document,
            "directory": str(self.directory),
            "name": self.place.name,
            "keep": self.keeps(position),
        }
        if self.source:
            found["source"] = self.source
            found["settings"] = [[list(each.path), list(each.source)] for each in settings]
        if self.settings.inputs:
            found["inputs"] = self.settings.inputs
        if self.trust:
            found["trust"] = list(self.trust)
        return found

    def again(self, job: RunJob) -> RunJob:
        """Return the same job as of now: with another key if a file has changed.

        Raises
        ------
        ScenarioError
            A file that it names cannot be read.
        """
        key = self._key(job.arguments["document"])
        return job if key == job.key else replace(job, key=key)

    def keeps(self, position: int) -> bool:
        """Return True if curves and the chart of a run are kept.

        Of a number of runs that are kept, each is one of an equal part of the campaign.
        """
        keep, total = self.keep, self.total
        if isinstance(keep, frozenset):
            return position in keep
        if not keep:
            return False
        part = position * keep // total
        first, end = -(-part * total // keep), -(-(part + 1) * total // keep)
        return position == first + int(part * _GOLDEN % 1 * (end - first))


def load_campaign(
    path: str | os.PathLike[str],
    *,
    check: bool = True,
    imports: bool = False,
    trust: Iterable[str] = (),
) -> Campaign:
    """Read a campaign file.

    Parameters
    ----------
    path : path
        A TOML file: a scenario, which may also have ``[campaign]``, ``[sweep]``,
        ``[[variations]]`` and ``[slurm]``.
    check : bool
        True if to try the values that are swept, and to look for the modules that are named; who
        only asks what is recorded need not.
    imports : bool
        True if to import these modules, which checks functions and their parameters.
    trust : iterable of str
        Modules and packages whose functions it may name besides those of modules beside it and of
        packages that declare themselves.

    Raises
    ------
    ScenarioError
        It cannot be read, has an unknown key, or sweeps what makes no sense; if checked, also if a
        value is out of range or what it names is not there; with key, line and remedy.
    """
    file = Path(path)
    document, text = read_toml(file)
    return _campaign(
        document, file, text, by_program=False, check=check, imports=imports, trust=trust
    )


def check_file(
    path: str | os.PathLike[str], *, imports: bool = False, trust: Iterable[str] = ()
) -> list[ScenarioError]:
    """Return everything that is wrong with a scenario or campaign file, one error each.

    Parameters
    ----------
    path : path
        A TOML file.
    imports, trust
        As `load_campaign` takes them.
    """
    names = tuple(trust)
    try:
        campaign = load_campaign(path, imports=imports, trust=names)
        campaign.results()
        if not any(name in campaign.recipe["document"] for name in CAMPAIGN_TABLES):
            load_scenario(path, trust=names).refuse_stray_outputs()
    except ScenarioError as error:
        return list(error.all_errors) or [error]
    return []


def _campaign(
    document: Mapping[str, Any],
    file: Path,
    text: str,
    function: OwnFunction | None = None,
    *,
    by_program: bool,
    check: bool = True,
    imports: bool = False,
    trust: Iterable[str] = (),
) -> Campaign:
    """Check a campaign, wherever it is from."""
    refuse_large_numbers(document, file, text)
    tables = Tables.of(document, file, text)
    scenario = {key: value for key, value in document.items() if key in SCENARIO_KEYS}
    try:
        variations = variations_of(scenario, tables.sweep, document.get("variations", []))
        keep = tables.campaign.kept(variations)
    except SweepError as error:
        raise scenario_error([error.problem], file, text) from None
    refuse_uncountable(variations, file, text)
    trust = tuple(trust)
    if check and function is None:
        refuse_wrong_values(variations, file, text, trust, imports=imports)
    return Campaign(
        title=document.get("title", ""),
        place=file,
        settings=tables.campaign,
        variations=variations,
        keep=keep,
        file="" if by_program else os.path.abspath(file),
        text="" if by_program else text,
        slurm=tables.slurm,
        source=text_digest(text) if text else "",
        recipe={"document": document, "file": os.path.abspath(file)}
        | ({"function": asdict(function)} if function is not None else {}),
        function=function,
        trust=trust,
    )
