"""Applications that make no sense."""

from __future__ import annotations

import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads import Application


def test_hosts_are_names_and_no_text() -> None:
    with pytest.raises(WorkloadError, match=r"hosts of application 'k' is 'h1'; give a tuple"):
        Application("k", "h0", 1.0, 1.0, hosts="h1")  # type: ignore[arg-type]
    assert Application("k", "h0", 1.0, 1.0, hosts=["h1"]).hosts == ("h1",)  # type: ignore[arg-type]
