"""Sections that every scenario has, and the types of their values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from simplugin.inputs.quantities import POSITIVE, Time

# Python recurses over the directories; Linux takes 255 byte a name, ends of ours included.
_LONGEST, _LONGEST_NAME = 1000, 240


def _located(value: Any, info: ValidationInfo) -> Path:
    """Return a path, relative to the directory of the scenario file."""
    if not isinstance(value, str) or not value:
        raise ValueError("give a path as a text")
    if "\0" in value or (not value.isascii() and value.encode(errors="replace").decode() != value):
        raise ValueError("no path has a null byte, or half of a surrogate pair; remove it")
    if len(value) > _LONGEST or max(map(len, value.encode().split(b"/"))) > _LONGEST_NAME:
        remedy = f"give a path of at most {_LONGEST} letters, and {_LONGEST_NAME} byte a name"
        raise ValueError(remedy)
    directory: Path = (info.context or {}).get("directory", Path())
    return directory / Path(value).expanduser()


def _existing(value: Any, info: ValidationInfo) -> Path:
    """Return the path of a file; raise ValueError if it is missing."""
    path = _located(value, info)
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}; paths are relative to the scenario file")
    return path


def is_below(path: Path, directory: Path) -> bool:
    """Return True if a path is in a directory or below, links followed."""
    return path.resolve().is_relative_to(directory.resolve())


def _reference(value: str) -> str:
    """Raise ValueError unless a text names a function."""
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", value) is None:
        raise ValueError("write 'module:function'")
    return value


AnyPath = Annotated[Path, BeforeValidator(_located)]
ExistingFile = Annotated[Path, BeforeValidator(_existing)]
Reference = Annotated[str, AfterValidator(_reference)]


class Section(BaseModel):
    """A table without unknown keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True
    )


class PlatformSection(Section):
    """``[platform]``: the file or generator of the platform.

    Attributes
    ----------
    file : path, optional
        A SimGrid platform file.
    generator : str, optional
        Instead of a file: a shipped generator, or ``module:function`` of a user's own.
    parameters : dict
        The keyword arguments of the generator.
    seed : int, optional
        Its keyword argument `seed`.
    """

    file: ExistingFile | None = None
    generator: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | None = None

    @field_validator("seed")
    @classmethod
    def _one_seed(cls, seed: int | None, info: ValidationInfo) -> int | None:
        """Raise ValueError if `parameters` has a seed, too."""
        if seed is not None and "seed" in info.data.get("parameters", {}):
            raise ValueError(
                "the seed is given twice, in [platform] and among its parameters; remove one"
            )
        return seed

    @model_validator(mode="after")
    def _one_source(self) -> PlatformSection:
        """Raise ValueError unless there is one source."""
        if (self.file is None) == (self.generator is None):
            raise ValueError("give either a file or a generator")
        if self.generator is None and ("parameters" in self.model_fields_set or self.seed):
            raise ValueError("parameters and seed go with a generator, not with a file")
        return self

    @property
    def is_given(self) -> bool:
        """False for the section of a scenario without platform."""
        return self.file is not None or self.generator is not None


def _metric(value: str) -> str:
    """Raise ValueError unless a text is "makespan" or names a function."""
    return value if value == "makespan" else _reference(value)


class LookaheadSection(Section):
    """``[scheduler.lookahead]``: try other decisions in copies of the simulation, take the best.

    Attributes
    ----------
    base : str, optional
        ``module:function``: returns the index of an option of a `Choice`, in the copies too; by
        default the scheduler decides.
    metric : str
        The measure that is to be small: ``makespan``, or ``module:function`` of a `Result`.
    candidates : str, optional
        ``module:function``: returns the indices of the options of a `Choice` to try, the best
        first.
    most : int, optional
        Options to try at each choice, the base's own included: 1 for none but that.
    seconds : float, optional
        Real time for each choice [s]. Results then depend on the speed of the machine.
    workers : int, optional
        Copies at a time; by default the number of cores.
    """

    base: Reference | None = None
    metric: Annotated[str, AfterValidator(_metric)] = "makespan"
    candidates: Reference | None = None
    most: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[Time, POSITIVE] | None = None
    workers: Annotated[int, Field(ge=1)] | None = None


class SchedulerSection(Section):
    """``[scheduler]``: the policy, shipped or ``module:function``, and its parameters.

    Attributes
    ----------
    name : str
        ``capability.policy``, or ``module:function``; empty for kinds of workload that take none.
    parameters : dict
        Its keyword arguments, and those of its execution.
    verify : bool
        True to solve the models of the optima in cvxpy as well, and compare the values.
    lookahead : LookaheadSection, optional
        For task graphs, bags and jobs: rollouts of the scheduler's decisions.
    """

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    verify: bool = False
    lookahead: LookaheadSection | None = None
