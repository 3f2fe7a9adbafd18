"""Keys of scenarios and studies from their models: ``simplugin scenario --reference``."""

from __future__ import annotations

import inspect
import math
import pkgutil
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from simplugin.calibration.adversary import AdversarySection
from simplugin.calibration.study import CalibrateSection
from simplugin.campaigns.campaign import CampaignSection
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.cli.options import documented
from simplugin.inputs.messages import models_in
from simplugin.inputs.parameters import Signature
from simplugin.inputs.quantities import dimension_of
from simplugin.inputs.sections import PlatformSection, SchedulerSection
from simplugin.platforms.laws import PARAMETERS
from simplugin.scenarios.designs import DesignTable
from simplugin.scenarios.generators import GENERATORS
from simplugin.scenarios.generators.registry import generator_called
from simplugin.scenarios.kinds import KINDS, kind_called
from simplugin.scenarios.loading import Sections
from simplugin.scenarios.ranges import ParameterTable, Range
from simplugin.scenarios.sections import MetricsSection, MetricTable, OutputSection, SimulationTable
from simplugin.simulation.options import SimGridOptions
from simplugin.workloads.graph_generators import DRAWS
from simplugin.workloads.task_costs import CostLaw

_HEAD = """\
# Keys of scenario and campaign files

Made by `simplugin scenario --reference` from the types that validate them. A quantity is a number
in its unit, or a text with a unit, such as `"2.5Gf"`. What is not required may be left out.
[Scenarios](tutorial.md#scenarios) and [campaigns](campaigns.md) have examples.
"""
_ELSEWHERE = re.compile(r"^(?:See|As in|As for|Those of) `([\w.]+)`")
_ALL_ELSEWHERE = re.compile(r"^ *Parameters are those of `([\w.]+)`\.$", re.M)
_ANNOTATED: Any = Annotated  # with computed arguments, which type checkers reject
_UNITS = re.compile(r",? \[([^\]]*)\]")
_WORDS = {bool: "true or false", int: "whole number", float: "number", str: "text", Path: "path"}
_BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def reference() -> str:
    """Return the page."""
    lines = [_HEAD, *_table("Outside of tables", _of_model(Sections, nested=False), 2)]
    lines += _table("[platform]", _of_model(PlatformSection), 2)
    forms = (f"`{name}` ({', '.join(keys)})" for name, keys in PARAMETERS.items())
    laws = f"A law is a table of `law` and its parameters: {', '.join(forms)}."
    lines += _table("[platform.parameters]", (), 2, laws)
    for name in GENERATORS:
        generator = generator_called(name)
        head = generator.documentation.partition("\n")[0].replace("``", "`")
        lines += _table(name, _of_function(generator.make, hidden=("directory",)), 3, head)
    for name in KINDS:
        title = f'[workload] with kind = "{name}"'
        lines += _table(title, _of_model(kind_called(name).workload), 2)
    lines += _table("[workload.graphs.parameters]", (), 2)
    for draw in DRAWS:
        lines += _table(draw.__name__, _of_function(draw, hidden=("generator", "costs")), 3)
    lines += _table("costs, of every generator", _of_function(CostLaw), 3)
    lines += _table("[scheduler]", _of_model(SchedulerSection), 2)
    for name in KINDS:
        if (schedulers := kind_called(name).schedulers) is None:
            continue
        head = f"Of any scheduler `{schedulers.capability}.*`, besides its own:"
        title = f"[scheduler.parameters] of {schedulers.capability}"
        lines += _table(title, _of_model(schedulers.settings), 2, head)
        for policy, function in schedulers.policies.items():
            if rows := list(_of_function(function, schedulers.by_position, ("seed",))):
                lines += _table(f"{schedulers.capability}.{policy}", rows, 3)
    lines += _table("[simulation]", _of_model(models_in(SimulationTable)[0], nested=False), 2)
    lines += _table("[simulation.options]", _of_options(), 2)
    lines += _table("[metrics]", _of_model(MetricsSection), 2)
    lines += _table("[metrics.NAME], one for each metric", _of_model(MetricTable), 2)
    lines += _table("[output]", _of_model(OutputSection), 2)
    lines += _table("[campaign]", _of_model(CampaignSection), 2)
    lines += _table("Ranges of [sweep]", _of_model(Range), 2)
    lines += _table("Designs of [sweep]", _of_model(DesignTable), 2)
    lines += _table("[calibrate]", _of_model(CalibrateSection), 2)
    lines += _table("[adversary]", _of_model(AdversarySection, nested=False), 2)
    lines += _table("Ranges of [calibrate.parameters]", _of_model(ParameterTable), 2)
    lines += _table("[slurm]", _of_model(SlurmSection), 2)
    return "\n".join(lines).rstrip()


Row = tuple[str, str, str, str, str]


