"""Run shipped scenarios as another CPU would; a program of `test_other_cpus`.

Arguments: the directory of the scenarios, and the usual probe as JSON, empty to record. Prints a
JSON object.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import numpy as np

from simplugin import Host, Platform, Zone, simulate
from simplugin.regression.checking import CheckOptions, Limits, check_recorded

# What figures that vanish are compared within.
TOLERANCE = 1e-9


def probe():
    """Return digests of values whose last bits depend on the CPU, by library."""
    draws = np.random.default_rng(1)
    numbers, matrix = draws.uniform(-3, 3, 2000), draws.normal(size=(40, 12))
    column = matrix[:, 0]
    values = {
        "blas": (matrix.T @ matrix, matrix.T @ column, np.linalg.lstsq(matrix[:, 1:], column)[0]),
        "libm": [(math.sin(x), math.exp(x), math.pow(2 + abs(x), x)) for x in numbers.tolist()],
        "numpy": (np.exp(numbers), np.log(abs(numbers)), np.exp(numbers.astype(np.float32))),
    }
    return {
        name: hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in found)).hexdigest()
        for name, found in values.items()
    }


async def probing(_):
    """Return the probe of the process in which simulations run."""
    return probe()


def run(directory, usual):
    """Return the probe, and what is not as recorded; only the probe if it is the usual one."""
    found = {"probe": probe()}
    if found["probe"] == usual:
        return found
    platform = Platform(Zone("zone", "Full", [Host("host", 1e9)]))
    result = simulate(platform, [("host", probing)], trace=False)
    assert result.returned[0].value == found["probe"]
    # One after the other: the children of the tests share the machine.
    limits = Limits(TOLERANCE, TOLERANCE)
    checked = check_recorded([Path(directory)], CheckOptions(jobs=1), limits, update=not usual)
    found["moved"] = {each.name: each.explanation for each in checked if not each.agrees}
    found["scenarios"] = len(checked)
    return found


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], json.loads(sys.argv[2]))))
