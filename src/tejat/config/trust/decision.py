"""Trust decisions: a folder's configuration counts only if the user trusts it, as it was then."""

import os
import stat
from collections.abc import Mapping, Sequence

from tejat.config.env_file import find_env_file
from tejat.config.paths import AGENT_DIRECTORIES, SKILL_DIRECTORIES, AppPaths, project_directories, same_directory
from tejat.config.settings.types import Setting
from tejat.config.trust.store import (
    FolderIdentity,
    TrustEntry,
    TrustItem,
    TrustRule,
    TrustVerdict,
    current_time,
    folder_identity,
    read_gemini_trust_rules,
    read_trust_store,
    remove_trust_entry,
    save_trust_entry,
)
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.text.str_enum import StrEnum


class TrustLevel(StrEnum):
    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    UNKNOWN = "unknown"
    """Not decided yet."""
    CHANGED = "changed"
    """It was trusted, but has changed since."""


class TrustDecision(Frozen):
    """The trust in a folder, and the reason as a sentence for the user.

    `items` are the files that need trust, `changed` those that differ or are gone. `problem` must be shown to the user
    in any case. `is_unpinned`: no stored decision counts, and everything is trusted as it is.
    """

    level: TrustLevel
    reason: str
    items: tuple[TrustItem, ...] = ()
    changed: tuple[TrustItem, ...] = ()
    problem: str | None = None
    is_unpinned: bool = False

    @property
    def is_trusted(self) -> bool:
        return self.level is TrustLevel.TRUSTED


class TrustedFolder(Frozen):
    """A folder with a stored decision, and its time in seconds. `is_tree`: the folders in it are trusted too."""

    path: str
    level: TrustLevel
    decided_at: int
    from_gemini_cli: bool
    is_tree: bool = False


def decide_trust(
    paths: AppPaths, root: str, *, trust_for_run: bool, environment: Mapping[str, str], folder_trust: Setting[bool]
) -> TrustDecision:
    """Decide whether a folder is trusted. Raises UsageError if it does not exist; any other doubt means no.

    `environment` is that of the process, before any file was read; `folder_trust` is the setting of the user or the
    administrator. A folder that Gemini CLI trusts is pinned when it is first seen. A variable that says no wins over
    everything, a flag included.
    """
    root = os.path.abspath(root)
    identity = folder_identity(root)
    try:
        items = find_trust_items(paths, root)
    except UsageError as error:
        return _override(root, trust_for_run, environment, folder_trust, ()) or _not_trusted_because(error, ())
    if overruled := _override(root, trust_for_run, environment, folder_trust, items):
        return overruled
    if identity.owner not in (0, os.geteuid()):
        reason = _("{root} belongs to another user (uid {owner}).", root=root, owner=identity.owner)
        return TrustDecision(TrustLevel.NOT_TRUSTED, reason, items)
    if same_directory(root, paths.home):
        return TrustDecision(TrustLevel.TRUSTED, _("{root} is your home directory.", root=root), items)
    try:
        return _evaluate_records(paths, root, identity, items, environment)
    except UsageError as error:
        return _not_trusted_because(error, items)


def trust_folder(
    paths: AppPaths, root: str, *, level: TrustLevel = TrustLevel.TRUSTED, items: Sequence[TrustItem] | None = None
) -> TrustDecision:
    """Store that the folder is trusted, or (NOT_TRUSTED) that it never is, and return the decision.

    `items`, which the user has seen, are pinned, or else the present ones. Raises UsageError if the folder does not
    exist or belongs to another user, or if the decision cannot be stored.
    """
    root = os.path.abspath(root)
    identity = folder_identity(root)
    if level is TrustLevel.NOT_TRUSTED:
        _pin(paths, root, identity, (), TrustVerdict.NOT_TRUSTED)
        reason = _("{root} is not trusted: you chose not to trust it.", root=root)
        return TrustDecision(level, reason, tuple(items or ()))
    if level is not TrustLevel.TRUSTED:
        raise UsageError(_("Cannot set the trust level to {level}. Use trusted or not trusted.", level=level))
    if identity.owner not in (0, os.geteuid()):
        raise UsageError(
            _(
                "{root} belongs to another user (uid {owner}), who could change it at any time.",
                root=root,
                owner=identity.owner,
            )
        )
    pinned = tuple(find_trust_items(paths, root) if items is None else items)
    _pin(paths, root, identity, pinned, TrustVerdict.TRUSTED)
    return TrustDecision(level, _trusted_by_user(root), pinned)


