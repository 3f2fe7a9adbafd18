"""What is to run: bags of tasks, what they share, and task graphs."""

from __future__ import annotations

from simplugin.workloads.applications import Application
from simplugin.workloads.bags import Bags
from simplugin.workloads.graph_generators import GENERATORS, graph_named
from simplugin.workloads.graph_sets import GraphSet
from simplugin.workloads.sharing import Sharing
from simplugin.workloads.task_costs import CostLaw
from simplugin.workloads.task_graph_combinations import combination
from simplugin.workloads.task_graphs import TaskGraph
from simplugin.workloads.utility import AlphaFair

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
