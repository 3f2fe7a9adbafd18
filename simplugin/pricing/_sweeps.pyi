"""The compiled sweeps (``cpp/sweeps*``): only `arrangement` and `compiled` use them."""

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Indices = NDArray[np.int32]
_Integers = NDArray[np.int64]

class Trees:
    def __init__(
        self,
        father: _Indices,
        link: _Indices,
        host: _Indices,
        application: _Indices,
        computes: NDArray[np.bool_],
        byte: _Floats,
        flop: _Floats,
        n_links: int,
        n_hosts: int,
    ) -> None: ...
    @property
    def link(self) -> _Indices: ...
    @property
    def host(self) -> _Indices: ...
    def gather(self, flow: _Floats) -> None: ...

class Resources:
    def __init__(self, price: _Floats) -> None: ...
    @property
    def price(self) -> _Floats: ...
    def reprice(self, capacity: _Floats, step: float) -> None: ...

def arrange(
    father: _Integers, application: _Integers, host: _Integers, n_applications: int, n_hosts: int
) -> _Indices: ...
def first_met(met: _Indices, count: int) -> _Indices: ...
def scaled_down(
    trees: Trees,
    count: _Indices,
    inverse: _Floats,
    memory_step: float,
    rate_step: float,
    utility_step: float,
    links: Resources,
    hosts: Resources,
    rate: _Floats,
    memory: _Floats,
    flow: _Floats,
    eta: _Floats,
) -> None: ...

class Side:
    def __init__(
        self,
        resource: _Indices,
        demand: _Floats,
        bound: _Floats,
        wish: _Floats,
        metric: _Floats,
        capacity: _Floats,
    ) -> None: ...
    @property
    def offer(self) -> _Floats: ...
    @property
    def price(self) -> _Floats: ...
    def copy(self) -> Side: ...
    def clear(self, trees: Trees) -> None: ...

class Sweep:
    def __init__(self, n_agents: int) -> None: ...
    @property
    def slack(self) -> _Floats: ...
    @property
    def middle(self) -> _Floats: ...
    def copy(self) -> Sweep: ...

def measure(trees: Trees, hosts: Side, links: Side, sweep: Sweep) -> None: ...
def up(trees: Trees, hosts: Side, links: Side, sweep: Sweep) -> None: ...
def down(
    trees: Trees,
    hosts: Side,
    links: Side,
    sweep: Sweep,
    worth: _Floats,
    value: _Floats,
    reached: _Floats,
    relaxation: float,
    memory: float,
    changing: bool,
) -> None: ...
def adapt(
    trees: Trees,
    hosts: Side,
    links: Side,
    sweep: Sweep,
    value: _Floats,
    reached: _Floats,
    size: float,
    limits: tuple[float, float],
    strength: float,
    rebalance: tuple[float, float],
) -> None: ...
