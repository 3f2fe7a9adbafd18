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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from scipy.special import betaincinv, stdtrit

from simplugin.core.elementary import log, power
from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import readable
from simplugin.results.claims import Claim, Kind

Value = float | bool | str
# Values as claims show them.
_TEXTS: dict[Value, Value] = {"yes": True, "no": False, "inf": math.inf, "-inf": -math.inf}
# Ends of 95 % intervals, and how often samples are drawn again for one.
_ENDS, _RESAMPLES = (0.025, 0.975), 200
# The largest samples, from which the tail of their distribution is estimated.
_TAIL = 10
_NO_PROVENANCE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Quantity:
    """A measured quantity.

    Attributes
    ----------
    value : float, bool or str
        The measured value.
    interval : tuple of (float, float), optional
        95 % interval over random samples.
    note : str
        Circumstances that a reader needs to understand the value.
    optimum : float, optional
        The best possible value.
    provenance : dict
        Parameters that determine the measurement: seed, platform, reading.
    samples : int
        Number of samples of the interval; 0 if there is none.
    over : str
        Name of the samples, in the plural.
    readings : mapping of str to tuple of (float, float)
        Intervals in other readings of the paper's text. If verdicts differ, none can be told.
    missing : str
        Information that the paper lacks to choose one of the readings.
    orders : str
        Under how many orders of actors that are ready at one date the verdict is the same,
        ``"10 of 10"``.
    """

    value: Value
    interval: tuple[float, float] | None = None
    note: str = ""
    optimum: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 0
    over: str = "seeds"
    readings: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    missing: str = ""
    orders: str = ""

    def document(self) -> dict[str, Any]:
        """Return the attributes that a claim lacks, without absent values."""
        names = ("samples", "over", "missing", "note", "orders")
        found = {name: getattr(self, name) for name in names if name != "over" or self.samples}
        found["interval"] = self.interval and _shown_ends(self.interval)
        found["readings"] = {name: _shown_ends(each) for name, each in self.readings.items()}
        return {name: each for name, each in found.items() if each}

    @classmethod
    def of(cls, claim: Claim) -> Quantity:
        """Return the quantity that a claim was judged by, also of a claim read from JSON."""
        kept = {key: each for key, each in claim.quantity.items() if key not in ("needed", "full")}
        if "interval" in kept:
            kept["interval"] = _interval(kept["interval"])
        if "readings" in kept:
            kept["readings"] = {name: _interval(each) for name, each in kept["readings"].items()}
        value = _TEXTS.get(claim.measured, claim.measured)
        return cls(value, optimum=claim.optimum, provenance=claim.provenance, **kept)


def resampled(
    measure: Callable[[NDArray[np.int64]], float | bool],
    samples: int,
    note: str = "",
    *,
    over: str = "seeds",
    provenance: Mapping[str, Any] = _NO_PROVENANCE,
) -> Quantity:
    """Return a quantity of random samples with its 95 % interval, by the bootstrap.

    Parameters
    ----------
    measure : callable
        Gets numbers of samples, shape (samples,), and returns the quantity of these.
    samples : int
        Number of samples. As the bootstrap is too narrow for few, the interval is wider by the
        quantile of Student's distribution and the root of ``samples / (samples - 1)``. It has no
        ends where the measure is NaN too often to know them, and is a value that is infinite.
    note, over, provenance
        As in `Quantity`.
    """
    value = measure(np.arange(samples))
    draws = np.random.default_rng(0).integers(samples, size=(_RESAMPLES, samples))
    found = np.array([measure(each) for each in draws], dtype=np.float64)
    interval = -math.inf, math.inf
    if samples < 2 or np.mean(np.isnan(found)) > _ENDS[0]:
        pass
    elif isinstance(value, bool):
        low, high = (bool(end) for end in np.quantile(found, _ENDS, method="nearest"))
        interval = low, high
        note = "; ".join(filter(None, (note, f"in {np.mean(found):.0%} of the draws")))
    elif not math.isfinite(value):
        interval = value, value
    else:
        wider = float(stdtrit(samples - 1, _ENDS[1])) / 1.96 * math.sqrt(samples / (samples - 1))
        low, high = np.nanquantile(found, _ENDS, method="nearest").tolist()
        interval = value + wider * min(low - value, 0), value + wider * max(high - value, 0)
    return Quantity(value, interval, note, None, provenance, samples, over)


