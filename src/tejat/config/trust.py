"""Whether a folder is trusted: what it brings along counts only if somebody said so, and only as it was then."""

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from tejat.config.env_file import find_environment_file
from tejat.config.places import Places
from tejat.config.settings import Setting
from tejat.config.settings_file import is_same_directory
from tejat.config.trust_store import (
    Entry,
    Identity,
    Rule,
    TrustItem,
    Verdict,
    identity_of,
    now,
    put_entry,
    read_store,
    remove_entry,
    rules_of_gemini,
)
from tejat.core.errors import UsageError
from tejat.core.words import say


class TrustLevel(StrEnum):
    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    UNKNOWN = "unknown"
    """Nobody has decided yet."""
    CHANGED = "changed"
    """It was trusted, but is not any more what it was then."""


class Trust(NamedTuple):
    """What was found about a folder, and why, in one sentence for the person.

    `items` is what it brings along, `changed` those that are not as they were (also ones that are gone). `problem` is
    something that the person should be told in any case.
    """

    level: TrustLevel
    reason: str
    items: tuple[TrustItem, ...] = ()
    changed: tuple[TrustItem, ...] = ()
    problem: str | None = None

    @property
    def is_trusted(self) -> bool:
        return self.level is TrustLevel.TRUSTED


class TrustedFolder(NamedTuple):
    """A folder that something was decided about, and when (seconds)."""

    path: str
    level: TrustLevel
    when: int
    by_gemini: bool


def decide_trust(
    places: Places, root: str, *, trust_now: bool, environment: Mapping[str, str], folder_trust: Setting[bool]
) -> Trust:
    """Whether the folder is trusted. Raises UsageError if there is no such folder; any other doubt means no.

    `environment` is the real one, before any file was read; `folder_trust` is what the person or whoever runs the
    machine set. A folder that Gemini CLI trusts is pinned when it is first seen.
    """
    root = os.path.abspath(root)
    identity = identity_of(root)
    try:
        items = items_of(places, root)
    except UsageError as error:
        return _overruled(root, trust_now, environment, folder_trust, ()) or _doubt(error, ())
    overruled = _overruled(root, trust_now, environment, folder_trust, items)
    if overruled:
        return overruled
    if identity.owner not in (0, os.geteuid()):
        return Trust(
            TrustLevel.NOT_TRUSTED,
            say("{root} belongs to another user (number {owner}).", root=root, owner=identity.owner),
            items,
        )
    if is_same_directory(root, places.home):
        return Trust(TrustLevel.TRUSTED, say("{root} is your home directory.", root=root), items)
    try:
        return _recorded(places, root, identity, items, environment)
    except UsageError as error:
        return _doubt(error, items)


def trust_folder(
    places: Places,
    root: str,
    *,
    level: TrustLevel = TrustLevel.TRUSTED,
    items: Sequence[TrustItem] | None = None,
) -> Trust:
    """Keep that the folder is trusted, or (NOT_TRUSTED) that it never is, and return that.

    Pinned is what it brings along as `items` tells, which the person has seen, or as it is now. Raises UsageError
    if there is no such folder, it belongs to another user, or it cannot be written down.
    """
    root = os.path.abspath(root)
    identity = identity_of(root)
    if level is TrustLevel.NOT_TRUSTED:
        put_entry(places, os.path.realpath(root), Entry(Verdict.NOT_TRUSTED, identity, {}, now()))
        return Trust(level, say("{root} is not trusted: you said so.", root=root), tuple(items or ()))
    if level is not TrustLevel.TRUSTED:
        raise UsageError(say("A folder is trusted or it is not; {level} is found out.", level=level))
    if identity.owner not in (0, os.geteuid()):
        raise UsageError(
            say(
                "{root} belongs to another user (number {owner}), who could change it at any time.",
                root=root,
                owner=identity.owner,
            )
        )
    pinned = tuple(items_of(places, root) if items is None else items)
    _pin(places, root, identity, pinned, Verdict.TRUSTED)
    return Trust(level, _you_said_so(root), pinned)


def forget_folder(places: Places, root: str) -> bool:
    """Forget what was decided about the folder; whether there was anything. Raises UsageError."""
    folder = os.path.realpath(root)
    if folder not in read_store(places):
        return False
    remove_entry(places, folder)
    return True


def listed(places: Places) -> list[TrustedFolder]:
    """The folders that something was decided about, by path. Raises UsageError."""
    return [
        TrustedFolder(
            folder,
            TrustLevel.NOT_TRUSTED if entry.verdict is Verdict.NOT_TRUSTED else TrustLevel.TRUSTED,
            entry.when,
            by_gemini=entry.verdict is Verdict.PINNED,
        )
        for folder, entry in sorted(read_store(places).items())
    ]


