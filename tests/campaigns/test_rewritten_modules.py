"""Programs that write one variant of a module after the other, and run each."""

import os
import sys

from simplugin.campaigns import load_campaign, results, run_campaign

DEPLOYMENT = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><actor host="master" function="work"/></platform>
"""
CAMPAIGN = """
[platform]
generator = "star"
parameters = { workers = 1, speed = "1Gf" }

[workload]
kind = "actors"
deployment = "deployment.xml"
functions = { work = "rewritten:work" }
"""


def test_each_variant_has_its_own_result(tmp_path, monkeypatch):
    # As most users have it, so that there could be byte code.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "deployment.xml").write_text(DEPLOYMENT)
    (tmp_path / "variants.toml").write_text(CAMPAIGN)
    module = tmp_path / "rewritten.py"
    for seconds in (2, 3):
        module.write_text(f"async def work(me):\n    await me.sleep_for({seconds})\n")
        os.utime(module, (1.7e9, 1.7e9))  # within a second, or with the dates of an archive
        assert run_campaign(load_campaign(tmp_path / "variants.toml"), jobs=1).before == 0
    assert list(results(tmp_path / "variants.sqlite", "all")["makespan"]) == [2.0, 3.0]