def largest(values: ArrayLike, note: str = "", *, over: str = "seeds") -> Quantity:
    """Return the largest of random samples, with the 95 % interval for as many fresh ones.

    The distribution's tail is that of Hill [1]_: of n samples, a share (k / n) (x / y)^-a exceeds
    x, where y is the sample after the k = 10 largest, and 1 / a the mean of ln(x / y) over these.
    An interval of few samples is from their median up; no interval has an upper end if a sample is
    infinite.

    Parameters
    ----------
    values : float64, shape (samples,)
        The samples, all positive; those that are NaN do not count.
    note, over
        As in `Quantity`.

    References
    ----------
    .. [1] B. M. Hill (1975). A simple general approach to inference about the tail of a
       distribution. The Annals of Statistics 3(5).
    """
    found = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    found = found[~np.isnan(found)]
    samples, finite = len(found), found[np.isfinite(found)]
    if not samples:
        return Quantity(math.nan, (-math.inf, math.inf), note, over=over)
    low, high = float(np.median(found)), math.inf
    if len(finite) > 2 * _TAIL:
        slope = float(np.mean(log(finite[:_TAIL] / finite[_TAIL])))
        exceeding = 1 - power(_ENDS, 1 / samples)
        low, most = (finite[_TAIL] * power(_TAIL / samples / exceeding, slope)).tolist()
        high = max(most, finite[0]) if len(finite) == samples else high
    if (len(finite) / samples) ** samples < _ENDS[0]:
        # As good as surely, some fresh sample is infinite, too.
        low = math.inf
    interval = min(low, float(found[0])), float(high)
    return Quantity(float(found[0]), interval, note, samples=samples, over=over)


def unrefuted(
    value: float,
    worse: float,
    samples: int,
    *,
    quick: bool,
    note: str = "",
    over: str = "seeds",
    provenance: Mapping[str, Any] = _NO_PROVENANCE,
) -> Quantity:
    """Return the worst of random samples, or the share in which something always holds.

    More samples make it only worse. A quick part of them can thus refute a bound but not confirm
    it: its interval reaches to `worse`.
    """
    interval = (float(min(value, worse)), float(max(value, worse))) if quick else None
    return Quantity(float(value), interval, note, None, provenance, samples, over)


def share(
    held: Iterable[bool],
    words: str = "",
    *,
    over: str = "",
    quick: bool | None = None,
    provenance: Mapping[str, Any] = _NO_PROVENANCE,
) -> Quantity:
    """Return the share of cases in which a condition holds; the note has both numbers.

    With `over`, the name of random samples, it has the 95 % interval of Clopper and Pearson. With
    `quick` the condition should always hold, and the interval is that of `unrefuted`.
    """
    cases = list(held)
    count, number = sum(map(bool, cases)), len(cases)
    value, note = count / number, f"{count} of {number}{words}"
    if quick is not None:
        cases_of = over or "seeds"
        return unrefuted(
            value, 0.0, number, quick=quick, note=note, over=cases_of, provenance=provenance
        )
    if not over:
        return Quantity(value, note=note, provenance=provenance)
    low = float(betaincinv(count, number - count + 1, _ENDS[0])) if count else 0.0
    high = float(betaincinv(count + 1, number - count, _ENDS[1])) if count < number else 1.0
    return Quantity(value, (low, high), note, None, provenance, number, over)


