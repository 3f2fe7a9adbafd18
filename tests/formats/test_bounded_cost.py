"""Small files that ask for gigabytes or hours are refused at once."""

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simplugin.errors import PlatformError, ScenarioError, WorkloadFileError
from simplugin.formats.check import check
from simplugin.formats.dot import parse
from simplugin.formats.grid5000.files import read_tree
from simplugin.inputs.documents import read_toml


def test_more_hosts_than_simgrid_can_hold(tmp_path: Path) -> None:
    clusters = "".join(
        f'<cluster id="c{i}" prefix="c{i}-" suffix="" radical="0-999999" speed="1Gf" bw="1GBps"'
        ' lat="0"/>'
        for i in range(3)
    )
    file = tmp_path / "many.xml"
    zone = f'<zone id="z" routing="Full">{clusters}</zone>'
    file.write_text(f'<platform version="4.1">\n{zone}</platform>')
    assert any("3,000,000 hosts" in str(found) for found in check([file]))


def test_sparse_member_of_an_archive(tmp_path: Path) -> None:
    name = "grid/sites/a/a.json"
    body = b"1\n0\n2\n".ljust(512, b"\0") + b"{}"
    member = tarfile.TarInfo(name)
    member.size = len(body)
    sparse = {"major": "1", "minor": "0", "name": name, "realsize": str(200 << 30)}
    member.pax_headers = {f"GNU.sparse.{key}": value for key, value in sparse.items()}
    file = tmp_path / "grid.tar"
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(body))
    with pytest.raises(PlatformError, match="larger than the archive"):
        read_tree(file)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n" + "a." * 30_000 + "a = 1\n", 2),
        ("x = 1\n[" + "'a b' . " * 30_000 + "a]\n", 2),
        ("x = " + "[" * 5_000 + "]" * 5_000, None),
        ("y = 1\nx = " + "9" * 200_000, 2),
        ("y = 1\nx = [1, 0x" + "9" * 5_000 + "]", 2),
        ("y = 1\nx = -" + "9_" * 4_300 + "9", 2),
        ("y = 1\nx = " + "9" * 4_301, 2),
    ],
)
def test_nesting_and_digits_of_toml(text: str, line: int | None, tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=r"nested too deeply|too large") as caught:
        read_toml(file, ScenarioError)
    assert (caught.value.file, caught.value.line) == (file, line)


NAMES = st.sampled_from(["a", "b", '"c d"', '"a"', "7", "1.5", "Node", "size", "-3", '"x\\"y"'])
PAIRS = st.tuples(st.sampled_from(["size", "alpha", '"size"', "colour"]), NAMES | st.just("2e9"))
LISTS = st.lists(PAIRS, max_size=3).map(
    lambda pairs: " [" + ", ".join(f"{name}={value}" for name, value in pairs) + "]"
)
STATEMENTS = st.tuples(
    NAMES,
    st.sampled_from(["", "", " -> a", " -> b", " -> a -> b", ":port", " = 3", " -- b"]),
    LISTS | st.just("") | st.just(" [size=1][alpha=0]"),
    st.sampled_from(["\n", ";\n", "; ", " ", " // comment\n", "\n# line\n"]),
).map("".join)


@example(["a\n", "a [size=a, size=a]\n"])
@given(st.lists(STATEMENTS | st.just("node [size=5];"), max_size=8))
def test_usual_statements_of_dot_are_read_like_any_others(statements: list[str]) -> None:
    def outcome(mark: str) -> object:
        # Before a comment, a statement is not read at once.
        text = "digraph {\n" + "".join(mark + each for each in statements) + "}"
        try:
            return parse(text, "graph.dot", ("size", "alpha"))
        except WorkloadFileError as error:
            return str(error)

    assert outcome("") == outcome("/**/")