def can_trust_parent(root: str) -> bool:
    """Whether the folder above may be trusted with all folders in it: only the user can write there."""
    parent = os.path.dirname(os.path.realpath(root))
    try:
        status = os.stat(parent)
    except OSError:
        return False
    return parent != "/" and status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def trust_parent(paths: AppPaths, root: str, *, items: Sequence[TrustItem]) -> TrustDecision:
    """Store that the folder above is trusted with all folders in it, and return the decision about this one.

    `items`, which the user has seen, are pinned; those of other folders when they are first seen. Raises UsageError as
    `trust_folder` does.
    """
    parent = os.path.dirname(os.path.realpath(root))
    if not can_trust_parent(root):
        raise UsageError(_("{folder} cannot be trusted as a whole: other users can write there.", folder=parent))
    _pin(paths, parent, folder_identity(parent), find_trust_items(paths, parent), TrustVerdict.TREE)
    _pin(paths, root, folder_identity(root), items, TrustVerdict.PINNED)
    reason = _("{root} is trusted: you trusted {directory}.", root=root, directory=parent)
    return TrustDecision(TrustLevel.TRUSTED, reason, tuple(items))


def forget_folder(paths: AppPaths, root: str) -> bool:
    """Remove the stored decision, and return whether there was one. Raises UsageError."""
    folder = os.path.realpath(root)
    if folder not in read_trust_store(paths):
        return False
    remove_trust_entry(paths, folder)
    return True


def list_trusted_folders(paths: AppPaths) -> list[TrustedFolder]:
    """The folders with a stored decision, by path. Raises UsageError."""
    store = read_trust_store(paths)
    return [
        TrustedFolder(
            folder,
            TrustLevel.NOT_TRUSTED if entry.verdict is TrustVerdict.NOT_TRUSTED else TrustLevel.TRUSTED,
            entry.decided_at,
            from_gemini_cli=entry.verdict is TrustVerdict.PINNED and not _is_in_tree(folder, store),
            is_tree=entry.verdict is TrustVerdict.TREE,
        )
        for folder, entry in sorted(store.items())
    ]


def find_trust_items(paths: AppPaths, root: str) -> tuple[TrustItem, ...]:
    """The files of the folder that need trust. Raises UsageError if that cannot be determined."""
    names = (".gemini", ".mcp.json", *SKILL_DIRECTORIES, *AGENT_DIRECTORIES)
    above = project_directories(root, paths.homes)[1:]
    places = (*((root, name) for name in names), *((place, name) for place in above for name in SKILL_DIRECTORIES))
    if not any(os.path.lexists(os.path.join(*place)) for place in places) and not find_env_file(paths, root):
        return ()
    # Imported late: most folders have no such files.
    from tejat.config.trust.items import scan_trust_items

    return scan_trust_items(paths, root)


def _override(
    root: str,
    trust_for_run: bool,
    environment: Mapping[str, str],
    folder_trust: Setting[bool],
    items: tuple[TrustItem, ...],
) -> TrustDecision | None:
    if forbidden_by := _trust_forbidding_variable(environment):
        reason = _("{root} is not trusted in this run: {setting} is set.", root=root, setting=forbidden_by)
        # Said where it makes a difference: `tejat trust` would not help.
        return TrustDecision(TrustLevel.NOT_TRUSTED, reason, items, problem=reason if trust_for_run or items else None)
    if trust_for_run:
        reason = _("{root} is trusted for this run because of the flag.", root=root)
    elif _switch(environment, _TRUST_VARIABLE) in _TRUE:
        reason = _("{root} is trusted for this run because of {variable}.", root=root, variable=_TRUST_VARIABLE)
    elif not folder_trust.value:
        reason = _("Every folder is trusted because of {source}.", source=folder_trust.source)
    else:
        return None
    return TrustDecision(TrustLevel.TRUSTED, reason, items, is_unpinned=True)


def _trust_forbidding_variable(environment: Mapping[str, str]) -> str | None:
    """The assignment that forbids trust in this run, None if there is none."""
    if _switch(environment, _RESTRICTED_VARIABLE) in _TRUE:
        return f"{_RESTRICTED_VARIABLE}={environment[_RESTRICTED_VARIABLE].strip()}"
    if _switch(environment, _TRUST_VARIABLE) in _FALSE:
        return f"{_TRUST_VARIABLE}={environment[_TRUST_VARIABLE].strip()}"
    return None


