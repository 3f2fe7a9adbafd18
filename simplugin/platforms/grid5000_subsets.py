"""Four multi-cluster sites of Grid'5000, as they were in 2008.

Processors and speeds are Table 1 of [1]_; which sites have one switch is in its section 2. It gives
no bandwidths and latencies: those of `MultiCluster` are gigabit adapters and switches of 10 Gbit/s.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from simplugin.platforms.multi_clusters import MultiCluster

LILLE = MultiCluster(
    "lille", (("chuque", 53, 3.647e9), ("chti", 20, 4.311e9), ("chicon", 26, 4.384e9))
)
NANCY = MultiCluster(
    "nancy", (("grillon", 47, 3.379e9), ("grelon", 120, 3.185e9)), one_switch=False
)
RENNES = MultiCluster(
    "rennes", (("parasol", 64, 3.573e9), ("paravent", 99, 3.364e9), ("paraquad", 66, 4.603e9))
)
SOPHIA = MultiCluster(
    "sophia",
    (("azur", 74, 3.258e9), ("helios", 56, 3.675e9), ("sol", 50, 4.389e9)),
    one_switch=False,
)
SUBSETS = {site.name: site for site in (LILLE, NANCY, RENNES, SOPHIA)}
