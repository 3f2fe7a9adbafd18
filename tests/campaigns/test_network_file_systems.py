"""What is mounted, as the kernel tells it."""

from pathlib import Path

import pytest

from simplugin.campaigns.store.lock import network_file_system

MOUNTS = r"""
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:40 / /home rw,relatime shared:2 master:3 - nfs4 server:/export/home rw,vers=4.2
31 30 254:1 / /home/ada/scratch rw,relatime - xfs /dev/vdb rw
32 27 0:41 / /mnt/two\040words rw - fuse.sshfs ada@server:/ rw
33 27 0:42 / /mnt/over rw - nfs server:/a rw
34 33 254:2 / /mnt/over rw - ext4 /dev/vdc rw
""".strip()


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/var/tmp/a.sqlite", None),
        ("/home/ada/a.sqlite", "nfs4"),
        ("/home/ada/not/there/yet/a.sqlite", "nfs4"),
        ("/home/ada/scratch/a.sqlite", None),
        ("/homes/a.sqlite", None),
        ("/mnt/two words/a.sqlite", "fuse.sshfs"),
        ("/mnt/over/a.sqlite", None),
    ],
)
def test_the_innermost_mount_counts_and_of_several_the_last(place, kind):
    assert network_file_system(Path(place), MOUNTS) == kind


def test_this_host_has_disks_of_its_own():
    assert network_file_system(Path("/proc/self/a.sqlite")) is None
