"""Write what simplugin ships of the LCG grid's trace: its bundles, one a row.

    python tools/lcg_bundles.py LCG-2005.swf.gz > simplugin/workloads/lcg_bundles.csv

The trace is that of the Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/
workload/l_lcg/.
"""

from __future__ import annotations

import sys

from simplugin.formats.swf import read_swf
from simplugin.workloads.bundles import trace_bundles
from simplugin.workloads.job_traces import JobTrace


def table_text(trace: JobTrace) -> str:
    """Return the table of the bundles of a trace, as CSV.

    Parameters
    ----------
    trace : JobTrace
        The trace; bundles are those of `trace_bundles` without further arguments.
    """
    rows = [
        f"{each.release:.0f},{each.count},{each.user},{each.partition},{round(each.mean, 3)}"
        f",{round(each.variation, 6)}\n"
        for each in trace_bundles(trace)
    ]
    return "".join(["release,count,user,partition,mean,variation\n", *rows])


def main(arguments: list[str]) -> int:
    """Write the table to standard output."""
    if len(arguments) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    sys.stdout.write(table_text(read_swf(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
