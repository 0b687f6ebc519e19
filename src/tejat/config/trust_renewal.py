"""Keeps the trust in a folder when the person changes its settings by a command of ours, and nothing else changed."""

import hashlib
import os
from collections.abc import Callable, Mapping
from enum import Enum, auto

from tejat.config.load import load_settings
from tejat.config.own_file import Writers
from tejat.config.places import Places
from tejat.config.settings_edit import edit_settings
from tejat.config.trust import Trust, TrustLevel, decide_trust
from tejat.config.trust_store import Entry, TrustItem, Verdict, identity_of, now, put_entry, read_store

_SETTINGS = ".gemini/settings.json"
_NEW_FILE = "{}\n"


class Standing(Enum):
    """Whether the settings count after they were changed."""

    TRUSTED = auto()
    NOT_TRUSTED = auto()
    """The folder was not trusted before."""
    CHANGED = auto()
    """It was, but something else has changed meanwhile: somebody has to look."""


def lasting_trust(places: Places, root: str, environment: Mapping[str, str]) -> Trust:
    """Whether the folder is trusted beyond this run, so without what only holds for one. Raises UsageError."""
    lasting = {name: value for name, value in environment.items() if name != "GEMINI_CLI_TRUST_WORKSPACE"}
    # The folder has no say in this, not even by settings that cannot be read.
    settings = load_settings(places, [], trusted=False, environment=lasting)
    return decide_trust(places, root, trust_now=False, environment=lasting, folder_trust=settings.folder_trust)


def edit_project_settings(
    places: Places, root: str, change: Callable[[str], str], *, environment: Mapping[str, str]
) -> Standing:
    """Change the settings of the project as `edit_settings` does, and tell whether they count then.

    A folder that was trusted stays so, with its new settings. Raises UsageError and OSError.
    """
    before = lasting_trust(places, root, environment)
    edited: list[tuple[str, str]] = []

    def noted(text: str) -> str:
        changed = change(text)
        edited.append((text, changed))
        return changed

    edit_settings(places, os.path.join(root, _SETTINGS), noted, writers=Writers.ANYBODY)
    if not before.is_trusted:
        return Standing.NOT_TRUSTED
    after = lasting_trust(places, root, environment)
    if after.is_trusted:
        return Standing.TRUSTED
    old, new = edited[-1]
    if after.level is not TrustLevel.CHANGED or not _is_all(before.items, after.items, old=old, new=new):
        return Standing.CHANGED
    return Standing.TRUSTED if _renewed(places, root, after.items) else Standing.CHANGED


def _is_all(before: tuple[TrustItem, ...], after: tuple[TrustItem, ...], *, old: str, new: str) -> bool:
    """Whether the edit is all that differs: scripts come and go with the entries that name them."""
    was, now_is = ({item.path: item for item in items} for items in (before, after))
    settings_before, settings_after = was.pop(_SETTINGS, None), now_is.pop(_SETTINGS, None)
    if settings_after is None or settings_after.digest != _digest(new):
        return False
    if old != _NEW_FILE if settings_before is None else settings_before.digest != _digest(old):
        return False
    kept = was.keys() & now_is.keys()
    others = [*was.values(), *now_is.values()]
    return all(was[path].digest == now_is[path].digest for path in kept) and all(
        item.what == "script" for item in others if item.path not in kept
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _renewed(places: Places, root: str, items: tuple[TrustItem, ...]) -> bool:
    """Pin what is there now, under the verdict that there was."""
    folder = os.path.realpath(root)
    entry = read_store(places).get(folder)
    if entry is None or entry.verdict is Verdict.NOT_TRUSTED or entry.identity != identity_of(root):
        return False
    pins = {item.path: item.digest for item in items}
    put_entry(places, folder, Entry(entry.verdict, entry.identity, pins, now()))
    return True
