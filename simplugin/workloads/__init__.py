"""Workloads: bags of tasks, the platforms that they share, and task graphs."""

from __future__ import annotations

from simplugin.workloads.applications import Application, Bags
from simplugin.workloads.graph_generators import GENERATORS, combination, graph_named
from simplugin.workloads.graph_sets import GraphSet
from simplugin.workloads.sharing import AlphaFair, Sharing
from simplugin.workloads.task_costs import CostLaw
from simplugin.workloads.task_graphs import TaskGraph

__all__ = [
    "GENERATORS",
    "AlphaFair",
    "Application",
    "Bags",
    "CostLaw",
    "GraphSet",
    "Sharing",
    "TaskGraph",
    "combination",
    "graph_named",
]
