"""What is to run: bags of tasks, and what they share."""

from __future__ import annotations

from simplugin.workloads.applications import Application
from simplugin.workloads.bags import Bags
from simplugin.workloads.sharing import Sharing
from simplugin.workloads.utility import AlphaFair

__all__ = ["AlphaFair", "Application", "Bags", "Sharing"]
