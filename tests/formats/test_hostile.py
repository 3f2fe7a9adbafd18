"""Files made to do harm: refused at sight, with nothing fetched and nothing read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from marked import assert_refused

from simplugin.errors import PlatformError
from simplugin.formats.check import MOST_FINDINGS, check, exit_status
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.files import LARGEST_FILE

DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"'
BODY = (
    '<platform version="4.1"><zone id="w" routing="Full"><host id="{}" speed="1f"/></zone>'
    "</platform>"
)
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 13))

SECRET = '<!ENTITY x SYSTEM "file:///etc/hostname">'


@pytest.mark.parametrize(
    "text",
    [
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
        f"\ufeff{DOCTYPE}>{BODY.format('a')}",
        "",
    ],
    ids=range(12),
)
def test_malformed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.xml"
    assert_refused(read_platform, path, f"¶{text}")
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (1, "error")
    assert len(str(finding)) < 1000


def test_nothing_is_fetched(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/evil.dtd"
        path = tmp_path / "file.xml"
        path.write_text(f'<!DOCTYPE platform SYSTEM "{url}">{BODY.format("a")}')
        assert exit_status(check([path])) == 1
        with pytest.raises(PlatformError, match="xml:1: "):
            read_platform(path)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_radical_of_billions_is_not_listed(tmp_path: Path) -> None:
    cluster = '<cluster id="c" prefix="n" suffix="" radical="0-{}" speed="1f" bw="1Bps" lat="0"/>'
    path = tmp_path / "file.xml"
    path.write_text(f'{DOCTYPE}><platform version="4.1">{cluster.format(2**31 - 1)}</platform>')
    (finding,) = check([path])
    assert (finding.line, finding.severity) == (1, "error")
    with pytest.raises(PlatformError, match=r"xml:1: the platform has 2,147,483,648 hosts"):
        read_platform(path)


def test_findings_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file.xml"
    for speed in ("fast", "1f"):
        hosts = "".join(f'<host id="a" speed="{speed}"/>\n' for _ in range(3000))
        zone = f'<zone id="w" routing="Full">{hosts}</zone>'
        path.write_text(f'{DOCTYPE}><platform version="4.1">{zone}</platform>')
        assert len(check([path])) == MOST_FINDINGS + 1


def test_no_file_is_quoted(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("very private\n")
    path = tmp_path / "file.xml"
    path.write_text(f"{DOCTYPE}>" + BODY.format('a" speed_file="secret.txt'))
    (finding,) = check([path])
    assert "secret.txt" in finding.message
    assert "private" not in str(finding)


def test_what_is_no_text_is_unreadable(tmp_path: Path) -> None:
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
