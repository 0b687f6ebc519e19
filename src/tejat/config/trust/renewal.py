"""Renewal of trust when a command of Tejat edits a folder's settings and nothing else changed."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence

from tejat.config.files.reader import AllowedWriters
from tejat.config.paths import PROJECT_SETTINGS, AppPaths
from tejat.config.settings.editor import edit_settings
from tejat.config.settings.loader import load_settings
from tejat.config.trust.decision import TRUST_VARIABLES, TrustDecision, TrustLevel, decide_trust
from tejat.config.trust.store import (
    TrustItem,
    TrustVerdict,
    current_time,
    folder_identity,
    read_trust_store,
    save_trust_entry,
)
from tejat.core.frozen import replace
from tejat.core.text.str_enum import StrEnum

_NEW_FILE = "{}\n"


class TrustAfterEdit(StrEnum):
    """Whether the settings take effect after an edit."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not_trusted"
    """The folder was not trusted before."""
    CHANGED = "changed"
    """It was, but something else has changed meanwhile, so the user has to decide again."""


def persistent_trust(paths: AppPaths, root: str, environment: Mapping[str, str]) -> TrustDecision:
    """The trust in a folder beyond this run, without what applies to this run only. Raises UsageError."""
    lasting = {name: value for name, value in environment.items() if name not in TRUST_VARIABLES}
    # The folder has no influence on this, not even by settings that cannot be read.
    settings = load_settings(paths, [], trusted=False, environment=lasting)
    return decide_trust(paths, root, trust_for_run=False, environment=lasting, folder_trust=settings.folder_trust)


def edit_project_settings(
    paths: AppPaths, root: str, change: Callable[[str], str], *, environment: Mapping[str, str]
) -> TrustAfterEdit:
    """Edit the settings of the project like `edit_settings`, and return whether they take effect.

    A trusted folder stays trusted with its new settings. Raises UsageError and OSError.
    """
    before = persistent_trust(paths, root, environment)
    edited: list[tuple[str, str]] = []

    def noted(text: str) -> str:
        changed = change(text)
        edited.append((text, changed))
        return changed

    edit_settings(paths, os.path.join(root, PROJECT_SETTINGS), noted, writers=AllowedWriters.ANYONE)
    if not before.is_trusted:
        return TrustAfterEdit.NOT_TRUSTED
    after = persistent_trust(paths, root, environment)
    if after.is_trusted:
        return TrustAfterEdit.TRUSTED
    old, new = edited[-1]
    if after.level is not TrustLevel.CHANGED or not _is_only_change(before.items, after.items, old=old, new=new):
        return TrustAfterEdit.CHANGED
    return TrustAfterEdit.TRUSTED if _renew_pins(paths, root, after.items) else TrustAfterEdit.CHANGED


def renew_after_change(
    paths: AppPaths,
    root: str,
    before: TrustDecision,
    changed: Sequence[str],
    *,
    environment: Mapping[str, str],
) -> TrustAfterEdit:
    """Keep the trust in a folder after a command of Tejat changed what is in these directories, by relative path.

    `before` is the decision before that. If anything else has changed, the user has to decide again. Raises UsageError.
    """
    if not before.is_trusted:
        return TrustAfterEdit.NOT_TRUSTED
    after = persistent_trust(paths, root, environment)
    if after.is_trusted:
        return TrustAfterEdit.TRUSTED
    was, now_is = ({item.path: item.digest for item in items} for items in (before.items, after.items))
    different = [path for path in was.keys() | now_is.keys() if was.get(path) != now_is.get(path)]
    is_expected = all(path.startswith(tuple(f"{directory}/" for directory in changed)) for path in different)
    if after.level is not TrustLevel.CHANGED or not is_expected:
        return TrustAfterEdit.CHANGED
    return TrustAfterEdit.TRUSTED if _renew_pins(paths, root, after.items) else TrustAfterEdit.CHANGED


def _is_only_change(before: tuple[TrustItem, ...], after: tuple[TrustItem, ...], *, old: str, new: str) -> bool:
    """Whether nothing but the edit differs. Scripts may come and go with the entries that refer to them."""
    was, now_is = ({item.path: item for item in items} for items in (before, after))
    settings_before, settings_after = was.pop(PROJECT_SETTINGS, None), now_is.pop(PROJECT_SETTINGS, None)
    if settings_after is None or settings_after.digest != _digest(new):
        return False
    if old != _NEW_FILE if settings_before is None else settings_before.digest != _digest(old):
        return False
    kept = was.keys() & now_is.keys()
    others = [item for item in (*was.values(), *now_is.values()) if item.path not in kept]
    is_kept = all(was[path].digest == now_is[path].digest for path in kept)
    return is_kept and all(item.kind == "script" for item in others)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _renew_pins(paths: AppPaths, root: str, items: tuple[TrustItem, ...]) -> bool:
    """Pin the present files, with the same verdict."""
    folder = os.path.realpath(root)
    entry = read_trust_store(paths).get(folder)
    if entry is None or entry.verdict is TrustVerdict.NOT_TRUSTED or entry.identity != folder_identity(root):
        return False
    pins = {item.path: item.digest for item in items}
    save_trust_entry(paths, folder, replace(entry, items=pins, decided_at=current_time()))
    return True
