"""Which remarks on the facts of Grid'5000 concern a selection of sites and clusters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simplugin.platforms.grid5000 import Grid5000, Remark

_SITE = re.compile(r"(?:^|/)sites/([^/]+?)(?:\.json)?(?:/|$)")
_POINT = re.compile(r"(?:^|/)network_equipments/([^/]+?)(?:\.json)?(?:/|$)")
_CLUSTER = re.compile(r"/clusters/([^/]+?)(?:\.json)?(?:/|$)")


def concerning(
    remarks: Iterable[Remark],
    facts: Grid5000,
    sites: Collection[str] = (),
    clusters: Collection[str] = (),
) -> tuple[Remark, ...]:
    """Return the remarks on what was asked for.

    Parameters
    ----------
    remarks : iterable of Remark
        All of them; where they belong is told by ``sites/<site>`` and ``clusters/<cluster>`` in
        their places.
    facts : Grid5000
        What is left after the selection.
    sites, clusters : collection of str
        What was selected; all sites, and all clusters of the sites, if empty.

    Returns
    -------
    tuple of Remark
        In their order: those of selected sites and clusters, also where these were left out
        altogether; those of points of presence that the selection has links to; and all if
        nothing was selected.
    """
    if not sites and not clusters:
        return tuple(remarks)
    wanted = {*sites, *(site.uid for site in facts.sites)}
    points = {end for link in facts.backbone for end in link.ends}
    found = []
    for remark in remarks:
        site = _SITE.search(remark.place)
        cluster = _CLUSTER.search(remark.place)
        if site is not None:
            here = site[1] in wanted
        else:
            point = _POINT.search(remark.place)
            here = bool(points) and (point is None or point[1] in points)
        if here and (cluster is None or not clusters or cluster[1] in clusters):
            found.append(remark)
    return tuple(found)
