"""Rounds over all agents, compiled (``cpp/kernels/pricing*``)."""

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

class Trees:
    threads: int
    def __init__(
        self,
        application: _Integers,
        parent: _Integers,
        host: _Integers,
        link: _Integers,
        computes: NDArray[np.bool_],
        masters: _Integers,
        speed: _Floats,
        bandwidth: _Floats,
    ) -> None: ...

    # The report's rule: `policies.gradient`.

    def gradient(
        self,
        rate: _Floats,
        memory: _Floats,
        count: _Floats,
        host_price: _Floats,
        link_price: _Floats,
        host_step: _Floats,
        link_step: _Floats,
        numbers: _Floats,
        *,
        alpha: float,
        scaled: bool,
        late: bool,
        fresh: bool,
        seidel: bool,
        counted: bool,
        normalised: bool,
    ) -> tuple[_Floats, _Floats, _Floats, _Floats, _Floats]: ...

    # Markets: `policies.market`.

    def clear(
        self, request: _Floats, metric: _Floats, demand: _Floats
    ) -> tuple[_Floats, _Floats]: ...
    def answers(
        self, offer: _Floats, request: _Floats, metric: _Floats, slack: _Floats, share: _Floats
    ) -> _Floats: ...

    # `middle`, the result of `answers`, makes room for `nu`.
    def settle(
        self,
        *,
        request: _Floats,
        metric: _Floats,
        offer: _Floats,
        bound: _Floats,
        offer_before: _Floats,
        paid_before: _Floats,
        middle: _Floats,
        slack: _Floats,
        share: _Floats,
        numbers: _Floats,
        residual: _Floats,
        relaxation: float,
        memory: float,
        plan: _Floats | None = None,
    ) -> tuple[_Floats, _Floats, _Floats, _Floats, _Floats]: ...
    def weights(self, metric: _Floats) -> tuple[_Floats, _Floats]: ...
    def adapt(
        self,
        *,
        offer: _Floats,
        bound: _Floats,
        demand: _Floats,
        numbers: _Floats,
        price: _Floats,
        balance: _Floats,
        size: float,
        floor: float,
        ceiling: float,
    ) -> _Floats: ...
    def move(
        self, offer: _Floats, plan: _Floats, nu: _Floats, metric: _Floats, relaxation: float
    ) -> _Floats: ...
    def carried(self, offer: _Floats, bound: _Floats) -> _Floats: ...
