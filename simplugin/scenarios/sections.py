"""The sections ``[simulation]`` and ``[output]`` of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)

from simplugin.core.errors import SimpluginError
from simplugin.inputs.messages import InputProblem, InvalidValueError
from simplugin.inputs.quantities import POSITIVE, Memory, Time
from simplugin.inputs.sections import AnyPath, Reference, Section, is_below
from simplugin.inputs.validation import table
from simplugin.simulation.options import SimGridOptions, SimulationOptions

NEED_TRACE = ("trace", "gantt")
# SimGrid's own trace goes to this file.
TRACE_FILE = "tracing/filename"
BELOW = "name a file below the current directory"


def _option(name: str) -> Any:
    """Return the type of a SimGrid option."""

    def checked(value: Any) -> Any:
        """Raise unless an option is valid and its trace file is below the current directory."""
        trace = value.get(TRACE_FILE) if isinstance(value, Mapping) else None
        if isinstance(trace, str) and not is_below(Path(trace), Path()):
            raise InvalidValueError(f"{{key}} is {trace!r}", BELOW, (TRACE_FILE,))
        try:
            SimGridOptions(**{name: value})
        except (SimpluginError, TypeError, AttributeError) as error:
            raise InvalidValueError("{key}" + str(error).removeprefix(name)) from None
        return value

    return Annotated[Any, PlainValidator(checked)]


if TYPE_CHECKING:
    SimGridTable = SimGridOptions
    SimulationTable = SimulationOptions
else:
    SimGridTable = table(
        SimGridOptions, **{each.name: _option(each.name) for each in fields(SimGridOptions)}
    )
    # Files give numbers with units; some options can be given in Python only.
    _TYPES = get_type_hints(SimulationOptions) | {
        "seed": Annotated[int, Field(ge=0)],
        "until": Annotated[Time, Field(ge=0)] | None,
        "wall_limit": Annotated[Time, POSITIVE] | None,
        "memory_limit": Memory | None,
        "trace_limit": Memory | None,
        "options": SimGridTable,
    }
    _PYTHON_ONLY = ("progress", "callbacks", "debug", "chooser")
    SimulationTable = table(
        SimulationOptions,
        **{name: kind for name, kind in _TYPES.items() if name not in _PYTHON_ONLY},
    )


def _joined(value: Any) -> Any:
    """Return several choices of hosts as one text."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if not isinstance(value, str) or not value:
        raise ValueError("give a choice of hosts, such as 'worker-*', or a list of these")
    return value


# As `simplugin.platforms.host_choices.HostChoice.chosen` takes it.
Hosts = Annotated[str, BeforeValidator(_joined)]


class MetricTable(Section):
    """One of ``[metrics]``; without `value` and `measure` it describes an existing metric.

    Attributes
    ----------
    value : str, optional
        Name or pattern of actors; after dots, keys into their returned values.
    measure : str, optional
        A measure of hosts.
    hosts : str, optional
        Hosts to measure, or hosts of the actors; by default all.
    combine : str, optional
        Combination of several values; ``each`` for one metric for each host.
    unit : str, optional
        SimGrid's symbol.
    better : {"less", "more"}, optional
        The direction of improvement.
    """

    value: str | None = None
    measure: str | None = None
    hosts: Hosts | None = None
    combine: Literal["sum", "mean", "median", "min", "max", "count", "each"] | None = None
    unit: str | None = None
    better: Literal["less", "more"] | None = None

    @field_validator("measure")
    @classmethod
    def _known_measure(cls, measure: str) -> str:
        """Raise ValueError if there is no such measure of hosts."""
        from simplugin.simulation.metrics import HOST_MEASURES

        if measure not in HOST_MEASURES:
            raise ValueError(f"give one of {', '.join(HOST_MEASURES)}")
        return measure

    @model_validator(mode="after")
    def _one_source(self) -> MetricTable:
        """Raise ValueError for two sources, or for keys that need one."""
        if self.value is not None and self.measure is not None:
            raise ValueError("give either value or measure")
        if self.value is None and self.measure is None and (self.hosts or self.combine):
            raise ValueError("hosts and combine go with value or measure; give one of them")
        if self.measure is not None and self.unit is not None:
            raise ValueError("remove unit: that of a measure is known")
        return self

    @property
    def sense(self) -> Literal["min", "max"] | None:
        """The direction of improvement as in `Metric`."""
        return None if self.better is None else "min" if self.better == "less" else "max"


class MetricsSection(Section):
    """``[metrics]``: metrics of a run in addition to those of its kind.

    Attributes
    ----------
    function : str, optional
        ``module:function``, `(result) -> mapping` of names to numbers or texts.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, MetricTable]

    function: Reference | None = None

    @property
    def tables(self) -> Mapping[str, MetricTable]:
        """The metrics by name."""
        return self.__pydantic_extra__


class OutputSection(Section):
    """``[output]``: the output files.

    Attributes
    ----------
    directory : path, optional
        Directory of the outputs; by default that of the scenario file.
    result : str, optional
        The row, totals and returned values as JSON.
    trace : str, optional
        Activities as CSV, Parquet or, for Perfetto, JSON, by the suffix.
    gantt : str, optional
        The Gantt chart as PNG, SVG or PDF, by the suffix.
    curves : str, optional
        Curves over the rounds, likewise.
    graphs : str, optional
        Task graphs, likewise.
    """

    directory: AnyPath | None = None
    result: str | None = None
    trace: str | None = None
    gantt: str | None = None
    curves: str | None = None
    graphs: str | None = None

    @field_validator("result", "trace", "gantt", "curves", "graphs")
    @classmethod
    def _known_format(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Refuse a suffix that names no format."""
        suffixes = FORMATS[str(info.field_name)]
        if value is not None and Path(value).suffix.lower() not in suffixes:
            raise ValueError(f"end the file's name with {' or '.join(suffixes)}")
        return value

    def relocated(self, directory: Path, wanted: Iterable[str]) -> OutputSection:
        """Return the section for writing to another directory.

        Parameters
        ----------
        directory : Path
            Relative to the current directory.
        wanted : iterable of str
            Outputs that get a default file name if the section gives none.
        """
        named = {name: getattr(self, name) or DEFAULT_FILES[name] for name in wanted}
        return self.model_copy(update={"directory": directory, **named})

    def strays(self, directory: Path) -> Iterator[InputProblem]:
        """Yield paths that leave the output directory, links followed.

        Parameters
        ----------
        directory : Path
            The directory that must contain the output directory.
        """
        place = self.directory or directory
        paths = [("directory", place, directory)]
        files = [(name, getattr(self, name)) for name in FORMATS]
        paths += [(name, place / file, place) for name, file in files if file is not None]
        for name, path, around in paths:
            if not is_below(path, around):
                message = f"output.{name} leads to {str(path)!r}, outside {str(around)!r}"
                remedy = "name a place below it; or give the output directory by -o DIR"
                yield InputProblem(("output", name), message, remedy)


FORMATS = {
    "result": (".json",),
    "trace": (".csv", ".parquet", ".json"),
    **dict.fromkeys(("gantt", "curves", "graphs"), (".png", ".svg", ".pdf")),
}
DEFAULT_FILES = {name: f"{name}{suffixes[0]}" for name, suffixes in FORMATS.items()}