def determined_by(
    provenance: Mapping[str, Any], quantities: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    """Return quantities with a provenance, unless they have one."""
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
        if isinstance(value, str) or math.isnan(value):
            return None
        low, high = self.bounds(paper)
        inside = low <= value <= high
        return inside and value != self.above and value != self.below

    def bounds(self, paper: Value) -> tuple[float, float]:
        """Return the least and the largest number that agree; `above` and `below` exclude it."""
        ((name, given),) = self.model_dump(exclude_unset=True).items()
        match name:
            case "between":
                return given[0], given[1]
            case "at_most" | "below":
                return -math.inf, given
            case "at_least" | "above":
                return given, math.inf
            case "factor":
                low, high = sorted((_number(paper) / given, _number(paper) * given))
                return low * (1 - 1e-12), high * (1 + 1e-12)
            case "near" | "within":
                off = given if name == "near" else given * abs(_number(paper))
                return _number(paper) - off, _number(paper) + off
            case _:
                number = given if isinstance(given, float) else math.nan
                return number, number

    def words(self, paper: Value) -> str:
        """Return the condition as text; empty if it is undetermined, or yes or no."""
        ((name, given),) = self.model_dump(exclude_unset=True).items()
        if isinstance(given, bool | str):
            return given if name == "equals" and isinstance(given, str) else ""
        if name in ("at_most", "at_least", "above", "below"):
            return f"{name.replace('_', ' ')} {given:g}"
        low, high = self.bounds(paper)
        return readable(low) if low == high else f"{readable(low)} to {readable(high)}"


class Statement(BaseModel):
    """A statement of a paper, or of ours beyond it.

    Attributes
    ----------
    id : str
        A permanent name.
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
        Definition of the quantity, beyond the claim.
    cause : str
        Known reason for which it disagrees or cannot be told.
    kind : {"paper", "ours"}
        Statement of a paper, or our own beyond it.
    quick : bool
        True if quick reproductions measure it too.
    samples : int
        Number of random samples of the paper, or of ours, if an interval is over samples; the full
        reproduction has as many.
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
    cause: str = ""
    kind: Kind = "paper"
    quick: bool = True
    samples: int = 0

    def judge(self, measured: Quantity) -> Claim:
        """Return the verdict on a measurement.

        An interval on one side of the criterion decides. One on both sides decides with as many
        samples as the paper has: a statement of the paper's agrees, as a repetition of its
        experiment may, and one of our own does not.
        """
        criterion = self.criterion.words(self.paper)
        details = [f"Agrees if {criterion}" if criterion else "", self.why, measured.note]
        reasons = [self.criterion.undetermined or ""]
        value, interval = measured.value, measured.interval
        quantity = measured.document()
        verdict = self._verdict(value, interval or (value, value), measured.samples)
        if interval is not None and not isinstance(value, bool):
            low, high = interval
            details.append(f"from {low:.3g} to {high:.3g} over {measured.samples} {measured.over}")
        if verdict is None and interval is not None and not self.criterion.undetermined:
            needed, over = self._needed(measured), measured.over
            quantity |= {"needed": needed, "full": self.samples}
            reasons.append(f"about {needed} {over} would decide" if needed else f"too few {over}")
            reasons[-1] += f", in full {self.samples}" if self.samples else ""
        others = {
            name: self._verdict(each[0], each, measured.samples)
            for name, each in measured.readings.items()
        }
        readings = {"as measured": verdict, **others} if others else {}
        if verdict is not None and set(others.values()) - {verdict}:
            agreeing = [name for name, each in others.items() if each]
            reasons.append(
                f"agrees in {', '.join(agreeing) or 'none'} of the other readings; to tell, the"
                f" paper would have to say {measured.missing}"
            )
            verdict = None
        if not verdict:
            reasons.append(self.cause or ("no cause found" if verdict is False else ""))
        return Claim(
            self.claim,
            self.paper,
            _shown(value),
            verdict,
            "; ".join(filter(None, (*details, *reasons))),
            self.source,
            measured.optimum,
            measured.provenance,
            self.kind,
            self.id,
            quantity,
            criterion,
            self.why,
            "; ".join(filter(None, reasons)),
            readings,
        )

    def _verdict(self, value: Value, interval: tuple[Any, Any], samples: int) -> bool | None:
        """Return the verdict on a value and its interval."""
        ends = [value, *interval]
        if not isinstance(self.paper, str) and not isinstance(value, str):
            # An interval may include the paper's value, though it and its ends are too far off.
            ends.append(min(max(self.paper, interval[0]), interval[1]))
        verdicts = {self.criterion.holds(each, self.paper) for each in ends}
        if len(verdicts) == 1:
            return verdicts.pop()
        if None in verdicts or not 0 < self.samples <= samples:
            return None
        return self.kind == "paper"

    def _needed(self, measured: Quantity) -> int:
        """Return how many samples would decide, from the width and the distance to a bound.

        0 if that cannot be told.
        """
        if isinstance(measured.value, bool | str) or not (measured.interval and measured.samples):
            return 0
        low, high = measured.interval
        distance = min(abs(measured.value - each) for each in self.criterion.bounds(self.paper))
        if not (0 < distance < math.inf and high - low < math.inf):
            return 0
        needed = measured.samples * ((high - low) / (2 * distance)) ** 2
        return round(max(needed, measured.samples + 1))


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


def judged_again(paper: str, claims: Iterable[Claim]) -> list[Claim]:
    """Return the verdicts of a paper's statements on what claims with the same ids measured."""
    measured = {claim.id: Quantity.of(claim) for claim in claims}
    return [each.judge(measured[each.id]) for each in statements(paper) if each.id in measured]


def _shown_ends(interval: tuple[float, float]) -> list[float | str]:
    """Return an interval for claims, with texts for infinite ends, which JSON lacks."""
    return [each if math.isfinite(each) else str(each) for each in interval]


def _interval(ends: Iterable[float | str]) -> tuple[float, float]:
    """Return the interval of `_shown_ends`."""
    low, high = map(float, ends)
    return low, high


def _number(paper: Value) -> float:
    """Return the paper's value, which these criteria need as a number."""
    if isinstance(paper, str):
        raise SimpluginError(f"the paper's value is {paper!r}; this criterion needs a number")
    return paper


def _shown(value: Value) -> float | str:
    """Return a value as a table shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    # JSON has no infinity.
    return value if isinstance(value, str) or math.isfinite(value) else str(value)
