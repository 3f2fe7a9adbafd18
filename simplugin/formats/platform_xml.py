"""Platforms and deployments from and to SimGrid 4.1 XML files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from simplugin.core.errors import DeploymentError, PlatformError
from simplugin.formats import xml_text
from simplugin.formats.elements import ELEMENTS, FILE, TAGS, TEXT
from simplugin.formats.platform_reading import PlatformReader, read_document
from simplugin.inputs.files import FilePath, uncollected, write
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.deployment import Deployment
from simplugin.platforms.hosts import Cluster, Host, Router, spoke
from simplugin.platforms.links import SHARED, SPLITDUPLEX, Backbone, Link
from simplugin.platforms.platform import Opaque, Platform, Zone, ZoneElement
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.platforms.radical import numbers


def read_deployment(path: FilePath) -> Deployment:
    """Read the actors of a deployment file.

    Parameters
    ----------
    path : path
        A file in SimGrid's format 4 or 4.1.

    Returns
    -------
    Deployment
        Its actors, in the order of the file.

    Raises
    ------
    DeploymentError
        The file cannot be read, says something wrong or holds other things than actors; the
        first error, with its line. `simplugin.formats.check` gives all of them.
    """
    root = read_document(path, DeploymentError)
    try:
        platform = PlatformReader(path).platform(root)
    except PlatformError as problem:
        raise DeploymentError(
            problem.message, file=path, line=problem.line, remedy=problem.remedy
        ) from None
    if platform.elements:
        raise DeploymentError(
            "this is a platform file, not a deployment",
            file=path,
            line=root.children[0].line,
            remedy="give the hardware as the platform, and <actor> elements as the deployment",
        )
    return Deployment(platform.actors)


def write_deployment(deployment: Deployment, path: FilePath, *, comment: str | None = None) -> None:
    """Write a deployment to a file that SimGrid 4.1 loads.

    Parameters
    ----------
    deployment : Deployment
        What to write; reading the file gives it back.
    path : path
        Where; an existing file is replaced.
    comment : str, optional
        Placed at the top, for instance the command that made the file.

    Raises
    ------
    DeploymentError
        The file cannot be written.
    """
    write(deployment_text(deployment, comment=comment), path, DeploymentError)


def deployment_text(deployment: Deployment, *, comment: str | None = None) -> str:
    """Return a deployment as SimGrid 4.1 XML.

    Parameters
    ----------
    deployment : Deployment
        What to write.
    comment : str, optional
        Placed at the top.

    Returns
    -------
    str
        The whole document.
    """
    return platform_text(Platform(actors=deployment.actors), comment=comment)


def expanded(cluster: Cluster) -> Zone:
    """Return the zone that SimGrid makes of a flat cluster, element by element.

    Parameters
    ----------
    cluster : Cluster
        A flat cluster without limiter links, loopback links and fat-pipe backbone.

    Returns
    -------
    Zone
        Same hosts, links, router and routes under the same names.

    Raises
    ------
    PlatformError
        The cluster has no equivalent in XML.
    """
    backbone = cluster.backbone_sharing_policy if cluster.backbone_bandwidth else SHARED
    for is_one, obstacle in (
        (cluster.topology != "FLAT", f"its topology is {cluster.topology}"),
        (cluster.limiter_bandwidth is not None, "it has limiter links"),
        (cluster.loopback_bandwidth is not None, "it has loopback links"),
        (backbone != SHARED, f"its backbone is {backbone}"),
    ):
        if is_one:
            message = f"cluster {cluster.id!r} cannot be written host by host: {obstacle}"
            remedy = "leave the clusters as they are: their links follow no profile then"
            raise PlatformError(message, remedy=remedy)
    elements: list[ZoneElement] = []
    split = cluster.sharing_policy == SPLITDUPLEX
    # SimGrid makes FATPIPE links of a flat cluster SHARED.
    policy = SPLITDUPLEX if split else SHARED
    for name, number in zip(cluster.host_names(), numbers(cluster.radical), strict=True):
        link = Link(f"{cluster.id}_link_{number}", cluster.bandwidth, cluster.latency, policy)
        speeds = (cluster.speed, cluster.cores, cluster.further_speeds)
        elements += spoke(Host(name, *speeds, properties=cluster.properties), link)
    if cluster.backbone_bandwidth is not None:
        bandwidth, latency = cluster.backbone_bandwidth, cluster.backbone_latency
        elements.append(Backbone(f"{cluster.id}_backbone", bandwidth, latency))
    elements.append(Router(cluster.router_name or ""))
    return Zone(cluster.id, "Cluster", tuple(elements), properties=cluster.properties)


def expanded_platform(platform: Platform) -> Platform:
    """Return a platform with clusters as zones of explicit hosts and links.

    Names and routes stay the same; links of what were clusters can follow profiles.

    Parameters
    ----------
    platform : Platform
        With flat clusters, or none.

    Returns
    -------
    Platform
        What reading it gives after ``write_platform(platform, path, expand=True)``.

    Raises
    ------
    PlatformError
        A cluster has no equivalent in XML; for example, it is not flat.
    """
    return replace(platform, elements=tuple(map(_written_out, platform.elements)))


def _written_out(element: Any) -> Any:
    """Return an element with the clusters in it as zones."""
    if isinstance(element, Zone):
        return replace(element, elements=tuple(map(_written_out, element.elements)))
    return expanded(element) if isinstance(element, Cluster) else element


def _lines(part: Any, indent: str, locate: Callable[[str], str]) -> list[str]:
    """Return the lines of a part and its children, with other names of profile files."""
    if isinstance(part, Opaque):
        return [indent + xml_text.empty(part.tag, part.attributes.items())]
    tag = TAGS[type(part)]
    element = ELEMENTS[tag]
    attributes = []
    for attribute, getter, default in element.getters:
        value = getter(part)
        if value == default or (attribute.beside and getattr(part, attribute.beside) is None):
            continue
        text = value if attribute.codec is TEXT else attribute.codec.write(value)
        attributes.append((attribute.key, locate(text) if attribute.codec is FILE else text))
    if element.text and part.text:
        # The text of a profile is written unchanged.
        start = xml_text.start(tag, attributes)
        return [f"{indent}{start}>{escape(part.text, quote=False)}</{tag}>"]
    content: list[str] = []
    inner = indent + "  "
    for name in element.content:
        values = getattr(part, name)
        if name in ("properties", "options"):
            content += xml_text.properties(inner, values)
        elif name == "arguments":
            content += [inner + xml_text.empty("argument", [("value", each)]) for each in values]
        else:
            if isinstance(part, Zone):
                # SimGrid's parser takes nothing after the profiles of a zone of zones.
                values = (*values, *part.routes)
                values = sorted(values, key=lambda each: isinstance(each, Profile | ProfileUse))
            content += [line for each in values for line in _lines(each, inner, locate)]
    return xml_text.block(indent, tag, attributes, content)


def read_platform(path: FilePath) -> Platform:
    """Read a platform file without expanding it: its zones, clusters, hosts, links and routes.

    Parameters
    ----------
    path : path
        A file in SimGrid's format 4 or 4.1.

    Returns
    -------
    Platform
        Its `directory` is that of the file.

    Raises
    ------
    PlatformError
        The file cannot be read or says something wrong; the first error, with its line.
        `simplugin.formats.check` gives all of them.
    """
    with uncollected():
        return PlatformReader(path).platform(read_document(path, PlatformError))


def write_platform(
    platform: Platform,
    path: FilePath,
    *,
    comment: str | None = None,
    expand: bool = False,
) -> None:
    """Write a platform to a file that SimGrid 4.1 loads.

    Reading the file gives the platform back, up to the names of profile files: those that are
    absolute, or relative to the directory of another file, are named relative to the new file,
    since SimGrid 4.1 opens none by an absolute path. A cluster is one element.

    Parameters
    ----------
    platform : Platform
        What to write.
    path : path
        Where; an existing file is replaced.
    comment : str, optional
        Placed at the top, for instance the command that made the file.
    expand : bool
        Give each host of a cluster an element of its own.

    Raises
    ------
    PlatformError
        SimGrid would refuse the platform, a cluster cannot be expanded, or the file cannot be
        written.
    """
    require_consistent(platform)
    directory = Path(path).absolute().parent
    text = platform_text(platform, comment=comment, expand=expand, directory=directory)
    write(text, path, PlatformError)


def platform_text(
    platform: Platform,
    *,
    comment: str | None = None,
    expand: bool = False,
    directory: FilePath | None = None,
) -> str:
    """Return a platform as SimGrid 4.1 XML.

    Parameters
    ----------
    platform : Platform
        What to write.
    comment : str, optional
        Placed at the top.
    expand : bool
        Give each host of a cluster an element of its own.
    directory : path, optional
        Where the text will be a file, so that profile files elsewhere can be named relative to
        it. None leaves their names unchanged.

    Returns
    -------
    str
        The whole document.
    """

    def locate(name: str) -> str:
        """Name a profile file as seen from the new place."""
        if directory is None:
            return name
        home = platform.directory
        if not os.path.isabs(name):
            if home is None or not (home / name).exists() or home == Path(directory).absolute():
                return name
            name = str(home / name)
        return os.path.relpath(os.path.realpath(name), os.path.realpath(directory))

    if expand:
        platform = expanded_platform(platform)
    parts = (*platform.config, *platform.elements, *platform.actors)
    lines = [line for part in parts for line in _lines(part, "  ", locate)]
    text = "\n".join(['<platform version="4.1">', *lines, "</platform>\n"])
    return xml_text.HEADER + xml_text.comment(comment) + text
