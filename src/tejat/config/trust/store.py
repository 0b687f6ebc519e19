"""Stored trust decisions: our own, with pinned files, and those of Gemini CLI, which are only read."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from tejat.config.files.reader import MAX_BYTES, AllowedWriters, read_config_file
from tejat.config.paths import AppPaths
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum

_VERSION = 1
_LOCK_TIMEOUT = 30.0
_FORGOTTEN_SHARE = 20


class TrustVerdict(StrEnum):
    """A decision about a folder.

    TREE: the folders in it are trusted too, each with its files as they are when it is first seen. PINNED: a tree or
    Gemini CLI includes it, and the entry only pins its files.
    """

    TRUSTED = "trusted"
    TREE = "trusted with its folders"
    NOT_TRUSTED = "not trusted"
    PINNED = "pinned"


class FolderIdentity(Frozen):
    """Distinguishes a folder from another one with the same path."""

    device: int
    inode: int
    owner: int


class TrustItem(Frozen):
    """A file that needs trust: its relative path, its kind, a digest of its content, and details.

    `details` are the commands it starts and the names it sets, for the user; never the value of a variable. `servers`
    and `hooks` are the numbers of MCP servers and hooks in it.
    """

    path: str
    kind: str
    digest: str
    details: Sequence[str] = ()
    servers: int = 0
    hooks: int = 0

    @property
    def label(self) -> str:
        """The kind in the user's language."""
        words = {
            "settings": lazy("settings"),
            "environment file": lazy("environment file"),
            "policy": lazy("policy"),
            "command": lazy("command"),
            "tool": lazy("tool"),
            "script": lazy("script"),
            "skill": lazy("skill"),
            "skill file": lazy("skill file"),
            "agent": lazy("agent"),
        }
        return words.get(self.kind, self.kind)

    def to_json(self) -> JsonObject:
        return {"path": self.path, "what": self.kind, "digest": self.digest, "says": tuple(self.details)}


class TrustEntry(Frozen):
    """A decision: the folder, its files (relative path to digest) and the time in seconds.

    `instructions` are the files with instructions for the model that the user has accepted, None before the first use.
    """

    verdict: TrustVerdict
    identity: FolderIdentity
    items: Mapping[str, str]
    decided_at: int
    instructions: Mapping[str, str] | None = None


class TrustRule(Frozen):
    """Trust or distrust in everything in a directory (real path), stored by us or by Gemini CLI."""

    directory: str
    is_trusted: bool


def read_trust_store(paths: AppPaths) -> dict[str, TrustEntry]:
    """The decisions by the real path of the folder. Raises UsageError for an unusable file."""
    path = paths.trust_store
    return {folder: _parse_entry(value, path) for folder, value in _folders_in(_read(path), path).items()}


def save_trust_entry(paths: AppPaths, folder: str, entry: TrustEntry) -> None:
    """Store a decision. Blocks while another process holds the lock. Raises UsageError."""
    value = {
        "verdict": entry.verdict.value,
        "device": entry.identity.device,
        "inode": entry.identity.inode,
        "owner": entry.identity.owner,
        "when": entry.decided_at,
        "items": dict(entry.items),
        **({} if entry.instructions is None else {"instructions": dict(entry.instructions)}),
    }

    def put(folders: dict[str, object]) -> None:
        folders[folder] = value

    _update(paths, put)


def remove_trust_entry(paths: AppPaths, folder: str) -> None:
    """Remove a decision. Raises UsageError."""

    def remove(folders: dict[str, object]) -> None:
        folders.pop(folder, None)

    _update(paths, remove)


def folder_identity(folder: str) -> FolderIdentity:
    """Raises UsageError if there is no such directory."""
    try:
        status = os.stat(os.path.join(folder, ""))
    except OSError as error:
        raise UsageError(_("Could not read {folder}: {reason}.", folder=folder, reason=error.strerror)) from error
    return FolderIdentity(status.st_dev, status.st_ino, status.st_uid)


def current_time() -> int:
    return int(time.time())


