"""The small platforms of the scenarios, and their numbers."""

from __future__ import annotations

from xml_zones import zone_xml

ADA, BOB, CYD = 1e9, 2e9, 1e9  # flop/s of a core
CYD_CORES = 4
AB, AC, BC = 1e6, 2e6, 5e5  # byte/s
AB_LATENCY, AC_LATENCY, BC_LATENCY = 0.125, 0.25, 0.5  # s
READ, WRITE = 1e8, 4e7  # byte/s of the disk of ada
LOOPBACK = 1e10  # byte/s, SimGrid's default


HOSTS = """
    <host id="ada" speed="1Gf">
      <prop id="colour" value="red"/>
      <disk id="disk" read_bw="100MBps" write_bw="40MBps"><prop id="mount" value="/"/></disk>
    </host>
    <host id="bob" speed="2Gf,1Gf"/>
    <host id="cyd" speed="1Gf" core="4"/>
"""
LINKS = """
    <link id="ab" bandwidth="1MBps" latency="125ms"><prop id="cable" value="blue"/></link>
    <link id="ac" bandwidth="2MBps" latency="250ms"/>
    <link id="bc1" bandwidth="4MBps" latency="200ms"/>
    <link id="bc2" bandwidth="500kBps" latency="300ms"/>
"""
ROUTES = """
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
    <route src="ada" dst="cyd"><link_ctn id="ac"/></route>
    <route src="bob" dst="cyd"><link_ctn id="bc1"/><link_ctn id="bc2"/></route>
"""
PLAIN = zone_xml(HOSTS + LINKS + ROUTES)
"""Three hosts; every link shared by both directions."""

DUPLEX = zone_xml("""
    <host id="ada" speed="1Gf"/>
    <host id="bob" speed="2Gf"/>
    <link id="ab" bandwidth="1MBps" latency="125ms" sharing_policy="SPLITDUPLEX"/>
    <route src="ada" dst="bob"><link_ctn id="ab" direction="UP"/></route>
""")
"""Each direction has the whole bandwidth."""

NO_LATENCY = zone_xml("""
    <host id="ada" speed="1Gf"/><host id="bob" speed="1Gf"/>
    <link id="ab" bandwidth="1MBps" latency="0s"/>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


def ab(size: float) -> float:
    """Return how long `size` bytes take alone from ada to bob [s]."""
    return AB_LATENCY + size / AB


def ac(size: float) -> float:
    """Return how long `size` bytes take alone from ada to cyd [s]."""
    return AC_LATENCY + size / AC
