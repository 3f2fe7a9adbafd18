"""Formulas: their values beside Python's, and what is none."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.inputs.formulas import FormulaError, formula_value

VARIABLES = {"flops": 8.0, "num_nodes": 4.0, "alpha": 0.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("flops/num_nodes^alpha", 4),
        ("num_nodes % 3 == 0 ? num_nodes - 4 : num_nodes + 4", 8),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2^-1", 0.5),
        ("7-2-1", 4),
        ("flops > 9 ? 10 : alpha > 1 ? 20 : 30", 30),
        ("flops > 0 ? alpha > 2 ? 1 : 2 : 3", 2),
        ("max(flops > 1 ? 1 : 2, 7) + (alpha < 1 && flops >= 8 ? 5 : 6)", 12),
        ("1 < 2 and 3 > 4 || 1", 1),
        ("min(1e3, .5) * sqrt(pow(3, 2)) + round(2.5)", 4.5),
    ],
)
def test_values(text, value):
    assert formula_value(text, VARIABLES) == value


NUMBERS = st.floats(0.001, 1000).map(repr)
TEXTS = st.recursive(
    NUMBERS | st.sampled_from(sorted(VARIABLES)),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
    max_leaves=8,
)


@given(TEXTS)
def test_values_are_those_of_python(text):
    try:
        value = eval(text, {}, dict(VARIABLES))
    except ZeroDivisionError:
        value = math.inf
    if math.isfinite(value):
        assert formula_value(text, VARIABLES) == value
    else:
        with pytest.raises(FormulaError):
            formula_value(text, VARIABLES)


@given(st.text(st.sampled_from("ab1 .()?:,+-*/%^<>=&|§'\"\\#[]{}=\n_"), max_size=30))
def test_whatever_is_no_formula_is_refused(text):
    with contextlib.suppress(FormulaError):
        assert math.isfinite(formula_value(text, {"a": 1.0, "b": 2.0}))


def test_what_is_refused():
    for text in ("__import__('os')", "9**9**9**9", "2^" * 480 + "1", "(" * 400 + "1" + ")" * 400):
        with pytest.raises(FormulaError):
            formula_value(text, VARIABLES)
    with raises_naming(FormulaError, "flop", "flops"):
        formula_value("flop + 1", VARIABLES)
