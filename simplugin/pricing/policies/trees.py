"""The trees of a deployment as its compiled rounds use them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from simplugin.pricing._kernels import Trees
from simplugin.workloads.shared_deployment import SharedDeployment

_KNOWN: WeakKeyDictionary[SharedDeployment, Trees] = WeakKeyDictionary()


def trees_of(sharing: SharedDeployment) -> Trees:
    """Return the trees of a deployment, made once.

    Set `threads` to 2 to run rounds on two cores; results have the same bits.
    """
    if sharing not in _KNOWN:
        agents = sharing.application, sharing.parent, sharing.host, sharing.link, sharing.computes
        resources = sharing.masters, sharing.speed, sharing.bandwidth
        _KNOWN[sharing] = Trees(*agents, *resources)
    return _KNOWN[sharing]
