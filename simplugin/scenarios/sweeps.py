"""The variations of a scenario: a list times a grid, made one by one on demand."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, product
from typing import Any, TypeVar

from pydantic import ValidationError

from simplugin.inputs.messages import (
    InputProblem,
    InvalidValueError,
    Path,
    dotted,
    problems_of,
    suggestion,
)
from simplugin.scenarios.designs import Design, DesignTable, is_design
from simplugin.scenarios.ranges import LinearRange, LogRange, Range, is_range
from simplugin.scenarios.substitutions import (
    KEYS_WITHOUT_EFFECT,
    SIMULATION_KEYS_WITHOUT_EFFECT,
    canonical_json,
    path_of,
    substituted,
)

_NAME = "name"
_SWEEP = "sweep"
# Runs that are selected by their values.
_MOST_SELECTED = 10_000
# Numbers of a list that are checked one by one.
_MOST_CHECKED = 200
# The column that names of variations are in.
VARIATION = "variation"
_Table = TypeVar("_Table", Range, DesignTable)


@dataclass(frozen=True, slots=True)
class Axis:
    """A key that is swept.

    Attributes
    ----------
    path : tuple of str or int
        Its steps into the scenario.
    values : sequence
        Its values in order.
    source : tuple of str or int
        Its place in the campaign file.
    design : Design, optional
        The design that varies it with other keys.
    """

    path: Path
    values: Sequence[Any] | LinearRange | LogRange
    source: Path
    design: Design | None = None

    @property
    def keys(self) -> set[str]:
        """The keys of runs that it varies: several if its values are tables."""
        if not isinstance(self.values, list | tuple):
            return {_key(self.source)}
        return {key for each in self.values for key in flatten(_key(self.source), each)}

    def checked_values(self) -> Iterator[tuple[int, Any]]:
        """Yield the values to be checked, with their positions.

        The ends of a range or design; evenly spread values of a long list of numbers, with its
        ends; otherwise all values, since texts and tables can differ in kind.
        """
        if self.design is not None:
            yield from enumerate(self.design.tables[_key(self.source)].ends, 1)
            return
        last = len(self.values) - 1
        if not isinstance(self.values, list | tuple):
            yield from ((at, self.values[at]) for at in dict.fromkeys((0, last)))
            return
        numbers = [at for at, each in enumerate(self.values) if isinstance(each, int | float)]
        if len(numbers) > _MOST_CHECKED:
            step = (len(numbers) - 1) / (_MOST_CHECKED - 1)
            numbers = [numbers[round(part * step)] for part in range(_MOST_CHECKED)]
        chosen = set(numbers)
        for at, each in enumerate(self.values):
            if at in chosen or not isinstance(each, int | float):
                yield at, each

    def document(self) -> list[Any]:
        """Return the axis as short plain data."""
        values = self.values
        return [list(self.path), list(values) if isinstance(values, list | tuple) else repr(values)]


def dimensions(axes: Iterable[Axis]) -> list[list[Axis]]:
    """Return the axes, those together that vary together: the keys of a design."""
    groups = groupby(axes, lambda axis: id(axis if axis.design is None else axis.design))
    return [list(axes) for _, axes in groups]


@dataclass(frozen=True, slots=True)
class KeyAssignment:
    """A key that a variation sets.

    Attributes
    ----------
    path : tuple of str or int
        Its steps into the scenario.
    value : object
        Its value.
    source : tuple of str or int
        Its place in the campaign file.
    """

    path: Path
    value: Any
    source: Path


@dataclass(frozen=True, slots=True)
class Variation:
    """One of the list.

    Attributes
    ----------
    settings : tuple of KeyAssignment
        Keys with one value.
    axes : tuple of Axis
        Its own swept keys.
    name : str, optional
        Its label.
    """

    settings: tuple[KeyAssignment, ...] = ()
    axes: tuple[Axis, ...] = ()
    name: str | None = None


@dataclass(frozen=True)
class Variations:
    """All variations of a scenario, by position.

    The list varies slowest, then the own keys of a variation, then the grid; the last key of a
    sweep varies fastest.

    Attributes
    ----------
    document : mapping
        The scenario that they are variations of.
    listed : tuple of Variation
        At least one, possibly empty.
    grid : tuple of Axis
        What all of them sweep.
    """

    document: Mapping[str, Any]
    listed: tuple[Variation, ...] = (Variation(),)
    grid: tuple[Axis, ...] = ()

    @property
    def total(self) -> int:
        """The number of variations."""
        return self._ends[-1]

    @cached_property
    def _ends(self) -> list[int]:
        """The position after the last of each of the list."""
        grids = map(self.axes, range(len(self.listed)))
        return list(accumulate(math.prod(len(one[0].values) for one in each) for each in grids))

    @cached_property
    def _named(self) -> bool:
        """True if the variations are named."""
        return any(each.name is not None for each in self.listed)

    def axes(self, number: int) -> list[list[Axis]]:
        """Return what one of the list and the grid sweep, as `dimensions`."""
        return dimensions((*self.listed[number].axes, *self.grid))

    def point(self, position: int) -> tuple[int, list[KeyAssignment]]:
        """Return which of the list a position belongs to, from 0 on, and all that is set there.

        Raises
        ------
        IndexError
            There is no such position.
        """
        if not 0 <= position < self.total:
            raise IndexError(f"there are positions 0 to {self.total - 1}, not {position}")
        number = bisect_right(self._ends, position)
        left = position - (self._ends[number - 1] if number else 0)
        points: list[KeyAssignment] = []
        for together in reversed(self.axes(number)):
            left, place = divmod(left, len(together[0].values))
            points[:0] = [
                KeyAssignment(one.path, one.values[place], one.source) for one in together
            ]
        return number, [*self.listed[number].settings, *points]

    def scenario(self, settings: Sequence[KeyAssignment]) -> dict[str, Any]:
        """Return the scenario with keys set.

        Raises
        ------
        SweepError
            One of them leads into nothing.
        """
        document: Any = self.document
        for each in settings:
            try:
                document = substituted(document, each.path, each.value)
            except InvalidValueError as error:
                raise SweepError(each.source, f"{{key}}: {error.message}", error.remedy) from None
        return dict(document)

    def varied(self, number: int, settings: Iterable[KeyAssignment]) -> dict[str, Any]:
        """Return what distinguishes a variation: dotted keys and values, without tables.

        Parameters
        ----------
        number, settings
            As `point` returns them.
        """
        found: dict[str, Any] = {}
        if self._named:
            found[VARIATION] = _label(self.listed[number], number)
        for each in settings:
            found |= flatten(_key(each.source), each.value)
        return found

    def selected(self, each: Sequence[str], where: Mapping[str, Any]) -> frozenset[int]:
        """Return positions: one for each combination of the values of some keys.

        Other swept keys get their first value, or that of `where`. A variation that does not vary
        a key of `where` matches any value.

        Parameters
        ----------
        each : sequence of str
            Keys as `varied` has them.
        where : mapping of str to object
            Such keys, and the value that each must have.

        Raises
        ------
        InvalidValueError
            A key is not varied, no run has these values, or the positions are too many.
        """
        wanted = {*each, *where}
        axes = [self.axes(number) for number in range(len(self.listed))]
        known = {key for one in axes for each in one for axis in each for key in axis.keys}
        settings = [each for one in self.listed for each in one.settings]
        known |= {key for each in settings for key in flatten(_key(each.source), each.value)}
        known |= {VARIATION} if self._named else set()
        if unknown := wanted - known:
            name = min(unknown)
            raise InvalidValueError(
                f"{name!r} is not varied", suggestion(name, known, "varied are")
            )
        places = [[_places(together, wanted, where) for together in one] for one in axes]
        if sum(math.prod(map(len, listed)) for listed in places) > _MOST_SELECTED:
            remedy = "name fewer keys, or more values in where"
            raise InvalidValueError(f"these are more than {_MOST_SELECTED:,} runs", remedy)
        found: dict[str, int] = {}
        for end, one, chosen in zip(self._ends, axes, places, strict=True):
            sizes = [len(together[0].values) for together in one]
            start = end - math.prod(sizes)
            for steps in product(*chosen):
                position = 0
                for size, step in zip(sizes, steps, strict=True):
                    position = position * size + step
                varied = self.varied(*self.point(start + position))
                if all(varied.get(key, value) == value for key, value in where.items()):
                    group = canonical_json([varied.get(key) for key in each])
                    found.setdefault(group, start + position)
        if not found:
            values = ", ".join(f"{key} = {value!r}" for key, value in where.items())
            raise InvalidValueError(f"no run has {values}", "give values that are swept")
        return frozenset(found.values())


def _key(source: Path) -> str:
    """Return the dotted key as the campaign file has it, with names in place of positions."""
    inside = source[1:] if source[0] == _SWEEP else source[2:]
    return dotted(inside[1:] if inside[0] == _SWEEP else inside)


def _places(together: Sequence[Axis], wanted: set[str], where: Mapping[str, Any]) -> Sequence[int]:
    """Return the positions on axes that vary together among which runs are selected."""
    places = range(len(together[0].values))
    given = {_key(axis.source): axis.values for axis in together if _key(axis.source) in where}
    if given:
        for place in places:
            if all(values[place] == where[key] for key, values in given.items()):
                return [place]
        return []
    return places if any(axis.keys & wanted for axis in together) else places[:1]


def flatten(key: str, value: Any) -> dict[str, Any]:
    """Return the dotted keys and values in a table, or the key and its value."""
    if not isinstance(value, Mapping):
        return {key: value}
    found: dict[str, Any] = {}
    for name, each in value.items():
        found |= flatten(f"{key}.{name}" if key else name, each)
    return found


def variations_of(
    document: Mapping[str, Any], sweep: Mapping[str, Any], listed: Sequence[Mapping[str, Any]]
) -> Variations:
    """Read ``[sweep]`` and ``[[variations]]``.

    Parameters
    ----------
    document : mapping
        The scenario.
    sweep : mapping
        Dotted or nested keys, with lists or ranges of values.
    listed : sequence of mapping
        Dotted or nested keys with values; ``name`` and ``sweep`` may be among them.

    Raises
    ------
    SweepError
        Something makes no sense.
    """
    variations = [
        _variation(document, table, ("variations", number)) for number, table in enumerate(listed)
    ]
    _refuse_equal_names(variations)
    first = variations[0] if variations else Variation()
    grid = _axes(Variations(document).scenario(first.settings), sweep, ("sweep",))
    for each in variations or [first]:
        _refuse_twice(each, grid)
    return Variations(document, tuple(variations) or (first,), grid)


def _variation(document: Mapping[str, Any], table: Mapping[str, Any], source: Path) -> Variation:
    """Read one of ``[[variations]]``."""
    name = table.get(_NAME)
    settings: list[KeyAssignment] = []
    rest = {key: value for key, value in table.items() if key not in (_NAME, _SWEEP)}
    for words, value in _flat(rest):
        path = _located(document, words, (*source, *words))
        refuse_without_effect(path, (*source, *words), swept=False)
        settings.append(KeyAssignment(path, value, (*source, *words)))
    base = Variations(document).scenario(settings)
    return Variation(tuple(settings), _axes(base, table.get(_SWEEP, {}), (*source, _SWEEP)), name)


def _flat(
    table: Mapping[str, Any], above: tuple[str, ...] = (), *, ranges: bool = False
) -> Iterator[tuple[Path, Any]]:
    """Yield the values in nested tables with their keys; a range is a value where there are any."""
    for key, value in table.items():
        if (
            isinstance(value, Mapping)
            and value
            and not (ranges and (is_range(value) or is_design(value)))
        ):
            yield from _flat(value, (*above, key), ranges=ranges)
        else:
            yield (*above, key), value


def _axes(document: Mapping[str, Any], sweep: Mapping[str, Any], source: Path) -> tuple[Axis, ...]:
    """Read a grid; the keys of a design are together, where the first of them is."""
    found: list[Axis] = []
    designed: list[tuple[Path, Path, DesignTable]] = []
    first = 0
    for words, value in _flat(sweep, ranges=True):
        place = (*source, *words)
        path = _located(document, words, place)
        refuse_without_effect(path, place, swept=True)
        if isinstance(value, Mapping) and is_design(value):
            first = first if designed else len(found)
            designed.append((path, place, _validated(DesignTable, value, place)))
        else:
            found.append(Axis(path, _values(value, place), place))
    if designed:
        found[first:first] = _together(designed)
    return tuple(found)


def _together(designed: Sequence[tuple[Path, Path, DesignTable]]) -> list[Axis]:
    """Return the axes of a design: of the paths, places and ranges of its keys."""
    _, first, table = designed[0]
    for _, place, each in designed:
        if each.sobol != table.sobol or each.morris != table.morris:
            message = f"{dotted(place)} has another design than {dotted(first)}"
            raise SweepError(place, message, "give all keys the same sobol, or the same morris")
    tables = {_key(place): each for _, place, each in designed}
    design = Design("sobol" if table.sobol else "morris", table.sobol or table.morris or 0, tables)
    columns = zip(designed, design.values(), strict=True)
    return [Axis(path, values, place, design) for (path, place, _), values in columns]


def _validated(kind: type[_Table], value: Mapping[str, Any], source: Path) -> _Table:
    """Return a validated range; raise SweepError if it is invalid."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = problems_of(error, kind, value, source)[0]
        raise SweepError(first.path, first.message, first.remedy) from None


