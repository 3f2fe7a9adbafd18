"""Each part of a platform as lines of SimGrid 4.1 XML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simplugin.formats import xml_text
from simplugin.formats.cluster_expansion import expanded
from simplugin.formats.deployment_writing import actor_lines
from simplugin.formats.quantities import bandwidth_text, number_text, speed_text, time_text
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer, Router
from simplugin.platforms.links import Backbone, BypassZoneRoute, HostLink, Link, ZoneRoute
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.profiles import Profile, ProfileUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simplugin.platforms.links import AnyRoute

    Attributes = list[tuple[str, str]]


class PlatformLines:
    """Turns parts of a platform into lines.

    Parameters
    ----------
    locate : callable
        From the name of a profile file as the platform has it to the name to write.
    expand : bool
        Whether each host of a cluster is to have an element of its own.
    """

    def __init__(self, locate: Callable[[str], str], *, expand: bool) -> None:
        self._locate = locate
        self._expand = expand
        self._writers: dict[type, Callable[[Any, str], list[str]]] = {
            Zone: self._zone,
            Cluster: self._cluster,
            Host: self._host,
            Router: self._router,
            Peer: self._peer,
            Cabinet: self._cabinet,
            Link: self._link,
            Backbone: self._backbone,
            HostLink: self._host_link,
            Profile: self._profile,
            ProfileUse: self._profile_use,
            Config: self._config,
            Opaque: self._opaque,
        }

    def platform(self, platform: Platform) -> list[str]:
        """Return the lines of the root element."""
        lines = ['<platform version="4.1">']
        for part in (*platform.config, *platform.elements):
            lines += self._writers[type(part)](part, "  ")
        for actor in platform.actors:
            lines += actor_lines(actor, "  ")
        return [*lines, "</platform>"]

    def _zone(self, zone: Zone, indent: str) -> list[str]:
        """Write a zone and what is in it."""
        inner = indent + "  "
        content = xml_text.properties(inner, zone.properties)
        writers = self._writers
        last: list[str] = []
        for element in zone.elements:
            # SimGrid's parser takes neither zones nor links after the profiles of a zone of zones.
            lines = last if isinstance(element, Profile | ProfileUse) else content
            lines += writers[type(element)](element, inner)
        for route in zone.routes:
            content += _route(route, inner)
        content += last
        return xml_text.block(indent, "zone", [("id", zone.id), ("routing", zone.routing)], content)

    def _cluster(self, cluster: Cluster, indent: str) -> list[str]:
        """Write a cluster, as one element unless asked otherwise."""
        if self._expand:
            return self._zone(expanded(cluster), indent)
        attributes = [
            ("id", cluster.id),
            ("prefix", cluster.prefix),
            ("suffix", cluster.suffix),
            ("radical", cluster.radical),
            ("speed", _list(speed_text, cluster.speeds)),
        ]
        if cluster.cores != 1:
            attributes.append(("core", str(cluster.cores)))
        attributes.append(("bw", bandwidth_text(cluster.bandwidth)))
        attributes.append(("lat", time_text(cluster.latency)))
        attributes += _cluster_options(cluster)
        content = xml_text.properties(indent + "  ", cluster.properties)
        return xml_text.block(indent, "cluster", attributes, content)

    def _host(self, host: Host, indent: str) -> list[str]:
        """Write a host with its disks."""
        attributes = [("id", host.id), ("speed", _list(speed_text, host.speeds))]
        if host.cores != 1:
            attributes.append(("core", str(host.cores)))
        if host.pstate:
            attributes.append(("pstate", str(host.pstate)))
        attributes += self._files(
            ("speed_file", host.speed_profile), ("state_file", host.state_profile)
        )
        attributes += _coordinates(host.coordinates)
        if not host.disks and not host.properties:
            return [indent + xml_text.empty("host", attributes)]
        inner = indent + "  "
        content = xml_text.properties(inner, host.properties)
        for disk in host.disks:
            disk_attributes = [
                ("id", disk.id),
                ("read_bw", bandwidth_text(disk.read_bandwidth)),
                ("write_bw", bandwidth_text(disk.write_bandwidth)),
            ]
            disk_content = xml_text.properties(inner + "  ", disk.properties)
            content += xml_text.block(inner, "disk", disk_attributes, disk_content)
        return xml_text.block(indent, "host", attributes, content)

    def _peer(self, peer: Peer, indent: str) -> list[str]:
        """Write a peer."""
        attributes = [
            ("id", peer.id),
            ("speed", speed_text(peer.speed)),
            ("bw_in", bandwidth_text(peer.bandwidth_in)),
            ("bw_out", bandwidth_text(peer.bandwidth_out)),
            *_coordinates(peer.coordinates),
            *self._files(("speed_file", peer.speed_profile), ("state_file", peer.state_profile)),
        ]
        return [indent + xml_text.empty("peer", attributes)]

    def _cabinet(self, cabinet: Cabinet, indent: str) -> list[str]:
        """Write a cabinet."""
        attributes = [
            ("id", cabinet.id),
            ("prefix", cabinet.prefix),
            ("suffix", cabinet.suffix),
            ("radical", cabinet.radical),
            ("speed", speed_text(cabinet.speed)),
            ("bw", bandwidth_text(cabinet.bandwidth)),
            ("lat", time_text(cabinet.latency)),
        ]
        return [indent + xml_text.empty("cabinet", attributes)]

    def _router(self, router: Router, indent: str) -> list[str]:
        """Write a router."""
        attributes = [("id", router.id), *_coordinates(router.coordinates)]
        return [indent + xml_text.empty("router", attributes)]

    def _link(self, link: Link, indent: str) -> list[str]:
        """Write a link; its latency always, since SimGrid 4.1 refuses a link without."""
        attributes = [
            ("id", link.id),
            ("bandwidth", _list(bandwidth_text, link.bandwidths)),
            ("latency", time_text(link.latency)),
        ]
        if link.sharing_policy != "SHARED":
            attributes.append(("sharing_policy", link.sharing_policy))
        attributes += self._files(
            ("bandwidth_file", link.bandwidth_profile),
            ("latency_file", link.latency_profile),
            ("state_file", link.state_profile),
        )
        content = xml_text.properties(indent + "  ", link.properties)
        return xml_text.block(indent, "link", attributes, content)

    def _backbone(self, backbone: Backbone, indent: str) -> list[str]:
        """Write a backbone."""
        attributes = [
            ("id", backbone.id),
            ("bandwidth", bandwidth_text(backbone.bandwidth)),
            ("latency", time_text(backbone.latency)),
        ]
        return [indent + xml_text.empty("backbone", attributes)]

    def _host_link(self, link: HostLink, indent: str) -> list[str]:
        """Write a host link."""
        attributes = [("id", link.host), ("up", link.up), ("down", link.down)]
        return [indent + xml_text.empty("host_link", attributes)]

    def _profile(self, profile: Profile, indent: str) -> list[str]:
        """Write a profile, its text exactly as it is."""
        attributes = [
            ("id", profile.id),
            *self._files(("file", profile.file)),
            ("periodicity", number_text(profile.period)),
        ]
        if not profile.text:
            return [indent + xml_text.empty("trace", attributes)]
        text = xml_text.escape_content(profile.text)
        return [f"{indent}{xml_text.start('trace', attributes)}>{text}</trace>"]

    def _profile_use(self, use: ProfileUse, indent: str) -> list[str]:
        """Write that an element follows a profile."""
        attributes = [("trace", use.profile), ("element", use.element), ("kind", use.kind)]
        return [indent + xml_text.empty("trace_connect", attributes)]

    def _config(self, config: Config, indent: str) -> list[str]:
        """Write SimGrid options."""
        attributes = [("id", config.id)] if config.id else []
        content = xml_text.properties(indent + "  ", config.options)
        return xml_text.block(indent, "config", attributes, content)

    def _opaque(self, element: Opaque, indent: str) -> list[str]:
        """Write an element as it was read."""
        return [indent + xml_text.empty(element.tag, element.attributes.items())]

    def _files(self, *files: tuple[str, str]) -> Attributes:
        """Return an attribute for each profile file there is."""
        return [(key, self._locate(name)) for key, name in files if name]


def _route(route: AnyRoute, indent: str) -> list[str]:
    """Write a route of any kind."""
    attributes = [("src", route.source), ("dst", route.destination)]
    if isinstance(route, ZoneRoute | BypassZoneRoute):
        attributes.append(("gw_src", route.gateway_source))
        attributes.append(("gw_dst", route.gateway_destination))
    if not getattr(route, "symmetrical", True):
        attributes.append(("symmetrical", "NO"))
    lines = [f"{indent}{xml_text.start(route.tag, attributes)}>"]
    for use in route.links:
        direction = "" if use.direction == "NONE" else f'" direction="{use.direction}'
        lines.append(f'{indent}  <link_ctn id="{xml_text.escape(use.link)}{direction}"/>')
    lines.append(f"{indent}</{route.tag}>")
    return lines


def _cluster_options(cluster: Cluster) -> Attributes:
    """Return the attributes of a cluster that differ from SimGrid's defaults."""
    options: Attributes = []
    if cluster.sharing_policy != "SPLITDUPLEX":
        options.append(("sharing_policy", cluster.sharing_policy))
    if cluster.topology != "FLAT":
        options.append(("topology", cluster.topology))
    if cluster.topology_parameters:
        options.append(("topo_parameters", cluster.topology_parameters))
    if cluster.backbone_bandwidth is not None:
        options.append(("bb_bw", bandwidth_text(cluster.backbone_bandwidth)))
        options.append(("bb_lat", time_text(cluster.backbone_latency)))
    if cluster.backbone_sharing_policy != "SHARED":
        options.append(("bb_sharing_policy", cluster.backbone_sharing_policy))
    if cluster.router:
        options.append(("router_id", cluster.router))
    if cluster.limiter_bandwidth is not None:
        options.append(("limiter_link", bandwidth_text(cluster.limiter_bandwidth)))
    if cluster.loopback_bandwidth is not None:
        options.append(("loopback_bw", bandwidth_text(cluster.loopback_bandwidth)))
        options.append(("loopback_lat", time_text(cluster.loopback_latency)))
    return options


def _coordinates(coordinates: tuple[float, float, float] | None) -> Attributes:
    """Return the attribute for network coordinates, if there are any."""
    if coordinates is None:
        return []
    return [("coordinates", " ".join(repr(float(value)) for value in coordinates))]


def _list(write: Callable[[float], str], values: Iterable[float]) -> str:
    """Write several quantities separated by commas."""
    return ",".join([write(value) for value in values])
