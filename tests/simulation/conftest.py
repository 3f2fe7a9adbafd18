"""A small platform, and what every test of `simulate` must leave behind: nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import children
from xml_zones import zone_xml

from simplugin.simulation.process import server_client
from simplugin.simulation.protocol import BACK_ENDS

TWO_HOSTS = zone_xml("""
    <host id="ada" speed="1Gf"/>
    <host id="bob" speed="2Gf"/>
    <link id="wire" bandwidth="1MBps" latency="0s"/>
    <route src="ada" dst="bob"><link_ctn id="wire"/></route>
""")


@pytest.fixture(scope="session")
def two_hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a platform file: ada (1 Gflop/s) and bob (2 Gflop/s), 1 MB/s without latency."""
    file = tmp_path_factory.mktemp("platform") / "two_hosts.xml"
    file.write_text(TWO_HOSTS)
    return file


@pytest.fixture(scope="session", params=sorted(BACK_ENDS))
def back_end(request: pytest.FixtureRequest) -> str:
    """Return the name of each back end."""
    return str(request.param)


@pytest.fixture
def no_servers() -> None:
    """Start without servers, so that the test's own server is the only one."""
    server_client.stop_servers()


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fail if a simulation's process or a descriptor outlives the test."""
    before = len(os.listdir("/proc/self/fd"))
    servers_before = len(server_client.server_processes())
    yield
    for server in server_client.server_processes():
        assert children(server) == []
    # One control socket for each server that was started.
    opened = len(server_client.server_processes()) - servers_before
    assert len(os.listdir("/proc/self/fd")) <= before + opened