def _values(value: Any, source: Path) -> Sequence[Any] | LinearRange | LogRange:
    """Return the values of a swept key."""
    if isinstance(value, Mapping) and value:
        return _validated(Range, value, source).numbers
    if isinstance(value, range):
        value = value or []
    elif hasattr(value, "tolist"):  # an array of numpy's
        value = value.tolist()
    if not isinstance(value, list | tuple | range):
        message = f"{dotted(source)} is {value!r}"
        raise SweepError(source, message, "give a list of values, or { from = ..., to = ... }")
    if not value:
        raise SweepError(source, f"{dotted(source)} has no values", "give at least one")
    if not isinstance(value, range):
        refuse_equal(value, source)
    return value


def _located(document: Mapping[str, Any], words: Path, source: Path) -> Path:
    """Return where keys lead."""
    try:
        return path_of(document, [str(word) for word in words])
    except InvalidValueError as error:
        raise SweepError(source, f"{{key}}: {error.message}", error.remedy) from None


def _refuse_equal_names(variations: Sequence[Variation]) -> None:
    """Raise if two variations share a name; the default name is the number."""
    if all(each.name is None for each in variations):
        return
    seen: dict[str, int] = {}
    for number, each in enumerate(variations):
        before = seen.setdefault(_label(each, number), number)
        if before == number:
            continue
        named = number if each.name is not None else before
        message = f"two variations have the name {_label(each, number)!r}"
        if None in (each.name, variations[before].name):
            message += ", which one without a name gets as its number"
        raise SweepError(("variations", named, _NAME), message, "name them apart")