def items_of(places: Places, root: str) -> tuple[TrustItem, ...]:
    """What the folder brings along. Raises UsageError where that cannot be known."""
    if not (_has(root, ".gemini") or _has(root, ".mcp.json") or find_environment_file(places, root)):
        return ()
    # Most folders bring nothing, and should not wait for what looking closer needs.
    from tejat.config.trust_items import find_items

    return find_items(places, root)


def _has(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, name))


def _overruled(
    root: str,
    trust_now: bool,
    environment: Mapping[str, str],
    folder_trust: Setting[bool],
    items: tuple[TrustItem, ...],
) -> Trust | None:
    if trust_now:
        return Trust(TrustLevel.TRUSTED, say("{root} is trusted for this run, as the flag says.", root=root), items)
    if environment.get(_VARIABLE, "").strip().lower() in ("true", "1"):
        return Trust(
            TrustLevel.TRUSTED,
            say("{root} is trusted for this run, as {variable} says.", root=root, variable=_VARIABLE),
            items,
        )
    if not folder_trust.value:
        return Trust(
            TrustLevel.TRUSTED, say("Every folder is trusted, as {source} says.", source=folder_trust.source), items
        )
    return None


def _you_said_so(root: str) -> str:
    return say("{root} is trusted: you said so.", root=root)


def _doubt(error: UsageError, items: tuple[TrustItem, ...]) -> Trust:
    return Trust(TrustLevel.NOT_TRUSTED, str(error), items, problem=str(error))


def _recorded(
    places: Places, root: str, identity: Identity, items: tuple[TrustItem, ...], environment: Mapping[str, str]
) -> Trust:
    folder = os.path.realpath(root)
    store = read_store(places)
    entry = store.get(folder)
    rule = _deciding([*_own_rules(store, folder), *rules_of_gemini(places, environment)], folder)
    if rule is None:
        return Trust(TrustLevel.UNKNOWN, say("{root} is not trusted: nobody has said so yet.", root=root), items)
    if not rule.is_trusted:
        return Trust(
            TrustLevel.NOT_TRUSTED,
            say("{root} is not trusted: you said so about {directory}.", root=root, directory=rule.directory),
            items,
        )
    if entry is None:
        _pin(places, root, identity, items, Verdict.PINNED)
        return Trust(
            TrustLevel.TRUSTED,
            say("{root} is trusted: you told Gemini CLI so about {directory}.", root=root, directory=rule.directory),
            items,
        )
    return _compared(root, entry, identity, items)


def _own_rules(store: Mapping[str, Entry], folder: str) -> list[Rule]:
    """What we were told: trust is for one folder, distrust for everything in it. A pin by itself says neither."""
    return [
        Rule(path, is_trusted=entry.verdict is Verdict.TRUSTED)
        for path, entry in store.items()
        if entry.verdict is Verdict.NOT_TRUSTED or (entry.verdict is Verdict.TRUSTED and path == folder)
    ]


def _deciding(rules: Sequence[Rule], folder: str) -> Rule | None:
    """The rule about the nearest directory; of two about the same one the stricter."""
    about = [rule for rule in rules if _contains(rule.directory, folder)]
    return max(about, key=lambda rule: (len(rule.directory), not rule.is_trusted), default=None)


def _contains(directory: str, folder: str) -> bool:
    return folder == directory or folder.startswith(f"{directory.rstrip('/')}/")


def _compared(root: str, entry: Entry, identity: Identity, items: tuple[TrustItem, ...]) -> Trust:
    if entry.identity != identity:
        return Trust(
            TrustLevel.CHANGED,
            say("{root} is not the folder that was trusted under this name.", root=root),
            items,
            items,
        )
    changed = [item for item in items if entry.items.get(item.path) != item.digest]
    here = {item.path for item in items}
    changed += [TrustItem(path, "gone", "") for path in sorted(entry.items) if path not in here]
    if not changed:
        return Trust(TrustLevel.TRUSTED, _you_said_so(root), items)
    names = ", ".join(item.path for item in changed[:_NAMED])
    if len(changed) > _NAMED:
        names = say("{names} and more", names=names)
    reason = say("{root} is not trusted any more: changed since then: {names}.", root=root, names=names)
    return Trust(TrustLevel.CHANGED, reason, items, tuple(changed))


def _pin(places: Places, root: str, identity: Identity, items: Sequence[TrustItem], verdict: Verdict) -> None:
    pins = {item.path: item.digest for item in items}
    put_entry(places, os.path.realpath(root), Entry(verdict, identity, pins, now()))


_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"
_NAMED = 5
