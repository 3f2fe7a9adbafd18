"""Write what simplugin ships of the LCG grid's trace: its bundles, one a row.

    python tools/lcg_bundles.py LCG-2005.swf.gz > simplugin/workloads/lcg_bundle_rows.py

The trace is that of the Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/
workload/l_lcg/.
"""

from __future__ import annotations

import sys

from simplugin.formats.swf import read_swf
from simplugin.workloads.bundles import trace_bundles
from simplugin.workloads.job_traces import JobTrace

_HEAD = '''\
"""Bundles of the LCG grid's trace: release, count, user, partition, mean, variation of run times.

Made by ``python tools/lcg_bundles.py LCG-2005.swf.gz``; not to be edited. `lcg_bundles` says what
these are.
"""

from __future__ import annotations

ROWS: tuple[tuple[int, int, int, int, float, float], ...] = (
'''


def row_texts(trace: JobTrace) -> list[str]:
    """Return the row of each bundle of a trace.

    Parameters
    ----------
    trace : JobTrace
        The trace; bundles are those of `trace_bundles` without further arguments.
    """
    return [
        f"({each.release:.0f}, {each.count}, {each.user}, {each.partition},"
        f" {round(each.mean, 3)}, {round(each.variation, 6)})"
        for each in trace_bundles(trace)
    ]


def module_text(trace: JobTrace) -> str:
    """Return the module with the rows of a trace."""
    return _HEAD + "".join(f"    {row},\n" for row in row_texts(trace)) + ")\n"


def main(arguments: list[str]) -> int:
    """Write the module to standard output."""
    if len(arguments) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    sys.stdout.write(module_text(read_swf(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
