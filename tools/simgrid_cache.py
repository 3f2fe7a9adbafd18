"""Cache of builds, each of which is complete or not used.

Each build has a directory of its own, named by a hash of everything that determines it. It is made
aside and renamed when complete, with a manifest of all its files, so that what an interruption or a
full disk left is never taken for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from build_progress import Progress

MANIFEST = "manifest.json"


def cache_root(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of all builds, outside any checkout."""
    base = environment.get("XDG_CACHE_HOME", "")
    home = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return home / "simplugin"


def key_of(ingredients: Mapping[str, object]) -> str:
    """Hash what determines a build."""
    canonical = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(prefix: Path, about: Mapping[str, object]) -> None:
    """Describe all files below a finished prefix, in the prefix itself."""
    files = {name: _fingerprint(prefix / name) for name in _files_below(prefix)}
    text = json.dumps({**about, "files": files}, indent=1, sort_keys=True)
    (prefix / MANIFEST).write_text(text + "\n", encoding="utf-8")


def find_fault(prefix: Path) -> str | None:
    """Say what is wrong with a prefix; None when it is whole."""
    if not prefix.is_dir():
        return f"{prefix} does not exist"
    try:
        manifest = json.loads((prefix / MANIFEST).read_text(encoding="utf-8"))
        expected = dict(manifest["files"])
    except FileNotFoundError:
        return f"{prefix / MANIFEST} is missing"
    except (OSError, ValueError, TypeError, KeyError) as error:
        return f"{prefix / MANIFEST} is unreadable ({error!r})"
    for name, fingerprint in expected.items():
        try:
            if _fingerprint(prefix / name) != fingerprint:
                return f"{prefix / name} has changed"
        except OSError as error:
            return f"{prefix / name}: {error.strerror}"
    return None


def ensure(
    place: Path, title: str, about: Mapping[str, object], build: Callable[[Path, Progress], Path]
) -> None:
    """Build a place in the cache unless it is there and whole.

    Parameters
    ----------
    place : pathlib.Path
        Where it belongs; lock and log stand beside it.
    title : str
        What it is, for messages.
    about : mapping
        What its manifest says beside its files.
    build : callable
        Builds in an empty directory, and returns the directory that becomes the place.
    """
    if find_fault(place) is None:
        return
    with locked(place.with_name(f"{place.name}.lock")):
        fault = find_fault(place)
        if fault is None:  # the process that held the lock built it
            return
        root = place.parent
        if place.exists():
            print(f"{title} in the cache is damaged: {fault}; building it again", file=sys.stderr)
        for leftover in (*root.glob(f".staged-{place.name}-*"), *root.glob(".removed-*")):
            print(f"Removing {leftover}, left by an interruption", file=sys.stderr)
            shutil.rmtree(leftover, ignore_errors=True)
        workspace = Path(tempfile.mkdtemp(prefix=f".staged-{place.name}-", dir=root))
        progress = Progress(title, place.with_name(f"{place.name}.log"))
        try:
            staged = build(workspace, progress)
            write_manifest(staged, about)
            publish(staged, place)
            progress.say(f"ready in {place}")
        finally:
            progress.close()
            shutil.rmtree(workspace, ignore_errors=True)


def publish(staged: Path, prefix: Path) -> None:
    """Put a finished build in its place, all at once."""
    if prefix.exists():
        remove(prefix)
    # What is renamed must be on disk first: a power cut could leave empty files in it.
    os.sync()
    staged.rename(prefix)


def remove(prefix: Path) -> None:
    """Remove a build; nobody ever sees half of it."""
    grave = Path(tempfile.mkdtemp(prefix=".removed-", dir=prefix.parent))
    prefix.rename(grave / prefix.name)
    shutil.rmtree(grave, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that dies with the process, waiting for whoever else holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"It is being built by another process; waiting ({path})", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _files_below(prefix: Path) -> list[str]:
    """List files relative to the prefix, sorted, without the manifest."""
    found = (path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if path.is_file())
    return sorted(name for name in found if name != MANIFEST)


def _fingerprint(path: Path) -> list[object]:
    """Return size and digest; links count as what they lead to."""
    return [path.stat().st_size, file_digest(path)]