def read_gemini_trust_rules(paths: AppPaths, environment: Mapping[str, str]) -> list[TrustRule]:
    """The rules of Gemini CLI. Raises UsageError for an unusable file."""
    named = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    path = os.path.abspath(named) if named else paths.gemini_trusted_folders
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return []
    # Imported late: most users have no such file.
    from tejat.config.jsonc import JsoncError, parse_jsonc

    try:
        top = parse_jsonc(text)
    except JsoncError as error:
        raise ConfigurationError(_("Error in {path}: {error}", path=path, error=error)) from None
    if not isinstance(top.value, dict):
        raise ConfigurationError(_("Error in {path}: it must be an object in {{}}", path=path))
    rules: list[TrustRule] = []
    for folder, node in top.value.items():
        if node.value not in ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"):
            raise UsageError(
                _(
                    "Error in {path}: line {line}: {folder!r} must be TRUST_FOLDER, TRUST_PARENT or DO_NOT_TRUST",
                    path=path,
                    line=node.line,
                    folder=folder,
                )
            )
        if os.path.isabs(folder):
            real = os.path.realpath(folder)
            effective = os.path.dirname(real) if node.value == "TRUST_PARENT" else real
            rules.append(TrustRule(effective, is_trusted=node.value != "DO_NOT_TRUST"))
    return rules


def _update(paths: AppPaths, change: Callable[[dict[str, object]], None]) -> None:
    from tejat.config.files.directory import make_private_directory
    from tejat.config.files.lock import file_lock
    from tejat.workspace.files.private_files import write_private_file

    path = paths.trust_store
    try:
        directory = make_private_directory(os.path.dirname(path))
        with file_lock(os.path.join(directory, "trust.lock"), timeout=_LOCK_TIMEOUT):
            store = _read(path)
            folders = dict(_folders_in(store, path))
            change(folders)
            write_private_file(path, _encode_store(store, folders))
    except OSError as error:
        raise UsageError(_("Could not write {path}: {reason}.", path=path, reason=error.strerror)) from error


def _encode_store(store: Mapping[str, object], folders: Mapping[str, object]) -> str:
    """The text of the file. If it is too long, old trust is forgotten, that in missing folders first.

    A forgotten folder is asked about again. What the user never trusts stays, so that nothing becomes looser.
    """
    kept, text = dict(folders), _dump_store(store, folders)
    oldest_first = sorted(filter(lambda each: _is_trust(folders[each]), folders), key=partial(_age_key, folders))
    while len(text) > MAX_BYTES and oldest_first:
        # A part of them at a time: encoding everything again for each would take quadratic time.
        forgotten = max(1, len(oldest_first) // _FORGOTTEN_SHARE)
        for folder in oldest_first[:forgotten]:
            del kept[folder]
        del oldest_first[:forgotten]
        text = _dump_store(store, kept)
    return text


def _dump_store(store: Mapping[str, object], folders: Mapping[str, object]) -> str:
    return json.dumps({**store, "version": _VERSION, "folders": dict(folders)}, indent=1, sort_keys=True) + "\n"


def _is_trust(entry: object) -> bool:
    return isinstance(entry, dict) and cast("dict[str, object]", entry).get("verdict") != TrustVerdict.NOT_TRUSTED


def _age_key(folders: Mapping[str, object], folder: str) -> tuple[bool, float]:
    when = cast("dict[str, object]", folders[folder]).get("when")
    return os.path.isdir(folder), when if isinstance(when, int | float) else 0


def _read(path: str) -> dict[str, object]:
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return {"version": _VERSION, "folders": {}}
    try:
        store: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid_store(path, _("not JSON")) from None
    if not isinstance(store, dict):
        raise _invalid_store(path, _("not an object"))
    known = cast("dict[str, object]", store)
    if known.get("version") != _VERSION:
        raise _invalid_store(path, _("unsupported version"))
    return known


def _folders_in(store: Mapping[str, object], path: str) -> dict[str, object]:
    folders = store.get("folders")
    if not isinstance(folders, dict):
        raise _invalid_store(path, _("no folders in it"))
    return cast("dict[str, object]", folders)


def _parse_entry(value: object, path: str) -> TrustEntry:
    match value:
        case {
            "verdict": str(verdict),
            "device": int(device),
            "inode": int(inode),
            "owner": int(owner),
            "when": int(when),
        } if verdict in list(TrustVerdict):
            fields = cast("dict[str, object]", value)
            items, instructions = _parse_digests(fields.get("items")), _parse_digests(fields.get("instructions", {}))
            if items is not None and instructions is not None:
                identity = FolderIdentity(device, inode, owner)
                accepted = instructions if "instructions" in fields else None
                return TrustEntry(TrustVerdict(verdict), identity, items, when, accepted)
        case _:
            pass
    raise _invalid_store(path, _("an unknown entry in it"))


def _parse_digests(value: object) -> dict[str, str] | None:
    if not isinstance(value, dict):
        return None
    items = cast("dict[str, object]", value)
    texts = {name: digest for name, digest in items.items() if isinstance(digest, str)}
    return texts if len(texts) == len(items) else None


def _invalid_store(path: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        _("Cannot use {path}: {why}. No folder is trusted until you fix or remove it.", path=path, why=why)
    )
