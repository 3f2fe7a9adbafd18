"""Exponentials, logarithms and powers that have the same bits on every CPU (``cpp/elementary*``).

Use them for whatever a decision, a count or a draw follows from: those of `math` and NumPy choose an
implementation by the instructions of the CPU. Values are those of NumPy to one unit in the last
place, without warnings: 0 has the logarithm minus infinity, and what is not defined is NaN.
"""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_Given = NDArray[Any] | list[float] | tuple[float, ...]
_Floats = NDArray[np.float64]

@overload
def exp(x: float, /) -> float: ...
@overload
def exp(x: _Given, /) -> _Floats: ...
@overload
def expm1(x: float, /) -> float: ...
@overload
def expm1(x: _Given, /) -> _Floats: ...
@overload
def log(x: float, /) -> float: ...
@overload
def log(x: _Given, /) -> _Floats: ...
@overload
def log1p(x: float, /) -> float: ...
@overload
def log1p(x: _Given, /) -> _Floats: ...
@overload
def power(x: float, y: float, /) -> float: ...
@overload
def power(x: _Given, y: float | _Given, /) -> _Floats: ...
@overload
def power(x: float, y: _Given, /) -> _Floats: ...
