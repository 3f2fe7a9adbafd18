"""Files made to do harm, or to ask for gigabytes or hours: refused at sight, nothing fetched."""

import io
import os
import socket
import tarfile
from pathlib import Path

import pytest
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import PlatformError, ScenarioError
from simplugin.formats.check import MOST_FINDINGS, check, exit_status
from simplugin.formats.grid5000.reference import read_tree
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.documents import read_toml
from simplugin.inputs.files import LARGEST_FILE

DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"'
BODY = (
    '<platform version="4.1"><zone id="w" routing="Full"><host id="{}" speed="1Gf"/></zone>'
    "</platform>"
)
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 13))

SECRET = '<!ENTITY x SYSTEM "file:///etc/hostname">'


MALFORMED = [
    f'<!DOCTYPE platform [<!ENTITY a0 "ha">{LAUGHS}]>{BODY.format("&a12;")}',
    f"<!DOCTYPE platform [{SECRET}]>{BODY.format('&x;')}",
    f"{DOCTYPE} [{SECRET.replace('x', '% x')}%x;]>{BODY.format('a')}",
    f"{DOCTYPE}>{BODY.format('&x;')}",
    f'{DOCTYPE}><platform version="4.1">' + '<zone id="z" routing="Full">' * 1_000_000,
    f"{DOCTYPE}><platform " + " ".join(f'a{n}="1"' for n in range(100_000)) + "/>",
    f"{DOCTYPE}>{BODY.format('a' * 5_000_000)}",
    "<!--" + "-" * 5_000_000,
    "<?" * 2_000_000,
    f"{DOCTYPE}>{BODY.format('a')}<platform/>",
    "",
]


@pytest.mark.parametrize("text", MALFORMED, ids=range(11))
def test_malformed(text, tmp_path):
    path = tmp_path / "file.xml"
    assert_refused(read_platform, path, f"¶{text}")
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (1, "error")
    assert len(str(finding)) < 1000


def test_nothing_is_fetched(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/evil.dtd"
        path = tmp_path / "file.xml"
        path.write_text(f'<!DOCTYPE platform SYSTEM "{url}">{BODY.format("a")}')
        assert exit_status(check([path])) == 1
        with pytest.raises(PlatformError) as caught:
            read_platform(path)
        assert caught.value.line == 1
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_radical_of_billions_is_not_listed(tmp_path):
    cluster = (
        '<cluster id="c" prefix="n" suffix="" radical="0-{}" speed="1Gf" bw="1MBps" lat="0s"/>'
    )
    path = tmp_path / "file.xml"
    path.write_text(f'{DOCTYPE}><platform version="4.1">{cluster.format(2**31 - 1)}</platform>')
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (1, "error")
    with raises_naming(PlatformError, "2,147,483,648") as caught:
        read_platform(path)
    assert caught.value.line == 1


def test_findings_are_bounded(tmp_path):
    path = tmp_path / "file.xml"
    for speed in ("fast", "1f", "1Gf"):
        hosts = "".join(f'<host id="a" speed="{speed}"/>\n' for _ in range(3000))
        zone = f'<zone id="w" routing="Full">{hosts}</zone>'
        path.write_text(f'{DOCTYPE}><platform version="4.1">{zone}</platform>')
        assert len(check([path])) == MOST_FINDINGS + 1


def test_no_file_is_quoted(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("very private\n")
    path = tmp_path / "file.xml"
    path.write_text(f"{DOCTYPE}>" + BODY.format('a" speed_file="secret.txt'))
    (finding,) = check([path])
    assert "secret.txt" in finding.message
    assert "private" not in str(finding)


def test_what_is_no_text_is_unreadable(tmp_path):
    directory, pipe, wide, huge = (tmp_path / name for name in ("d", "p", "w", "h"))
    directory.mkdir()
    os.mkfifo(pipe)
    wide.write_bytes(f"{DOCTYPE}>{BODY.format('a')}".encode("utf-16"))
    with huge.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    for path in (directory, pipe, wide, huge, tmp_path / "absent", Path("/dev/zero")):
        (finding,) = check([path])
        assert finding.severity == "unreadable", path
        with pytest.raises(PlatformError):
            read_platform(path)


def test_more_hosts_than_simgrid_can_hold(tmp_path):
    clusters = "".join(
        f'<cluster id="c{i}" prefix="c{i}-" suffix="" radical="0-999999" speed="1Gf" bw="1GBps"'
        ' lat="0"/>'
        for i in range(3)
    )
    file = tmp_path / "many.xml"
    zone = f'<zone id="z" routing="Full">{clusters}</zone>'
    file.write_text(f'<platform version="4.1">\n{zone}</platform>')
    assert any("3,000,000 hosts" in str(found) for found in check([file]))


def test_sparse_member_of_an_archive(tmp_path):
    name = "grid/sites/a/a.json"
    body = b"1\n0\n2\n".ljust(512, b"\0") + b"{}"
    member = tarfile.TarInfo(name)
    member.size = len(body)
    sparse = {"major": "1", "minor": "0", "name": name, "realsize": str(200 << 30)}
    member.pax_headers = {f"GNU.sparse.{key}": value for key, value in sparse.items()}
    file = tmp_path / "grid.tar"
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(body))
    with raises_naming(PlatformError, file):
        read_tree(file)


HOSTILE_TOML = [
    ("x = 1\n" + "a." * 30_000 + "a = 1\n", 2),
    ("x = 1\n[" + "'a b' . " * 30_000 + "a]\n", 2),
    ("x = " + "[" * 5_000 + "]" * 5_000, None),
    ("y = 1\nx = " + "9" * 200_000, 2),
    ("y = 1\nx = [1, 0x" + "9" * 5_000 + "]", 2),
    ("y = 1\nx = -" + "9_" * 4_300 + "9", 2),
    ("y = 1\nx = " + "9" * 4_301, 2),
]


@pytest.mark.parametrize(("text", "line"), HOSTILE_TOML)
def test_nesting_and_digits_of_toml(text, line, tmp_path):
    file = tmp_path / "deep.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        read_toml(file, ScenarioError)
    assert (caught.value.file, caught.value.line) == (file, line)
