"""Stores whose writers are killed, run out of disk, or are two; stores that are damaged."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path

import pytest
import stored_runs
from naming import raises_naming
from stored_runs import Source, done, failed, job, key_of, records_of

from simplugin.campaigns.store import Store, StoreReader
from simplugin.campaigns.store.schema import network_file_system
from simplugin.core.errors import StoreError

PROGRAM = Path(stored_runs.__file__)
BATCH = 7
NOBODY = 65534


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@contextmanager
def writer(path, limit=0):
    with subprocess.Popen(
        [sys.executable, PROGRAM, path, str(BATCH), str(limit)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def recorded(path):
    """Return how many runs a store has, after looking at each of them."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        runs, contents = connection.execute("SELECT count(*), count(contents) FROM runs").fetchone()
        (members,) = connection.execute("SELECT count(*) FROM members").fetchone()
    with StoreReader(path) as reader:
        for number, record in enumerate(records_of(reader)):
            contents_of = {"bars": [number] * 50} if number % 3 == 0 else None
            assert record == done(number, contents=contents_of)
        assert reader.campaigns()[0].done == runs
    assert (members, contents) == (runs, -(-runs // 3))
    return runs


def positions(path):
    with StoreReader(path) as reader:
        return [run.record.job.position for run in reader.runs()]


def test_what_was_committed_survives_a_kill_at_any_moment(path):
    draws = random.Random(20261122)
    told = 0
    for _ in range(3):
        with writer(path) as process:
            for _ in range(draws.randrange(1, 40)):
                line = process.stdout.readline()
                told = int(line)
            process.kill()
            # What it said while it was being killed counts too.
            told = max([told, *map(int, process.stdout.read().split())])
        there = recorded(path)
        assert there in (told, told + BATCH)  # the latter: killed before it could say so
        told = there
    Store.open(path).close()  # nobody has the lock any more


def test_a_commit_waits_for_the_disk(path):
    """Killing processes does not show it: only a power cut would."""
    with Store.open(path) as store:
        pragmas = ("journal_mode", "synchronous")
        found = [store._connection.execute(f"PRAGMA {each}").fetchone()[0] for each in pragmas]
        assert found == ["wal", 2]


def test_a_limit_on_file_sizes_loses_nothing(path):
    with writer(path, limit=300_000) as process:
        told, error = process.communicate(timeout=600)
    # It says that the disk is full; what it said before is there, and nothing half.
    assert process.returncode == 1
    for words in (f"{path}:", "cannot be written: disk full", "free disk space and run the sam"):
        assert words in error
    last = int(told.split()[-1])
    assert recorded(path) == last > 0
    with writer(path) as process:  # the same command again
        assert int(process.stdout.readline()) == last + BATCH


def test_a_second_writer_is_refused_while_reading_goes_on(path):
    with writer(path) as process:
        told = int(process.stdout.readline())
        with pytest.raises(StoreError, match=f"process {process.pid} on .*writes to the store"):
            Store.open(path)
        numbers = positions(path)
        assert len(numbers) >= told
        assert numbers == list(range(len(numbers)))
        assert len(numbers) % BATCH == 0
        process.kill()
        process.wait()
        with Store.open(path) as store:
            assert store.state_of(key_of(0)) == "done"
    other_name = path.with_name("other.sqlite")
    other_name.symlink_to(path)
    for name in (path, other_name):
        with Store.open(path), raises_naming(StoreError, f"process {os.getpid()}"):
            Store.open(name)


def test_a_killed_writers_store_is_read_where_nothing_can_be_written(path):
    with writer(path) as process:
        told = int(process.stdout.readline())
    log = path.with_name("store.sqlite-wal")
    assert log.stat().st_size > 0
    with unwritable(path) as there:
        assert len(positions(there)) >= told
    # Copied without the index of the log, SQLite would have to make one.
    lost = pytest.raises(StoreError)
    with unwritable(path, leave_out="store.sqlite-shm") as there, lost:
        StoreReader(there)
    Store.open(path).close()
    assert not log.exists()
    with unwritable(path) as there:
        assert len(positions(there)) >= told


@contextmanager
def unwritable(path, leave_out=""):
    """Copy a store to a directory where we may not write; as root, become nobody for a while."""
    directory = Path(tempfile.mkdtemp())
    try:
        for each in path.parent.glob("store.sqlite*"):
            if each.name != leave_out:
                shutil.copyfile(each, directory / each.name)
                (directory / each.name).chmod(0o444)
        directory.chmod(0o555)
        us = os.geteuid()
        os.seteuid(NOBODY if us == 0 else us)
        try:
            yield directory / path.name
        finally:
            os.seteuid(us)
    finally:
        directory.chmod(0o755)
        shutil.rmtree(directory)


@pytest.mark.parametrize("table", ["runs", "texts"])
def test_rows_are_only_ever_added(path, table):
    with Store.open(path) as store:
        store.append(store.begin(Source()), done(0, contents={"a": 1}))
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute(f"SELECT * FROM {table}").fetchall()
        assert before
        column = connection.execute(f"SELECT * FROM {table}").description[0][0]
        for statement in (
            f"UPDATE {table} SET {column} = {column}",
            f"DELETE FROM {table}",
            f"REPLACE INTO {table} SELECT * FROM {table}",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)
        assert connection.execute(f"SELECT * FROM {table}").fetchall() == before


def test_files_that_are_no_stores_stay_as_they_are(tmp_path):
    text, empty, other = (tmp_path / name for name in ("notes.txt", "empty", "other.sqlite"))
    text.write_text("Results of last year, typed in by hand.\n" * 100)
    empty.touch()
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE numbers (number)")
    newer = tmp_path / "newer.sqlite"
    Store.open(newer).close()
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 3")
    for path in (text, empty, other, newer):
        before = path.read_bytes()
        for attempt in (Store.open, StoreReader):
            with pytest.raises(StoreError) as caught:
                attempt(path)
            assert caught.value.file == path
        assert path.read_bytes() == before


def test_a_truncated_store_is_told(path):
    with Store.open(path) as store:
        campaign = store.begin(Source(200))
        for number in range(200):
            store.append(campaign, done(number))
    whole = path.read_bytes()
    assert len(whole) > 100_000
    path.write_bytes(whole[: len(whole) // 2])
    for attempt in (Store.open, lambda path: list(StoreReader(path).runs())):
        with pytest.raises(StoreError):
            attempt(path)
    # Damaged in its middle, where opening does not look.
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreError), StoreReader(path) as reader:
        list(reader.runs())


def test_a_store_that_is_not_there(tmp_path):
    path = tmp_path / "no" / "store.sqlite"
    with raises_naming(StoreError, path):
        StoreReader(path)
    for attempt in (StoreReader, Store.open):
        with raises_naming(StoreError, tmp_path):
            attempt(tmp_path)
    assert not path.parent.exists()
    Store.open(path).close()
    with StoreReader(path) as reader:
        assert reader.campaigns() == []


def add_and_divide(path):
    with Store.open(path) as store:
        campaign = store.begin(Source())
        store.append(campaign, done(0))
        store.commit()
        store.append(campaign, done(1))
        raise ZeroDivisionError


def test_an_exception_rolls_back_what_was_not_committed(path):
    with pytest.raises(ZeroDivisionError):
        add_and_divide(path)
    assert positions(path) == [0]


def test_a_record_that_cannot_be_kept_leaves_the_others(path):
    with Store.open(path) as store:
        campaign = store.begin(Source())
        store.append(campaign, done(0))
        with pytest.raises(StoreError):
            store.append(campaign, done(1, contents={"bars": object()}))
        with pytest.raises(StoreError):
            store.append(campaign, done(0))  # it has its outcome
        store.append(campaign, failed(2))
        store.note(campaign, job(3))
    with StoreReader(path) as reader:
        assert records_of(reader) == [done(0), failed(2)]
        entry = reader.latest()
        assert (entry.done, entry.failed, entry.missing) == (1, 1, 8)


def test_pipes_and_circles_of_links_are_refused_at_once(tmp_path):
    pipe, loop = tmp_path / "pipe.sqlite", tmp_path / "loop.sqlite"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    for path, attempt in product((pipe, loop), (StoreReader, Store.open)):
        with pytest.raises(StoreError) as caught:
            attempt(path)
        assert caught.value.file == path


# What is mounted, as the kernel tells it.
MOUNTS = r"""
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:40 / /home rw,relatime shared:2 master:3 - nfs4 server:/export/home rw,vers=4.2
31 30 254:1 / /home/ada/scratch rw,relatime - xfs /dev/vdb rw
32 27 0:41 / /mnt/two\040words rw - fuse.sshfs ada@server:/ rw
33 27 0:42 / /mnt/over rw - nfs server:/a rw
34 33 254:2 / /mnt/over rw - ext4 /dev/vdc rw
""".strip()


PLACES = [
    ("/var/tmp/a.sqlite", None),
    ("/home/ada/a.sqlite", "nfs4"),
    ("/home/ada/not/there/yet/a.sqlite", "nfs4"),
    ("/home/ada/scratch/a.sqlite", None),
    ("/homes/a.sqlite", None),
    ("/mnt/two words/a.sqlite", "fuse.sshfs"),
    ("/mnt/over/a.sqlite", None),
]


@pytest.mark.parametrize(("place", "kind"), PLACES)
def test_the_innermost_mount_counts_and_of_several_the_last(place, kind):
    assert network_file_system(Path(place), MOUNTS) == kind


def test_this_host_has_disks_of_its_own():
    assert network_file_system(Path("/proc/self/a.sqlite")) is None
