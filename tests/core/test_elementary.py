import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core import elementary

EXACT = {
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.exp() - 1,
    "log": lambda x: x.ln(),
    "log1p": lambda x: (1 + x).ln(),
    "log2": lambda x: x.ln() / Decimal(2).ln(),
    "power": lambda x, y: (x.ln() * y).exp(),
}
POSITIVE = st.floats(1e-300, 1e300) | st.floats(0.5, 2)
ANY = st.floats(-700, 700) | st.floats(-1, 1)
GIVEN = {"exp": [ANY], "expm1": [ANY], "log": [POSITIVE], "log2": [POSITIVE]}
GIVEN |= {"power": [POSITIVE, ANY], "log1p": [st.floats(-0.999999, 1e300) | st.floats(-0.9, 1)]}
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 5e-324, -1e-310, 1e308, -1e308]
SPECIAL += [710.0, -746.0, 1024.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_values_are_within_two_units_in_the_last_place(name, data):
    arguments = [data.draw(each) for each in GIVEN[name]]
    with localcontext(prec=340):
        exact = EXACT[name](*map(Decimal, arguments))
        value = getattr(elementary, name)(*arguments)
        if 1e-300 < abs(exact) < 1e300:
            assert abs(Decimal(value) - exact) <= 2 * Decimal(math.ulp(value))
    # An array's values are those of its elements, to the last bit.
    assert getattr(elementary, name)(*([each] for each in arguments)).tolist() == [value]


@pytest.mark.parametrize("name", EXACT)
def test_special_values_are_those_of_numpy(name):
    grid = np.meshgrid(SPECIAL, SPECIAL)[: len(GIVEN[name])]
    found = getattr(elementary, name)(*grid)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*grid)
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=5e-324)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


def test_powers_of_two_have_whole_logarithms():
    exponents = np.arange(-1074, 1024)
    assert elementary.log2(np.ldexp(1.0, exponents)).tolist() == exponents.tolist()