def _switch(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip().lower()


def _trusted_by_user(root: str) -> str:
    return _("{root} is trusted: you trusted it.", root=root)


def _not_trusted_because(error: UsageError, items: tuple[TrustItem, ...]) -> TrustDecision:
    return TrustDecision(TrustLevel.NOT_TRUSTED, str(error), items, problem=str(error))


def _evaluate_records(
    paths: AppPaths, root: str, identity: FolderIdentity, items: tuple[TrustItem, ...], environment: Mapping[str, str]
) -> TrustDecision:
    folder = os.path.realpath(root)
    store = read_trust_store(paths)
    entry = store.get(folder)
    rule = _most_specific_rule([*_own_rules(store, folder), *read_gemini_trust_rules(paths, environment)], folder)
    if rule is None:
        return TrustDecision(TrustLevel.UNKNOWN, _("{root} is not trusted: not decided yet.", root=root), items)
    if not rule.is_trusted:
        reason = _("{root} is not trusted: you chose not to trust {directory}.", root=root, directory=rule.directory)
        return TrustDecision(TrustLevel.NOT_TRUSTED, reason, items)
    if entry is None:
        _pin(paths, root, identity, items, TrustVerdict.PINNED)
        reason = _("{root} is trusted: you trusted {directory}.", root=root, directory=rule.directory)
        if not _is_in_tree(folder, store):
            reason = _("{root} is trusted: you trusted {directory} in Gemini CLI.", root=root, directory=rule.directory)
        return TrustDecision(TrustLevel.TRUSTED, reason, items)
    return _compare_pins(root, entry, identity, items)


def _own_rules(store: Mapping[str, TrustEntry], folder: str) -> list[TrustRule]:
    """Stored decisions as rules. Trust is for one folder, a tree and distrust for all folders in it, a pin for none."""
    return [
        TrustRule(path, is_trusted=entry.verdict is not TrustVerdict.NOT_TRUSTED)
        for path, entry in store.items()
        if entry.verdict is TrustVerdict.NOT_TRUSTED
        or (entry.verdict is TrustVerdict.TRUSTED and path == folder)
        or (entry.verdict is TrustVerdict.TREE and _is_within(folder, path) and _is_same_folder(path, entry))
    ]


def _is_in_tree(folder: str, store: Mapping[str, TrustEntry]) -> bool:
    """Whether this folder or one above it is trusted with the folders in it."""
    return any(entry.verdict is TrustVerdict.TREE and _is_within(folder, path) for path, entry in store.items())


def _is_within(folder: str, directory: str) -> bool:
    return f"{folder}/".startswith(f"{directory.rstrip('/')}/")


def _is_same_folder(path: str, entry: TrustEntry) -> bool:
    """Whether the path still leads to the folder that was decided about."""
    try:
        return folder_identity(path) == entry.identity
    except UsageError:
        return False


def _most_specific_rule(rules: Sequence[TrustRule], folder: str) -> TrustRule | None:
    """The rule for the nearest directory; of two for the same one the stricter."""
    about = [rule for rule in rules if _is_within(folder, rule.directory)]
    return max(about, key=lambda rule: (len(rule.directory), not rule.is_trusted), default=None)


def _compare_pins(root: str, entry: TrustEntry, folder: FolderIdentity, items: tuple[TrustItem, ...]) -> TrustDecision:
    if entry.identity != folder:
        reason = _("{root} is no longer the folder that was trusted.", root=root)
        return TrustDecision(TrustLevel.CHANGED, reason, items, items)
    changed = [item for item in items if entry.items.get(item.path) != item.digest]
    here = {item.path for item in items}
    changed += [TrustItem(path, "gone", "") for path in sorted(entry.items) if path not in here]
    if not changed:
        return TrustDecision(TrustLevel.TRUSTED, _trusted_by_user(root), items)
    names = ", ".join(item.path for item in changed[:_MAX_NAMED])
    if len(changed) > _MAX_NAMED:
        names = _("{names} and more", names=names)
    reason = _("{root} is no longer trusted. Changed since then: {names}.", root=root, names=names)
    return TrustDecision(TrustLevel.CHANGED, reason, items, tuple(changed))


def _pin(paths: AppPaths, root: str, folder: FolderIdentity, items: Sequence[TrustItem], verdict: TrustVerdict) -> None:
    path, pins = os.path.realpath(root), {item.path: item.digest for item in items}
    known = read_trust_store(paths).get(path)
    # What has been accepted before stays so, and what has changed since is still to be shown.
    accepted = known.instructions if known is not None and known.identity == folder else None
    save_trust_entry(paths, path, TrustEntry(verdict, folder, pins, current_time(), accepted))


_TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"
_RESTRICTED_VARIABLE = "GEMINI_RESTRICTED_MODE"
_TRUE = ("true", "1")
_FALSE = ("false", "0")
TRUST_VARIABLES = (_TRUST_VARIABLE, _RESTRICTED_VARIABLE)
"""Variables that decide for one run. No `.env` file can set them."""
_MAX_NAMED = 5
