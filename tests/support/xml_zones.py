"""Platform files with one zone."""


def zone_xml(body: str, routing: str = "Full", before: str = "") -> str:
    """Return a platform file: a zone of hosts, links and routes."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
{before}
<zone id="world" routing="{routing}">
{body}
</zone>
</platform>
"""
