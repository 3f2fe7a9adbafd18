"""The sections ``[simulation]`` and ``[output]`` of a scenario."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from simplugin.inputs.messages import Problem
from simplugin.inputs.sections import AnyPath, Section, is_below
from simplugin.simulation.options import SimGridOptions

_USUAL = ("result", "trace", "gantt")
NEED_TRACE = ("trace", "gantt")


class SimulationSection(Section):
    """``[simulation]``: how; the arguments of `simplugin.simulate` by their names.

    Attributes
    ----------
    options : SimGridOptions
        From the table ``[simulation.options]``.
    """

    back_end: Literal["coroutines", "threads"] = "coroutines"
    seed: Annotated[int, Field(ge=0)] = 0
    until: Annotated[float, Field(ge=0)] | None = None
    wall_limit: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    memory_limit: Annotated[int, Field(gt=0)] | None = None
    trace: bool = True
    trace_limit: Annotated[int, Field(gt=0, lt=2**63)] | None = None
    energy: bool = False
    options: SimGridOptions = SimGridOptions()

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
    _asked: bool = PrivateAttr(default=False)

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
        relocated = self.model_copy(update={"directory": directory, **named})
        relocated._asked = True
        return relocated

    def strays(self, directory: Path) -> Iterator[Problem]:
        """Yield paths that leave the output directory, links followed.

        The output directory must not leave that of the scenario file either, unless it was asked
        for: it is that of `relocated`.

        Parameters
        ----------
        directory : Path
            That of the scenario file.
        """
        place = self.directory or directory
        paths = [("directory", place, place if self._asked else directory)]
        files = [(name, getattr(self, name)) for name in FORMATS]
        paths += [(name, place / file, place) for name, file in files if file is not None]
        for name, path, around in paths:
            if not is_below(path, around):
                message = f"output.{name} leads to {str(path)!r}, outside {str(around)!r}"
                remedy = "name a place below it; or give the output directory by -o DIR"
                yield Problem(("output", name), message, remedy)


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