def _table(title: str, rows: Any, level: int, head: str = "") -> list[str]:
    """Return the lines of a section."""
    lines = [f"{'#' * level} {title}", ""] + ([head, ""] if head else [])
    shown = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    if shown:
        lines += ["| key | type | unit | default | meaning |", "| --- | --- | --- | --- | --- |"]
        lines += [*(f"| {row} |" for row in shown), ""]
    return lines


def _of_model(model: type[BaseModel], above: str = "", *, nested: bool = True) -> Iterator[Row]:
    """Yield the keys of a table, those of tables in it after each."""
    for name, field in model.model_fields.items():
        key = f"{above}{field.alias or name}"
        kind = _ANNOTATED[field.annotation, field, *field.metadata]
        default = "required" if field.is_required() else _shown(kind, field.default)
        yield _row(key, kind, default, _meaning(model, name))
        for inner in models_in(field.annotation)[:1] if nested else ():
            yield from _of_model(inner, f"{key}.")


def _of_function(
    function: Callable[..., Any], by_position: int = 0, hidden: Collection[str] = ()
) -> Iterator[Row]:
    """Yield the parameters of a function."""
    signature = Signature.of(function, by_position, hidden)
    for name, kind in signature.types.items():
        known = signature.defaults
        default = _shown(kind, known[name]) if name in known else "required"
        yield _row(name, kind, default, _meaning(function, name))


def _of_options() -> Iterator[Row]:
    """Yield the options of SimGrid."""
    hints = get_type_hints(SimGridOptions)
    for each in fields(SimGridOptions):
        yield _row(each.name, hints[each.name], "", _meaning(SimGridOptions, each.name))


def _row(name: str, kind: Any, default: str, meaning: str) -> Row:
    """Return the row of a key."""
    dimension = dimension_of(kind)
    if not meaning:
        meaning = next((each.description for each in _metadata(kind) if each.description), "")
    units = set(_UNITS.findall(meaning))
    unit = dimension.unit if dimension is not None else units.pop() if len(units) == 1 else ""
    told = _UNITS.sub("", meaning) if unit else meaning
    return f"`{name}`", _type_text(kind), unit, default, told


def _metadata(kind: Any) -> Iterator[FieldInfo]:
    """Yield what pydantic's fields say in a type."""
    for each in (*getattr(kind, "__metadata__", ()), *get_args(kind)):
        if isinstance(each, FieldInfo):
            yield each
        else:
            yield from _metadata(each)


def _type_text(kind: Any) -> str:
    """Return a type as text."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    origin = get_origin(kind)
    if origin is Annotated:
        text = _type_text(inner[0])
        limits = {
            sign: getattr(each, name)
            for field in kind.__metadata__
            for each in (getattr(field, "metadata", None) or [field])
            for name, sign in _BOUNDS.items()
            if isinstance(getattr(each, name, None), int | float)
        }
        return " ".join([text, *(f"{sign} {limit:g}" for sign, limit in limits.items())])
    if origin is Literal:
        return " or ".join(f"`{each!r}`".replace("'", '"') for each in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_type_text, inner)))
    if origin in (list, tuple):
        members = dict.fromkeys(_type_text(each) for each in inner if each is not ...)
        return f"list of: {' or '.join(members)}"
    if origin in (dict, Mapping):
        return f"table of: {_type_text(inner[-1])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel | SimGridOptions):
        return "law" if "law" in getattr(kind, "model_fields", ()) else "table"
    return _WORDS.get(kind, "any")


def _shown(kind: Any, default: Any) -> str:
    """Return a default as a file has it."""
    if isinstance(default, bool):
        return str(default).lower()
    dimension = dimension_of(kind)
    if isinstance(default, tuple | list) and default:
        return f"[{', '.join(_shown(kind, each) for each in default)}]"
    if isinstance(default, int | float) and dimension is not None and math.isfinite(default):
        return f'"{dimension.write(default)}"' if default else "0"
    if isinstance(default, int | float):
        return repr(default)
    return f'"{default}"' if isinstance(default, str) and default else ""


def _meaning(thing: Any, name: str) -> str:
    """Return the description of a parameter or attribute, resolving references to others."""
    thing = thing.func if isinstance(thing, partial) else thing
    for place in inspect.getmro(thing) if isinstance(thing, type) else (thing,):
        text = documented(place).get(name, ("", ""))[1]
        all_of = None if text else _ALL_ELSEWHERE.search(place.__doc__ or "")
        if (other := _ELSEWHERE.match(text) or all_of) is not None:
            found = _named(other[1], place)
            return (found and _meaning(found, name)) or text.replace("``", "`")
        if text:
            return text.replace("``", "`")
    return ""


def _named(name: str, near: Any) -> Any:
    """Return an object by its name in a docstring; None if it is unknown."""
    if name.startswith("simplugin."):
        return pkgutil.resolve_name(name)
    place: Any = sys.modules.get(near.__module__)
    for step in name.split("."):
        place = getattr(place, step, None)
    return place
