"""Campaigns: a scenario and the variations of its runs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack

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
from simplugin.campaigns.keys import digest_of, result_relevant, text_digest
from simplugin.campaigns.running.slurm import SlurmSection
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
from simplugin.scenarios.user_functions import TARGET as FUNCTION_TARGET
from simplugin.scenarios.user_functions import UserFunction

TARGET = "simplugin.scenarios.scenario_runs:run"
# Placeholder file name of campaigns made by programs.
_MADE = "campaign.toml"
# Multiples of the golden ratio, modulo 1, are spread evenly and have no period.
_GOLDEN = (5**0.5 - 1) / 2


class KeepTable(Section):
    """``[campaign.keep]``: selection of the runs that keep curves and charts.

    Attributes
    ----------
    each : str or list of str
        Varied keys: one run for each combination of their values.
    where : dict
        Values of further varied keys; all other swept keys have their first value.
    """

    each: str | Annotated[list[str], Field(min_length=1)]
    where: dict[str, Any] = Field(default_factory=dict)


def _matching(value: str, info: ValidationInfo) -> str:
    """Raise ValueError unless a path or pattern names a file."""
    directory = (info.context or {}).get("directory", Path())
    if next(NamedFiles(directory).of_path(value), None) is None:
        raise ValueError(
            "it names no file: give a path or a pattern such as 'data/*.csv', relative to the "
            "campaign file; the directory around it, hidden files and stores do not count"
        )
    return value


# Programs may give None, which TOML does not have.
_NO_LIMIT = BeforeValidator(lambda value: math.inf if value is None else value)


class CampaignSection(Section):
    """``[campaign]`` of a campaign file.

    Attributes
    ----------
    store : path, optional
        File of the results; by default the path of the campaign file with the suffix ``.sqlite``.
    wall_limit : float
        Maximum real time of a run [s]; ``inf`` for no limit.
    memory_limit : int, optional
        Maximum memory of a run with all its processes [byte].
    retries : int
        Maximum number of retries after the death of a run's process.
    keep : int, "all" or KeepTable
        Number of runs that keep curves, tables and Gantt charts, spread over the campaign; or a
        selection of runs.
    inputs : list of str
        Further files on which results depend: paths, and patterns such as ``["data/*.csv"]``.
    """

    store: AnyPath | None = None
    wall_limit: Annotated[Time, Field(gt=0), _NO_LIMIT] = 3600.0
    memory_limit: Memory | None = None
    retries: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[int, Field(ge=0)] | Literal["all"] | KeepTable = 8
    inputs: list[Annotated[str, AfterValidator(_matching)]] = Field(default_factory=list)

    def kept(self, variations: Variations) -> int | frozenset[int]:
        """Return the number or the positions of the runs that keep curves and Gantt charts.

        Raises
        ------
        SweepError
            `keep` names a key that is not varied.
        """
        if isinstance(self.keep, KeepTable):
            each = [self.keep.each] if isinstance(self.keep.each, str) else self.keep.each
            try:
                return variations.selected(each, flatten("", self.keep.where))
            except InvalidValueError as error:
                message = f"campaign.keep: {error.message}"
                raise SweepError(("campaign", "keep"), message, error.remedy) from None
        return variations.total if self.keep == "all" else min(self.keep, variations.total)


class CampaignSettings(TypedDict, total=False):
    """The keys of ``[campaign]`` as keyword arguments; see `CampaignSection`."""

    store: str | os.PathLike[str]
    wall_limit: float | str | None
    memory_limit: int | str | None
    retries: int
    keep: int | Literal["all"] | Mapping[str, Any]
    inputs: Sequence[str]


class _Variation(Section):
    """One of ``[[variations]]``; all other keys are assignments."""

    model_config = ConfigDict(extra="allow")
    name: Annotated[str, Field(min_length=1)] | None = None
    sweep: dict[str, Any] = Field(default_factory=dict)


class Tables(Section):
    """The tables of a campaign file; those of the scenario are validated with its variations."""

    title: Any = None
    platform: Any = None
    workload: Any = None
    scheduler: Any = None
    simulation: Any = None
    metrics: Any = None
    output: Any = None
    campaign: CampaignSection = CampaignSection()
    slurm: SlurmSection | None = None
    # Read by `simplugin.calibration`.
    calibrate: Any = None
    adversary: Any = None
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
        Title of tables and charts.
    place : Path
        The file that messages name; paths are relative to its directory.
    settings : CampaignSection
        Store, limits, retries, and runs to keep.
    variations : Variations
        The scenario and the variations of its runs.
    keep : int or frozenset of int
        Number or positions of the runs that keep curves and Gantt charts.
    file, text : str
        Path and content of its file; empty if a program made it.
    slurm : SlurmSection, optional
        The jobs of Slurm that can do the runs.
    source : str
        SHA-256 of the text of the file at `place`, or empty; errors of runs get their lines only
        while it is unchanged.
    recipe : mapping
        The document and its file, from which `from_recipe` makes the campaign again.
    trust : tuple of str
        Modules elsewhere that the scenario may name; they are not recorded.
    function : UserFunction, optional
        The function that runs call; its parameters vary.
    store_chosen : bool
        True if a program chose the store, which may then be in any directory.
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
    function: UserFunction | None = None
    store_chosen: bool = False

    @classmethod
    def from_recipe(
        cls, recipe: Mapping[str, Any], text: str, trust: Iterable[str] = ()
    ) -> Campaign:
        """Return a recorded campaign; its files are not checked.

        Raises
        ------
        ScenarioError
            The document is invalid in this version of simplugin.
        """
        file = Path(recipe["file"])
        made = recipe.get("function")
        modules = tuple((name, place) for name, place in made["modules"]) if made else ()
        function = UserFunction(**{**made, "modules": modules}) if made else None
        return _campaign(
            recipe["document"], file, text, function, by_program=not text, check=False, trust=trust
        )

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], file: Path, trust: Iterable[str] = ()
    ) -> Campaign:
        """Return the campaign of the content of a file, of which a part may be left out.

        Raises
        ------
        ScenarioError
            The content is invalid.
        """
        _, text = read_toml(file)
        return _campaign(document, file, text, by_program=False, imports=True, trust=trust)

    @classmethod
    def from_scenario(
        cls,
        scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
        sweep: Mapping[str, Any] | None = None,
        variations: Sequence[Mapping[str, Any]] = (),
        *,
        directory: str | os.PathLike[str] = ".",
        trust: Iterable[str] = (),
        **settings: Unpack[CampaignSettings],
    ) -> Campaign:
        """Return a campaign of a scenario.

        Parameters
        ----------
        scenario : Scenario, path or mapping
            A scenario, its file, or the content of a file.
        sweep : mapping, optional
            The grid: for each dotted key a list, a `range`, an array or
            ``{"from": ..., "to": ...}``.
        variations : sequence of mapping
            The list: dotted keys and values, optionally with ``name`` and ``sweep``.
        directory : path
            Directory to which paths are relative if there is no file.
        trust : iterable of str
            Modules and packages in other places that the scenario may name.
        **settings
            The keys of ``[campaign]``. The default store has the path of the scenario file with the
            suffix ``.sqlite``, or is ``campaign.sqlite`` in `directory`.

        Raises
        ------
        ScenarioError
            The scenario, the sweep or a setting is invalid.
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
                message = f"[{key}] is in the file and is an argument"
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
        **settings: Unpack[CampaignSettings],
    ) -> Campaign:
        """Return a campaign of a function.

        Parameters
        ----------
        function : callable
            ``(parameters) -> metrics``: called with a dict of parameters, returns a dict of
            numbers and texts, or a `simplugin.results.row.Row`. Its code is sent to the run
            processes; a change of the code makes another campaign.
        sweep, variations, directory, **settings
            As in `from_scenario`; keys are the parameters.

        Raises
        ------
        SimpluginError
            The function cannot be sent, or the sweep or a setting is invalid.
        """
        sent = UserFunction.of(function)
        tables = {"sweep": sweep or {}, "variations": list(variations), "campaign": settings}
        document = {"title": sent.name, **file_value(tables)}
        made = _campaign(document, Path(directory, _MADE), "", sent, by_program=True)
        return replace(made, store_chosen=True)

    @property
    def directory(self) -> Path:
        """The directory of its modules, to which its paths are relative."""
        return Path(os.path.abspath(self.place)).parent

    def results(self, store: str | os.PathLike[str] | None = None) -> Path:
        """Return the store: the argument, or else the one of the campaign.

        Raises
        ------
        ScenarioError
            The file names a store outside its directory.
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
        """Target of all jobs."""
        return TARGET if self.function is None else FUNCTION_TARGET

    @property
    def total(self) -> int:
        """Number of runs."""
        return self.variations.total

    @cached_property
    def identity(self) -> str:
        """SHA-256 of the scenario, the variations, the files that they name, and the code."""
        listed = [
            [
                each.name,
                [[list(one.path), one.value] for one in each.settings],
                [axis.document() for axis in each.axes],
            ]
            for each in self.variations.listed
        ]
        grid = [axis.document() for axis in self.variations.grid]
        contents = [self._relevant(self.variations.document), listed, grid]
        return digest_of(contents, self.directory, self.settings.inputs)

    def _relevant(self, document: Mapping[str, Any]) -> Any:
        """Return the data on which the result of a document depends."""
        if self.function is None:
            return result_relevant(document)
        return {"function": self.function.state(), "parameters": document}

    def _key(self, document: Mapping[str, Any]) -> str:
        """Return the key of a run with the current files."""
        return digest_of(self._relevant(document), self.directory, self.settings.inputs)

    def jobs(self) -> Iterator[RunJob]:
        """Yield the jobs in the order of their positions."""
        return map(self.job, range(self.total))

    def job(self, position: int) -> RunJob:
        """Return the job at a position.

        Raises
        ------
        IndexError
            The position does not exist.
        ScenarioError
            A varied key does not exist in the scenario, or a named file cannot be read.
        """
        number, settings = self.variations.point(position)
        return self.job_with(settings, position, self.variations.varied(number, settings))

    def job_with(
        self, settings: Sequence[KeyAssignment], position: int, varied: Mapping[str, Any]
    ) -> RunJob:
        """Return the job in which keys of the scenario are set, as `job` does.

        Parameters
        ----------
        settings : sequence of KeyAssignment
            Keys, values and their places in the file.
        position : int
            Its number.
        varied : mapping
            The keys and values that distinguish it.
        """
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
            varied=varied,
            wall_limit=self.settings.wall_limit,
            memory_limit=self.settings.memory_limit,
        )

    def _arguments(
        self, document: Mapping[str, Any], position: int, settings: Iterable[KeyAssignment]
    ) -> dict[str, Any]:
        """Return the arguments of a run, without the text of the file, which may be long."""
        if self.function is not None:
            function = {"function": self.function.pickled, "places": self.function.places}
            return {"document": document, **function}
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
        """Return the job with its key recomputed from the current files.

        Raises
        ------
        ScenarioError
            A named file cannot be read.
        """
        key = self._key(job.arguments["document"])
        return job if key == job.key else replace(job, key=key)

    def keeps(self, position: int) -> bool:
        """Return True if a run keeps curves and charts; kept runs are spread over equal parts."""
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
        True to check swept values and the existence of named modules; unnecessary for reading
        results.
    imports : bool
        True to import these modules, in order to check functions and their parameters.
    trust : iterable of str
        Further modules and packages whose functions the file may name. Modules in its directory and
        packages that declare themselves need not be listed.

    Raises
    ------
    ScenarioError
        The file cannot be read, has an unknown key or an invalid sweep; if checked, also if a value
        is out of range or a named object is missing; with key, line and remedy.
    """
    file = Path(path)
    document, text = read_toml(file)
    return _campaign(
        document, file, text, by_program=False, check=check, imports=imports, trust=trust
    )


def check_file(
    path: str | os.PathLike[str], *, imports: bool = False, trust: Iterable[str] = ()
) -> list[ScenarioError]:
    """Return all errors of a scenario or campaign file.

    Parameters
    ----------
    path : path
        A TOML file.
    imports, trust
        As in `load_campaign`.
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
    function: UserFunction | None = None,
    *,
    by_program: bool,
    check: bool = True,
    imports: bool = False,
    trust: Iterable[str] = (),
) -> Campaign:
    """Check a document and return its campaign."""
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
