import pytest

import simgrid_examples as of
from simgrid_cache import cache_root
from simgrid_release import pinned

ARCHIVE = cache_root() / pinned().archive
PORTS = sorted(each.relative_to(of.PORTS) for each in of.PORTS.glob("*/*.py"))


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    if not ARCHIVE.is_file():
        pytest.skip(f"no source distribution of SimGrid: {ARCHIVE}")
    return of.examples(of.unpack(ARCHIVE, tmp_path_factory.mktemp("simgrid")))


@pytest.mark.parametrize("port", PORTS, ids=str)
def test_a_port_writes_the_lines_of_the_example_at_the_same_dates(examples, port):
    names = (f"{language}/{port.stem.replace('_', '-')}" for language in ("python", "cpp"))
    served = [each for each in names if each in examples and of.port_of(each) == of.PORTS / port]
    assert served
    for name in served:
        assert bool(of.difference(name, examples[name])) == bool(of.reason(name, "differs")), name


def test_lines_in_all_forms_of_the_log_are_compared():
    line = ("    1.500000", "worker", "Fafard", "done")
    assert of.canonical("[Fafard:worker:(2) 1.500000] [python/INFO] done") == line
    assert of.canonical("[Fafard:worker:(2) 1.500000] INFO: done") == line
    assert of.canonical("[  1.500000] (2:worker@Fafard) done") == line
    without_host = of.canonical("[1.50] [worker] done")
    assert without_host[1] == "worker"
    assert of.are_same(without_host, line, 2)
    assert of.canonical("[  1.500000] (0:maestro@) over") == (line[0], "", "", "over")
