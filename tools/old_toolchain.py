#!/usr/bin/env python3
"""Print CC and CXX of a compiler for programs that run on any Linux with glibc 2.28, of 2018.

It is GCC 10 with the headers and libraries of Debian 11 (glibc 2.31), downloaded by apt-get into
the cache and unpacked there, which takes no privileges. What is newer than manylinux_2_28 allows is
kept from what it links: five functions by choosing their older version, others by an archive that
contains them, as in the compilers that Red Hat makes for older systems.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import chain
from pathlib import Path

from build_progress import Progress, StepError
from simgrid_cache import cache_root, ensure, file_digest, key_of

# Part of the key: raise it when what `build` makes of the rest changes.
_LAYOUT = 1
_SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} bullseye main\n"
# Of the machine's own packages, in either form of apt's sources.
_MIRROR = re.compile(r"^(?:deb(?: \[.*\])?|URIs:) (\S+/debian)/?(?: |$)", re.MULTILINE)
_PACKAGES = ("g++-10", "libboost1.74-dev")
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_NEWER = Path(__file__).with_suffix(".cpp")
# Functions of libm with a version of glibc 2.29, which report errors in another way.
_OLDER = ("exp", "exp2", "log", "log2", "pow")
# The compiler's own libraries stand apart: as and ld are this machine's, and use this machine's.
_OWN = ("libgmp.so.10", "libisl.so.23", "libmpc.so.3", "libmpfr.so.6")
_WRAPPER = """\
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$here/own exec "$here/root/usr/bin/x86_64-linux-gnu-{name}-10" \\
    --sysroot="$here/root" -idirafter "$here/host" -Wl,--exclude-libs,libstdc++_newer.a "$@"
"""


def main() -> int:
    """Run the command."""
    made_of = (_LAYOUT, _SOURCE, _PACKAGES, _OLDER, _OWN, _WRAPPER, file_digest(_NEWER))
    key = key_of({"made of": made_of})
    place = cache_root() / f"toolchain-bullseye-{key}"
    try:
        ensure(place, "Toolchain", {"packages": _PACKAGES}, build)
    except StepError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"CC={place}/gcc CXX={place}/g++")
    return 0


def build(workspace: Path, progress: Progress) -> Path:
    """Download, unpack and complete the toolchain."""

    def run(step: str, *command: str | Path) -> None:
        progress.run(step, command, cwd=workspace, env={**os.environ, "LC_ALL": "C.UTF-8"})

    apt = workspace / "apt"
    for directory in ("etc/apt", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
        (apt / directory).mkdir(parents=True)
    source = _SOURCE.format(mirror=_mirror())
    (apt / "etc/apt/sources.list").write_text(source, encoding="utf-8")
    (apt / "status").touch()  # of dpkg: nothing is installed
    settings = (f"Dir={apt}", f"Dir::State::status={apt}/status", "APT::Sandbox::User=root")
    get = ["apt-get", "--yes", *(f"--option={setting}" for setting in settings)]
    run("read Debian's lists", *get, "update")
    run("download", *get, "--download-only", "--no-install-recommends", "install", *_PACKAGES)
    place = workspace / "toolchain"
    root = place / "root"
    root.mkdir(parents=True)
    for package in apt.glob("var/cache/apt/archives/*.deb"):
        run(f"unpack {package.name.partition('_')[0]}", "dpkg-deb", "--extract", package, root)
    _redirect_links(root)
    _write_commands(place)

    # A library that is libm by its own name, and stands before it.
    assembler = "".join(f".globl {name}\n{name}:\n" for name in _OLDER)
    (workspace / "libm.s").write_text(assembler, encoding="utf-8")
    (workspace / "libm.map").write_text("GLIBC_2.2.5 { *; };\n", encoding="utf-8")
    older = root / _LIBRARIES / "libm_older.so"
    linker = "-Wl,-soname,libm.so.6,--version-script,libm.map"
    run("link libm", place / "gcc", "-shared", "-nostdlib", linker, "libm.s", "-o", older)
    newer = root / _LIBRARIES / "libstdc++_newer.a"
    run("compile", place / "g++", "-O2", "-fPIC", "-c", _NEWER, "-o", "newer.o")
    run("archive", "ar", "rcsD", newer, "newer.o")
    for script, inputs in (
        (f"{_LIBRARIES}/libm.so", f"{older.name} /lib/x86_64-linux-gnu/libm.so.6"),
        ("usr/lib/gcc/x86_64-linux-gnu/10/libstdc++.so", f"{newer.name} libstdc++.so.6"),
    ):
        (root / script).unlink()
        (root / script).write_text(f"INPUT({inputs})\n", encoding="utf-8")
    return place


def _mirror() -> str:
    """Return where this machine gets Debian's packages from."""
    places = Path("/etc/apt").glob("sources.list*"), Path("/etc/apt/sources.list.d").glob("*")
    for path in chain(*places):
        if path.is_file() and (found := _MIRROR.search(path.read_text(encoding="utf-8"))):
            return found[1]
    raise StepError("/etc/apt names no mirror of Debian; make wheels for an index on a Debian")


def _write_commands(place: Path) -> None:
    """Make gcc and g++ run on this machine."""
    (place / "own").mkdir()
    for name in _OWN:
        (place / "own" / name).symlink_to(f"../root/{_LIBRARIES}/{name}")
    # Debian's pyconfig.h includes another one by this path.
    (place / "host").mkdir()
    (place / "host/x86_64-linux-gnu").symlink_to("/usr/include/x86_64-linux-gnu")
    for name in ("gcc", "g++"):
        (place / name).write_text(_WRAPPER.format(name=name), encoding="utf-8")
        (place / name).chmod(0o755)


def _redirect_links(root: Path) -> None:
    """Make links to absolute paths lead to what was unpacked."""
    for path in root.rglob("*"):
        if path.is_symlink() and path.readlink().is_absolute():
            target = root / path.readlink().relative_to("/")
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent))


if __name__ == "__main__":
    sys.exit(main())
