"""What else changed since a run was recorded, as far as that is known: it may be why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simplugin.regression.snapshots import Snapshot

_CONTENT = "content_sha256"
_CODE = "code_sha256"
_PLATFORM = "platform_sha256"
# Choices that the hash of everything includes, besides the platform, the options and the actors.
_IN_CONTENT = (_PLATFORM, "back_end", "seed", "until", "energy", "trace")


def causes(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Tell what is not as it was when the run was recorded."""
    told = []
    if _differ(recorded, now, _PLATFORM):
        told.append("the platform changed")
    told += _changed_sources(recorded.sources, now.sources)
    told += _changed(_shown(recorded.settings), _shown(now.settings))
    told += _actors(recorded, now)
    told += _changed(recorded.versions, now.versions)
    version = now.versions.get("simplugin")
    if recorded.versions.get("simplugin") == version and _differ(recorded, now, _CODE):
        told.append(f"simplugin's own code, which still calls itself {version}")
    options = _changed(recorded.options, now.options)
    return told + [f"option {each}" for each in options]


def unchanged(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Name what is known of both runs; where `causes` are none it is the same in both."""

    def both(setting: str) -> bool:
        return None not in (recorded.settings.get(setting), now.settings.get(setting))

    known = {
        "versions": recorded.versions and now.versions,
        "options": recorded.options and now.options,
        "seed": both("seed"),
        "platform": both(_PLATFORM),
        "actors": both(_CONTENT),
        "simplugin's code": both(_CODE),
        "the scenario, its files and modules": recorded.sources and now.sources,
    }
    return [name for name, is_known in known.items() if is_known]


def _actors(recorded: Snapshot, now: Snapshot) -> list[str]:
    """Tell whether the actors changed, where the hash of everything can tell."""
    runs = (recorded, now)
    if None in (run.settings.get(_CONTENT) for run in runs) or not _differ(*runs, _CONTENT):
        return []
    if any(_differ(*runs, name) for name in _IN_CONTENT) or recorded.options != now.options:
        return []
    before, after = (run.versions.get("python", "").split(".")[:2] for run in runs)
    if before != after:
        # Functions count by their byte code.
        return ["perhaps the actors, too: the versions of Python write them down differently"]
    return ["the actors changed: their functions, arguments or hosts"]


def _differ(recorded: Snapshot, now: Snapshot, setting: str) -> bool:
    """Whether a setting is another one, where both runs have it."""
    before, after = recorded.settings.get(setting), now.settings.get(setting)
    return None not in (before, after) and bool(before != after)


def _shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that say something to humans."""
    return {name: value for name, value in settings.items() if "sha256" not in name}


def _changed_sources(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Tell which tables, files and modules changed, came or went; nothing if one run has none."""
    if not before or not after:
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [
        f"{name} is {'new' if name not in before else 'gone'}"
        if name not in before or name not in after
        else f"{name} changed"
        for name in names
    ]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Tell which entries differ."""
    return [
        f"{name}: {before.get(name, 'none')} -> {after.get(name, 'none')}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
