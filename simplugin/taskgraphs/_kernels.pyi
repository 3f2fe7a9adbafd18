"""Allocation and mapping, compiled (``cpp/taskgraphs*``)."""

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Allocation: only `reference` and `allocation` use it.

class Growth:
    def __init__(
        self,
        flop: _Floats,
        alpha: _Floats,
        successor_start: _Integers,
        successor: _Integers,
        order: _Integers,
        level: _Integers,
        most: _Integers,
        speed: float,
    ) -> None: ...
    def balanced(self, processors: float) -> _Integers: ...
    def within_area(self, limit: float) -> _Integers: ...
    def within_levels(self, limit: int, passes: bool) -> _Integers: ...

def fewest_processors(
    flop: _Floats, alpha: _Floats, time: _Floats, speed: _Floats, processors: _Integers
) -> _Integers: ...
def most_processors(
    flop: _Floats, alpha: _Floats, time: _Floats, speed: float, processors: int
) -> _Integers: ...

# Mapping: only `mapping` uses it.

class MappingTasks:
    def __init__(
        self,
        flop: _Floats,
        alpha: _Floats,
        release: _Floats,
        before_start: _Integers,
        before: _Integers,
        byte: _Floats,
        after_start: _Integers,
        after: _Integers,
    ) -> None: ...

class MappingClusters:
    def __init__(
        self,
        processors: _Integers,
        speed: _Floats,
        bandwidth: _Floats,
        latency: _Floats,
        shared: _Floats,
        switch: NDArray[np.int64],
    ) -> None: ...

class Mapper:
    def __init__(
        self,
        tasks: MappingTasks,
        clusters: MappingClusters,
        packing: str,
        by_bottom_level: bool,
        reserve: bool,
        transfers: bool,
        together: bool,
        kept: bool,
    ) -> None: ...
    def set_allocation(self, first: int, processors: _Integers, time: _Floats) -> None: ...
    def plan(self) -> None: ...
    def copy(self) -> Mapper: ...
    def forecast(self, now: float) -> NDArray[np.float64]: ...
    def map_ready(self, now: float, ready: list[int]) -> list[int]: ...
    def deviate(self, now: float, task: int, processors: NDArray[np.int64]) -> list[int]: ...
    def started(self, task: int, date: float) -> None: ...
    def finished(self, task: int, date: float) -> None: ...
    def update(self, now: float) -> None: ...
    def mapping(self, task: int) -> tuple[int, _Integers, float, float]: ...
    def schedule(
        self,
    ) -> tuple[_Integers, _Floats, _Floats, _Integers, _Integers, _Integers]: ...

def moved_parts(sources: list[_Integers], targets: list[_Integers]) -> _Floats: ...
