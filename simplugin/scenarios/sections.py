"""The sections ``[simulation]`` and ``[output]`` of a scenario."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from simplugin.errors import SimpluginError
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import POSITIVE, Memory, Time
from simplugin.inputs.sections import AnyPath, Section
from simplugin.inputs.validation import table
from simplugin.simulation.options import SimGridOptions

_USUAL = ("result", "trace", "gantt")
NEED_TRACE = ("trace", "gantt")


def _option(name: str) -> Any:
    """Return the type of a SimGrid option."""

    def checked(value: Any) -> Any:
        """Raise unless SimGrid takes the option by itself."""
        try:
            SimGridOptions(**{name: value})
        except (SimpluginError, TypeError, AttributeError) as error:
            raise InvalidValueError("{key}" + str(error).removeprefix(name)) from None
        return value

    return Annotated[Any, PlainValidator(checked)]


if TYPE_CHECKING:
    Options = SimGridOptions
else:
    _NAMES = [each.name for each in fields(SimGridOptions)]
    Options = table(SimGridOptions, **{name: _option(name) for name in _NAMES})


class SimulationSection(Section):
    """``[simulation]``: how; the arguments of `simplugin.simulate` by their names.

    Attributes
    ----------
    back_end, seed, until, wall_limit, memory_limit, trace, energy
        See `simplugin.simulation.simulate.simulate`.
    options : SimGridOptions
        From the table ``[simulation.options]``.
    """

    back_end: Literal["coroutines", "threads"] = "coroutines"
    seed: Annotated[int, Field(ge=0)] = 0
    until: Annotated[Time, Field(ge=0)] | None = None
    wall_limit: Annotated[Time, POSITIVE] | None = None
    memory_limit: Memory | None = None
    trace: bool = True
    energy: bool = False
    options: Options = SimGridOptions()

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for `simulate`."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class OutputSection(Section):
    """``[output]``: which files are written.

    Attributes
    ----------
    directory : path, optional
        Where; without, the directory of the scenario file.
    result : str, optional
        The row, totals and returned values as JSON.
    trace : str, optional
        Activities as CSV or Parquet, by the suffix.
    gantt : str, optional
        The Gantt chart as PNG, SVG or PDF, by the suffix.
    curves : str, optional
        What changed over the rounds, likewise.
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

    def relocated(
        self,
        directory: Path,
        *,
        trace: bool,
        outputs: Iterable[str] = _USUAL,
        need_trace: Collection[str] = NEED_TRACE,
    ) -> OutputSection:
        """Return the section for writing to `directory`, files without a name included.

        Parameters
        ----------
        directory : Path
            Relative to the current directory.
        trace : bool
            True if there will be a trace to write and to draw.
        outputs : iterable of str
            The files that are wanted even without a name.
        need_trace : collection of str
            Those of them that there are only with a trace.
        """
        wanted = [name for name in outputs if trace or name not in need_trace]
        named = {name: getattr(self, name) or DEFAULT_FILES[name] for name in wanted}
        return self.model_copy(update={"directory": directory, **named})


FORMATS = {
    "result": (".json",),
    "trace": (".csv", ".parquet"),
    "gantt": (".png", ".svg", ".pdf"),
    "curves": (".png", ".svg", ".pdf"),
    "graphs": (".png", ".svg", ".pdf"),
}
DEFAULT_FILES = {
    "result": "result.json",
    "trace": "trace.csv",
    "gantt": "gantt.png",
    "curves": "curves.png",
    "graphs": "graphs.png",
}
