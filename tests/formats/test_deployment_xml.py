from __future__ import annotations

from pathlib import Path

import pytest

from simplugin.errors import DeploymentError
from simplugin.formats.deployment_xml import read_deployment, write_deployment
from simplugin.platforms import DeployedActor, Deployment


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "deployment.xml"
    master = DeployedActor("a", "master", ("10", "<&>\"'\n", "é"), properties={"rank": "0"})
    worker = DeployedActor("b", "worker", start_time=1.5, kill_time=1e3, on_failure="RESTART")
    deployment = Deployment((master, worker, DeployedActor("a", "f")))
    write_deployment(deployment, path, comment="made by hand")
    assert read_deployment(path) == deployment
    # Only what differs from the defaults is written.
    assert '  <actor host="a" function="f"/>\n' in path.read_text(encoding="utf-8")


def test_old_names_and_negative_times(tmp_path: Path) -> None:
    path = tmp_path / "old.xml"
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd">\n'
        '<platform version="4">\n'
        '<process host="a" function="f" start_time="-1" kill_time="-1.0"/></platform>\n'
    )
    assert read_deployment(path) == Deployment((DeployedActor("a", "f"),))


def test_a_platform_is_no_deployment(tmp_path: Path) -> None:
    path = tmp_path / "platform.xml"
    path.write_text(
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n<zone id="w" routing="Full"/></platform>\n'
    )
    with pytest.raises(DeploymentError, match=r"platform\.xml:3: this is a platform file"):
        read_deployment(path)
