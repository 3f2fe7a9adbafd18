"""Statements of papers as data, and the judge that compares them with measured quantities.

Each folder of a paper has a file ``statements.toml``::

    [[statement]]
    id = "cgbc-mean"
    claim = "CGBC is behind LP in the geometric mean"
    source = "section 6.2.2, Figure 6d"
    experiment = "heuristics"      # key of the paper's EXPERIMENTS, which measures
    quantity = "cgbc.mean"         # key of the quantities that the experiment returns
    paper = 1.15
    criterion = { factor = 1.1 }
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from simplugin.claims import Claim, Kind
from simplugin.elementary import log
from simplugin.errors import SimpluginError

Value = float | bool | str


@dataclass(frozen=True)
class Quantity:
    """A measured quantity.

    Attributes
    ----------
    value : float, bool or str
        The measured value.
    interval : tuple of (float, float), optional
        Interval over seeds. If it covers both sides of a criterion, the verdict cannot be told.
    note : str
        Circumstances that a reader needs to understand the value.
    optimum : float, optional
        The best possible value.
    provenance : dict
        Seed, platform, reading: what determines the measurement.
    over : str
        The dimension that the interval is over.
    """

    value: Value
    interval: tuple[float, float] | None = None
    note: str = ""
    optimum: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    over: str = "seeds"


def share(held: Iterable[bool], words: str = "", **further: Any) -> Quantity:
    """Return the share of cases in which something holds, with both numbers and words as note."""
    cases = list(held)
    note = f"{sum(cases)} of {len(cases)}{words}"
    return Quantity(sum(cases) / len(cases), note=note, **further)


def determined_by(
    provenance: Mapping[str, Any], quantities: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    """Return quantities with what determines them, where they do not have it yet."""
    return {
        name: replace(each, provenance=each.provenance or provenance)
        for name, each in quantities.items()
    }


def named(values: Mapping[str, float], form: str) -> str:
    """Return values after their names as text."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