def _label(variation: Variation, number: int) -> str:
    """Return the name of a variation, by default its number."""
    return str(number + 1) if variation.name is None else variation.name


def _refuse_twice(variation: Variation, grid: Sequence[Axis]) -> None:
    """Raise if a key is set twice, also by a later table that contains it."""
    every: list[KeyAssignment | Axis] = [*variation.settings, *variation.axes, *grid]
    for number, later in enumerate(every):
        for earlier in every[:number]:
            if earlier.path[: len(later.path)] == later.path:
                message = f"{dotted(later.source)} sets {dotted(earlier.path)} again"
                remedy = f"{dotted(earlier.source)} does already; remove one of the two"
                raise SweepError(later.source, message, remedy)


class SweepError(ValueError):
    """An invalid sweep.

    Parameters
    ----------
    path : tuple of str or int
        The key of the campaign file.
    message, remedy : str
        As `InputProblem` has them.
    """

    def __init__(self, path: Path, message: str, remedy: str | None) -> None:
        self.problem = InputProblem(path, message, remedy)
        super().__init__(self.problem.text)


def refuse_without_effect(path: Path, source: Path, *, swept: bool) -> None:
    """Reject a swept key that does not affect results.

    Parameters
    ----------
    path : tuple of str or int
        The varied key, as steps into the scenario.
    source : tuple of str or int
        Its place in the campaign file.
    swept : bool
        True for a key of ``[sweep]``; a variation may also set limits.

    Raises
    ------
    SweepError
        No run depends on it.
    """
    written, key = dotted(source), dotted(path)
    if path[0] in KEYS_WITHOUT_EFFECT:
        remedy = "remove it; one of [[variations]] may have a name"
        raise SweepError(source, f"{written}: no run of a campaign depends on {key}", remedy)
    if (
        swept
        and path[0] == "simulation"
        and len(path) > 1
        and path[1] in SIMULATION_KEYS_WITHOUT_EFFECT
    ):
        limits = ("wall_limit", "memory_limit")
        also = f", or give [campaign] a {path[1]}" if path[1] in limits else ""
        remedy = f"set it once, in [simulation]{also}"
        raise SweepError(source, f"{written}: what runs compute does not depend on it", remedy)


def refuse_equal(values: Sequence[Any], source: Path) -> None:
    """Refuse a list that has a value twice; 1 and 1.0 are two.

    Raises
    ------
    SweepError
        It has.
    """
    seen: dict[str, int] = {}
    for at, each in enumerate(values):
        before = seen.setdefault(canonical_json(each), at)
        if before != at:
            message = f"{dotted(source)} has the value {each!r} twice, as number {before} and {at}"
            raise SweepError((*source, at), message, "remove one of the two")
