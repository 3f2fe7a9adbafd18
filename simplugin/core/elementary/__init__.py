"""Exponentials, logarithms and powers with the same bits on every CPU.

Use them for all that a decision, a count or a draw follows from: those of `math` and NumPy choose
an implementation by the instructions of the CPU. Errors are below two units in the last place.
There are neither warnings nor exceptions: the logarithm of 0 is minus infinity, that of a negative
number NaN, and what overflows is infinite.
"""

from simplugin.core.elementary import _elementary

exp = _elementary.exp
expm1 = _elementary.expm1
log = _elementary.log
log1p = _elementary.log1p
log2 = _elementary.log2
power = _elementary.power
