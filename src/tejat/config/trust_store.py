"""What was decided about folders: ours, pinned to what they hold, and what Gemini CLI keeps, which is only read."""

import json
import os
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple, cast

from tejat.config.own_file import MAX_BYTES, Writers, read_own_file
from tejat.config.places import Places, private_directory
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.words import phrase, say

_VERSION = 1
_PATIENCE = 30.0


class Verdict(StrEnum):
    """What was decided about a folder. PINNED: Gemini CLI trusts it, and here is only written what it held then."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    PINNED = "pinned"


class Identity(NamedTuple):
    """What tells a folder from another one that takes its name."""

    device: int
    inode: int
    owner: int


class TrustItem(NamedTuple):
    """A file that matters: its path relative to the folder, what it is, a digest of its content, and what it says.

    `says` tells the commands it would start and the names it would set, in words for the person; never a value of a
    variable.
    """

    path: str
    what: str
    digest: str
    says: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """What it is, in the person's language."""
        words = {
            "settings": phrase("settings"),
            "environment file": phrase("environment file"),
            "policy": phrase("policy"),
            "command": phrase("command"),
            "tool": phrase("tool"),
            "script": phrase("script"),
        }
        return words.get(self.what, self.what)


class Entry(NamedTuple):
    """What was decided, about which folder, what it held then (relative path to digest), and when (seconds)."""

    verdict: Verdict
    identity: Identity
    items: Mapping[str, str]
    when: int


class Rule(NamedTuple):
    """Everything in this directory, its links followed, is trusted or is not: ours, or one of Gemini CLI."""

    directory: str
    is_trusted: bool


def store_path(places: Places) -> str:
    return os.path.join(places.config, "trust.json")


def read_store(places: Places) -> dict[str, Entry]:
    """What was decided, by the real path of the folder. Raises UsageError for a file that cannot be relied on."""
    path = store_path(places)
    return {folder: _entry(value, path) for folder, value in _folders(_read(path), path).items()}


def put_entry(places: Places, folder: str, entry: Entry) -> None:
    """Keep what was decided. Blocks while another process does the same. Raises UsageError; then nothing is changed."""
    value = {
        "verdict": entry.verdict.value,
        "device": entry.identity.device,
        "inode": entry.identity.inode,
        "owner": entry.identity.owner,
        "when": entry.when,
        "items": dict(entry.items),
    }

    def put(folders: dict[str, object]) -> None:
        folders[folder] = value

    _change(places, put)


def remove_entry(places: Places, folder: str) -> None:
    """Forget what was decided. Raises UsageError; then nothing is changed."""

    def remove(folders: dict[str, object]) -> None:
        folders.pop(folder, None)

    _change(places, remove)


def identity_of(folder: str) -> Identity:
    """Raises UsageError if there is no such directory."""
    try:
        status = os.stat(os.path.join(folder, ""))
    except OSError as error:
        raise UsageError(say("Cannot look at {folder}: {reason}.", folder=folder, reason=error.strerror)) from error
    return Identity(status.st_dev, status.st_ino, status.st_uid)


def now() -> int:
    return int(time.time())


def rules_of_gemini(places: Places, environment: Mapping[str, str]) -> list[Rule]:
    """The rules of Gemini CLI, as they are. Raises UsageError for a file that cannot be relied on."""
    named = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    path = os.path.abspath(named) if named else os.path.join(places.gemini, "trustedFolders.json")
    text = read_own_file(path, writers=Writers.TRUSTED)
    if text is None:
        return []
    # Most people have none, and nothing is written on most days.
    from tejat.config.json_with_comments import BadJson, read_json

    try:
        top = read_json(text)
    except BadJson as error:
        raise ConfigurationError(say("Error in {path}: {error}", path=path, error=error)) from None
    if not isinstance(top.value, dict):
        raise ConfigurationError(say("Error in {path}: it must be one object in {{}}", path=path))
    rules: list[Rule] = []
    for folder, node in top.value.items():
        if node.value not in ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"):
            raise UsageError(
                say(
                    "Error in {path}: line {line}: {folder!r} must be TRUST_FOLDER, TRUST_PARENT or DO_NOT_TRUST",
                    path=path,
                    line=node.line,
                    folder=folder,
                )
            )
        if os.path.isabs(folder):
            real = os.path.realpath(folder)
            effective = os.path.dirname(real) if node.value == "TRUST_PARENT" else real
            rules.append(Rule(effective, is_trusted=node.value != "DO_NOT_TRUST"))
    return rules


def _change(places: Places, change: Callable[[dict[str, object]], None]) -> None:
    from tejat.config.lock import locked
    from tejat.config.write_own_file import write_own_file

    path = store_path(places)
    try:
        directory = private_directory(os.path.dirname(path))
        with locked(os.path.join(directory, "trust.lock"), patience=_PATIENCE):
            store = _read(path)
            folders = dict(_folders(store, path))
            change(folders)
            text = json.dumps({**store, "version": _VERSION, "folders": folders}, indent=1, sort_keys=True) + "\n"
            if len(text) > MAX_BYTES:
                raise UsageError(
                    say("{path} would be longer than {megabytes} MiB.", path=path, megabytes=MAX_BYTES // 2**20)
                )
            write_own_file(path, text)
    except OSError as error:
        raise UsageError(say("Cannot write {path}: {reason}.", path=path, reason=error.strerror)) from error


def _read(path: str) -> dict[str, object]:
    text = read_own_file(path, writers=Writers.TRUSTED)
    if text is None:
        return {"version": _VERSION, "folders": {}}
    try:
        store: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _broken(path, say("it is not JSON")) from None
    if not isinstance(store, dict):
        raise _broken(path, say("it is not one object"))
    known = cast("dict[str, object]", store)
    if known.get("version") != _VERSION:
        raise _broken(path, say("it is of another version"))
    return known


def _folders(store: Mapping[str, object], path: str) -> dict[str, object]:
    folders = store.get("folders")
    if not isinstance(folders, dict):
        raise _broken(path, say("it holds no folders"))
    return cast("dict[str, object]", folders)


def _entry(value: object, path: str) -> Entry:
    match value:
        case {
            "verdict": str(verdict),
            "device": int(device),
            "inode": int(inode),
            "owner": int(owner),
            "when": int(when),
        } if verdict in list(Verdict):
            pinned = cast("dict[str, object]", value).get("items")
            if isinstance(pinned, dict):
                items = cast("dict[str, object]", pinned)
                texts = {name: digest for name, digest in items.items() if isinstance(digest, str)}
                if len(texts) == len(items):
                    return Entry(Verdict(verdict), Identity(device, inode, owner), texts, when)
        case _:
            pass
    raise _broken(path, say("it holds an entry that is not ours"))


def _broken(path: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        say("Cannot rely on {path}: {why}. No folder is trusted until it is mended or removed.", path=path, why=why)
    )
