import hashlib
from decimal import Context, Decimal

import numpy as np
import pytest

from simplugin.elementary import exp, log

EXACT = Context(prec=50)
DRAWS, MORE = np.random.default_rng(0).uniform(-1, 1, (2, 2000))
# From 2^-1000 to 2^1000, and near 1.
WIDE = np.concatenate([np.ldexp(1.5 + DRAWS / 2, (1000 * MORE).astype(int)), 1 + DRAWS / 3])
# From -700 to 700, and near 0.
SIGNED = np.concatenate([700 * DRAWS, np.ldexp(DRAWS, (-60 * MORE**2).astype(int))])


@pytest.mark.parametrize(
    ("function", "exact", "arguments", "digest"),
    [(log, EXACT.ln, WIDE, "cbab46b8cda777a2"), (exp, EXACT.exp, SIGNED, "0b6e7ec6de2a85f3")],
)
def test_results_are_near_the_exact_ones_and_equal_on_every_cpu(function, exact, arguments, digest):
    found = function(arguments)
    expected = [exact(Decimal(x)) for x in arguments.tolist()]
    for got, true in zip(found.tolist(), expected, strict=True):
        assert abs(Decimal(got) - true) <= Decimal(float(np.spacing(abs(got))))
    assert [float(function(x)) for x in arguments.tolist()] == found.tolist()
    # Recorded on an x86-64 CPU with FMA and AVX2; no other CPU may round otherwise.
    assert hashlib.sha256(found.astype("<f8").tobytes()).hexdigest()[:16] == digest


def test_ends_of_the_ranges():
    assert log(1.0) == exp(-np.inf) == exp(-800.0) == 0
    assert (exp(0.0), log(4.0), log(0.5)) == (1, 2 * log(2.0), -log(2.0))
    assert log(5e-324) == pytest.approx(-1074 * np.log(2))
