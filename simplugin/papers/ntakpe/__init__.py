"""Reproduction of the scheduling of concurrent parallel task graphs on multi-clusters.

N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on Multi-Clusters Using
Constrained Resource Allocations. INRIA research report 6774.
"""