class Criterion(BaseModel):
    """The condition under which a measured value agrees with a statement; one key is given.

    Attributes
    ----------
    near : float
        Largest difference to the paper's value.
    within : float
        Largest relative difference to the paper's value.
    factor : float
        Largest factor between the paper's value and the measured one, either way.
    at_most, at_least, above, below : float
        Bounds.
    between : tuple of (float, float)
        Bounds, both included.
    equals : float, bool or str
        The value itself.
    undetermined : str
        Reason for which the paper does not determine the quantity.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    near: float | None = None
    within: float | None = None
    factor: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    above: float | None = None
    below: float | None = None
    # Strictly, a list of TOML is no tuple.
    between: Annotated[tuple[float, float] | None, Field(strict=False)] = None
    equals: Value | None = None
    undetermined: str | None = None

    @model_validator(mode="after")
    def _one_key(self) -> Criterion:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"give one of {', '.join(type(self).model_fields)}")
        return self

    def holds(self, value: Value, paper: Value) -> bool | None:
        """Return True if a value agrees with the paper's; None if it is undetermined."""
        if self.undetermined is not None:
            return None
        if self.equals is not None:
            return value == self.equals
        if isinstance(value, str):
            return None
        if math.isnan(value):
            return None
        if self.near is not None:
            return abs(value - _number(paper)) <= self.near
        if self.within is not None:
            return abs(value - _number(paper)) <= self.within * abs(_number(paper))
        if self.factor is not None:
            ratio = value / _number(paper)
            return ratio > 0 and abs(log(ratio)) <= log(self.factor) + 1e-12
        least, most = self.between or (self.at_least, self.at_most)
        return (
            (least is None or value >= least)
            and (most is None or value <= most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def words(self) -> str:
        """Return the condition in words."""
        ((name, value),) = self.model_dump(exclude_unset=True).items()
        match name:
            case "undetermined":
                return f"Cannot be told: {value}"
            case "near":
                return f"Agrees if at most {value:g} from the paper's value"
            case "within":
                return f"Agrees within {100 * value:g} %"
            case "factor":
                return f"Agrees within a factor of {value:g}"
            case "between":
                return f"Agrees from {value[0]:g} to {value[1]:g}"
            case "equals":
                # A boolean quantity names its own condition.
                return "" if isinstance(value, bool) else f"Agrees if it is {_written(value)}"
            case _:
                return f"Agrees if {name.replace('_', ' ')} {value:g}"


class Statement(BaseModel):
    """A statement of a paper, or of ours beyond it.

    Attributes
    ----------
    id : str
        A name that stays the same when the words change.
    claim : str
        The statement, in one line.
    source : str
        Section, figure or table.
    experiment, quantity : str
        The experiment that measures it, and the key of its quantity.
    criterion : Criterion
        The condition under which it agrees.
    paper : float or str
        The paper's value; "holds" if it is no number.
    why : str
        What explains a difference.
    kind : {"paper", "ours"}
        A statement of a paper, or what we claim beyond it.
    quick : bool
        True if quick reproductions measure it too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    claim: str
    source: str
    experiment: str
    quantity: str
    criterion: Criterion
    paper: float | str = "holds"
    why: str = ""
    kind: Kind = "paper"
    quick: bool = True

    def judge(self, measured: Quantity) -> Claim:
        """Return the verdict on a measurement."""
        ends: tuple[Value, ...] = measured.interval or (measured.value,)
        if measured.interval and not isinstance(self.paper, str):
            # An interval may include the paper's value, though it and its ends are too far off.
            low, high = measured.interval
            ends = (low, high, min(max(self.paper, low), high))
        verdicts = {self.criterion.holds(value, self.paper) for value in (measured.value, *ends)}
        reasons = [self.criterion.words(), self.why, measured.note]
        if measured.interval:
            low, high = measured.interval
            reasons.append(f"from {low:.3g} to {high:.3g} over {measured.over}")
        return Claim(
            self.claim,
            self.paper,
            _shown(measured.value),
            verdicts.pop() if len(verdicts) == 1 else None,
            "; ".join(filter(None, reasons)),
            self.source,
            measured.optimum,
            measured.provenance,
            self.kind,
            self.id,
        )


@cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Return the statements of a paper.

    Parameters
    ----------
    paper : str
        The package of the paper, for instance ``simplugin.papers.zheng``.

    Raises
    ------
    SimpluginError
        The file is invalid, or an id occurs twice.
    """
    file = resources.files(paper) / "statements.toml"
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        found = TypeAdapter(tuple[Statement, ...]).validate_python(document["statement"])
    except (tomllib.TOMLDecodeError, ValidationError, KeyError) as error:
        raise SimpluginError(f"{file}: {error}") from error
    names = [each.id for each in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SimpluginError(f"{file}: duplicate id {twice[0]!r}; give each statement its own")
    return found


def judged(chosen: Iterable[Statement], quantities: Mapping[str, Quantity | Value]) -> list[Claim]:
    """Return the verdicts on statements, from the quantities that their experiment returned.

    Raises
    ------
    SimpluginError
        A quantity is missing.
    """
    claims = []
    for each in chosen:
        if each.quantity not in quantities:
            known = ", ".join(quantities)
            raise SimpluginError(
                f"statement {each.id!r}: {each.experiment!r} measures no {each.quantity!r}, but"
                f" {known}"
            )
        measured = quantities[each.quantity]
        quantity = measured if isinstance(measured, Quantity) else Quantity(measured)
        claims.append(each.judge(quantity))
    return claims


def _number(paper: Value) -> float:
    """Return the paper's value, which these criteria need as a number."""
    if isinstance(paper, str):
        raise SimpluginError(f"the paper's value is {paper!r}; this criterion needs a number")
    return paper


def _written(value: Value) -> str:
    """Return a value as text."""
    return value if isinstance(value, str) else f"{value:g}"


def _shown(value: Value) -> float | str:
    """Return a value as a table shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    # JSON has no infinity.
    return value if isinstance(value, str) or math.isfinite(value) else str(value)
