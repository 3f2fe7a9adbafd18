"""Whether a store would lie on a network file system, where SQLite's log is not safe."""

from __future__ import annotations

import re
from pathlib import Path

# As Linux calls them. Source: https://sqlite.org/wal.html, "Disadvantages".
_KINDS = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.glusterfs"),
    *("lustre", "beegfs", "gpfs", "ceph", "orangefs", "pvfs2", "panfs"),
}
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the kind of the network file system that a file is on, or would be made on.

    Parameters
    ----------
    path : path
        The file, which need not exist.
    mounts : str, optional
        What is mounted where, as ``/proc/self/mountinfo`` has it; that of this process otherwise.

    Returns
    -------
    str or None
        For instance ``"nfs4"``; none for a disk of this host, and where nobody can tell.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        except OSError:
            return None
    place, found, depth = path.resolve(), None, -1
    for line in mounts.splitlines():
        about, _, kind = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), about.split()[4]))
        # Of several at the same place the last one is seen.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind.split()[0], len(point.parts)
    return found if found in _KINDS else None
