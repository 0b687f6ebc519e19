"""The extensions that the user agreed to, each with its pins: `~/.config/tejat/extensions.json`.

The pins of the code and the texts that were agreed to are in a file of their own for each extension, which the store
names by its digest: a session that starts no program of an extension never reads them.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from tejat.config.extensions.pins import FileIdentity, Pin, digest_content
from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import AllowedWriters, path_exists, read_config_file
from tejat.config.paths import AppPaths
from tejat.config.trust.store import FolderIdentity
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.files.regular_file import regular_file_opener

_VERSION = 1
_LOCK_TIMEOUT = 30.0
_MAX_DETAILS = 64 * 2**20
_PIN_TYPES = (str, bool, int, int, int, int, int)
_NEXT = "next"
"""The consent to a tree that is about to replace the present one."""
_PREVIOUS = "previous"
"""The consent to the version before the last update."""


class ConsentParty(StrEnum):
    """Who agreed to an extension."""

    USER = "you"
    GEMINI = "gemini"
    """It was installed by Gemini CLI and taken over as it was."""


_PARTIES = {party.value: party for party in ConsentParty}


class ExtensionConsent(Frozen):
    """An extension as it was agreed to.

    `directory` is the real path of its directory in `~/.gemini/extensions`, `identity` that of the directory with its
    content: of a link, the source. `revision` is the commit or the release tag, `shown` the digest of what was shown,
    `agreed_at` the time in seconds. With `follows`, changes by the user are taken over without asking. `declared` are
    the pins of the declared files by relative path, `excluded_tools` what it takes away as long as it is installed,
    `details` the digest of the file with everything else.
    """

    directory: str
    identity: FolderIdentity
    name: str
    version: str
    party: ConsentParty
    agreed_at: int
    declared: Mapping[str, Pin] = field(repr=False)
    source: str = ""
    type: str = ""
    ref: str = ""
    revision: str = ""
    shown: str = ""
    follows: bool = False
    excluded_tools: tuple[str, ...] = ()
    details: str = ""


class ConsentDetails(Frozen):
    """The pins of the code, and the texts of the declared files as they were agreed to, by relative path."""

    code: Mapping[str, Pin] = field(default_factory=dict[str, Pin], repr=False)
    texts: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def read_consents(paths: AppPaths) -> dict[str, ExtensionConsent]:
    """The consents by directory. Raises ConfigurationError for a file that cannot be used."""
    path = paths.extension_consents
    entries = _read(path)
    return {directory: _parse_entry(path, directory, entry) for directory, entry in entries.items()}


def read_previous_consent(paths: AppPaths, directory: str) -> ExtensionConsent | None:
    """The consent to the version before the last update, None without one. Raises as `read_consents` does."""
    path = paths.extension_consents
    previous = _member(_read(path).get(directory), _PREVIOUS)
    return None if previous is None else _parse_consent(path, directory, previous)


def read_consent_details(paths: AppPaths, consent: ExtensionConsent) -> ConsentDetails:
    """The rest of a consent. Raises ConfigurationError if it is missing or has been changed."""
    path = _details_path(paths, consent.details)
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_DETAILS + 1)
    except OSError as error:
        message = lazy("Could not read {path}: {why}.", path=path, why=error.strerror)
        raise ConfigurationError(message, path=path) from error
    if digest_content(content) != consent.details:
        raise _invalid(path, lazy("it is not the file that was written"))
    found = cast("dict[str, dict[str, object]]", json.loads(content))
    texts = cast("dict[str, str]", found["texts"])
    return ConsentDetails(_parse_pins(path, found["code"]), texts)


def save_consent(paths: AppPaths, consent: ExtensionConsent, details: ConsentDetails) -> ExtensionConsent:
    """Store a consent in place of the one for its directory, and return it as stored.

    Blocks while another process holds the lock. Raises UsageError, and ConfigurationError for an unusable store.
    """
    stored = list[ExtensionConsent]()

    def change(entries: dict[str, object]) -> None:
        stored.append(replace(consent, details=_write_details(paths, details)))
        entries[consent.directory] = {**_to_json(stored[0]), **_backup(entries.get(consent.directory))}

    _update(paths, change)
    return stored[0]


def prepare_consent(paths: AppPaths, consent: ExtensionConsent, details: ConsentDetails) -> None:
    """Store the consent to a tree that is about to be put into the place of another one.

    It counts as soon as its tree is there; until then the present one does. `complete_consent` makes it the only one.
    Raises as `save_consent` does.
    """

    def change(entries: dict[str, object]) -> None:
        entry = cast("dict[str, object]", entries.get(consent.directory) or {})
        prepared = _to_json(replace(consent, details=_write_details(paths, details)))
        entries[consent.directory] = {**entry, _NEXT: prepared} if entry else prepared

    _update(paths, change)


def complete_consent(paths: AppPaths, directory: str, *, keeps_previous: bool) -> None:
    """Make a prepared consent the only one, or drop it if its tree was not put into place.

    With `keeps_previous` the old one is kept for `read_previous_consent`. Raises as `save_consent` does.
    """

    def change(entries: dict[str, object]) -> None:
        entry = cast("dict[str, object]", entries.get(directory) or {})
        following = _member(entry, _NEXT)
        if following is None:
            return
        present = {key: value for key, value in entry.items() if key != _NEXT}
        if not _is_in_place(directory, following):
            entries[directory] = present
            return
        kept = {key: value for key, value in present.items() if key != _PREVIOUS}
        entries[directory] = {**following, _PREVIOUS: kept} if keeps_previous else following

    _update(paths, change)


def remove_consent(paths: AppPaths, directory: str) -> None:
    """Forget an extension. Raises as `save_consent` does."""

    def change(entries: dict[str, object]) -> None:
        entries.pop(directory, None)

    _update(paths, change)


def move_consent(paths: AppPaths, consent: ExtensionConsent, directory: str, identity: FolderIdentity) -> None:
    """Keep a consent for the same content in another directory. Raises as `save_consent` does."""

    def change(entries: dict[str, object]) -> None:
        entries.pop(consent.directory, None)
        entries[directory] = _to_json(replace(consent, directory=directory, identity=identity))

    _update(paths, change)


def renew_pins(paths: AppPaths, renewed: Mapping[str, Mapping[str, Pin]]) -> None:
    """Store newer identities of unchanged declared files, by directory. Raises nothing: it only saves reading."""

    def change(entries: dict[str, object]) -> None:
        for directory, pins in renewed.items():
            entry = entries.get(directory)
            if isinstance(entry, dict):
                known = cast("dict[str, dict[str, object]]", entry)["declared"]
                # Only a pin of the same content is replaced: another process may have agreed to something else.
                for relative, pin in pins.items():
                    if relative in known and _parse_pin("", known[relative])[:2] == pin[:2]:
                        known[relative] = _pin_to_json(pin)

    with suppress(UsageError):
        _update(paths, change)


def renew_code(paths: AppPaths, consent: ExtensionConsent, code: Mapping[str, Pin]) -> ExtensionConsent:
    """Store newer identities and digests of unchanged code, and return the consent as stored. Raises nothing."""
    stored = consent

    def change(entries: dict[str, object]) -> None:
        nonlocal stored
        entry = cast("dict[str, object]", entries.get(consent.directory) or {})
        backup = _backup(entry)
        if entry == {**_to_json(consent), **backup}:
            details = read_consent_details(paths, consent)
            digest = _write_details(paths, ConsentDetails({**details.code, **code}, details.texts))
            stored = replace(consent, details=digest)
            entries[consent.directory] = {**_to_json(stored), **backup}

    with suppress(UsageError):
        _update(paths, change)
    return stored


def _write_details(paths: AppPaths, details: ConsentDetails) -> str:
    code = {relative: _pin_to_json(pin) for relative, pin in details.code.items()}
    content = json.dumps({"code": code, "texts": dict(details.texts)}, separators=(",", ":"), sort_keys=True).encode()
    digest = digest_content(content)
    make_private_directory(paths.extension_pins)
    write_private_file(_details_path(paths, digest), content)
    return digest


def _update(paths: AppPaths, change: Callable[[dict[str, object]], None]) -> None:
    path = paths.extension_consents
    try:
        directory = make_private_directory(os.path.dirname(path))
        with file_lock(os.path.join(directory, "extensions.lock"), timeout=_LOCK_TIMEOUT):
            entries = _read(path)
            change(entries)
            content = {"version": _VERSION, "extensions": entries}
            write_private_file(path, json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n")
            _remove_unused_details(paths, entries)
    except OSError as error:
        raise UsageError(lazy("Could not write {path}: {reason}.", path=path, reason=error.strerror)) from error


def _remove_unused_details(paths: AppPaths, entries: Mapping[str, object]) -> None:
    used = {
        each.get("details")
        for entry in entries.values()
        for each in (cast("dict[str, object]", entry), _member(entry, _NEXT), _member(entry, _PREVIOUS))
        if each is not None
    }
    with suppress(FileNotFoundError):
        for name in os.listdir(paths.extension_pins):
            if name.endswith(".json") and name.removesuffix(".json") not in used:
                with suppress(OSError):
                    os.unlink(os.path.join(paths.extension_pins, name))


def _read(path: str) -> dict[str, object]:
    """The entries by directory. Raises ConfigurationError."""
    text = read_config_file(path, writers=AllowedWriters.TRUSTED) if path_exists(path) else None
    if text is None:
        return {}
    try:
        store: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid(path, lazy("not JSON")) from None
    known = cast("dict[str, object]", store) if isinstance(store, dict) else {}
    if known.get("version") != _VERSION:
        raise _invalid(path, lazy("unsupported version"))
    entries = known.get("extensions")
    if not isinstance(entries, dict):
        raise _invalid(path, lazy("no extensions in it"))
    return cast("dict[str, object]", entries)


def _to_json(consent: ExtensionConsent) -> dict[str, object]:
    return {
        "device": consent.identity.device,
        "inode": consent.identity.inode,
        "owner": consent.identity.owner,
        "name": consent.name,
        "version": consent.version,
        "who": consent.party.value,
        "when": consent.agreed_at,
        "source": consent.source,
        "type": consent.type,
        "ref": consent.ref,
        "revision": consent.revision,
        "shown": consent.shown,
        "follows": consent.follows,
        "excludeTools": list(consent.excluded_tools),
        "details": consent.details,
        "declared": {relative: _pin_to_json(pin) for relative, pin in consent.declared.items()},
    }


def _parse_entry(path: str, directory: str, entry: object) -> ExtensionConsent:
    """The consent that counts: a prepared one as soon as its tree is in place."""
    following = _member(entry, _NEXT)
    is_next = following is not None and _is_in_place(directory, following)
    return _parse_consent(path, directory, following if is_next else entry)


def _member(entry: object, name: str) -> "dict[str, object] | None":
    found = cast("dict[str, object]", entry).get(name) if isinstance(entry, dict) else None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _backup(entry: object) -> dict[str, object]:
    previous = _member(entry, _PREVIOUS)
    return {} if previous is None else {_PREVIOUS: previous}


def _is_in_place(directory: str, entry: Mapping[str, object]) -> bool:
    try:
        status = os.stat(directory)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (entry.get("device"), entry.get("inode"))


def _parse_consent(path: str, directory: str, value: object) -> ExtensionConsent:
    match value:
        case {
            "device": int(device),
            "inode": int(inode),
            "owner": int(owner),
            "name": str(name),
            "version": str(version),
            "who": str(who),
            "when": int(when),
            "excludeTools": list(),
            "declared": dict(),
        } if who in _PARTIES:
            entry = cast("dict[str, object]", value)
            texts = {key: str(entry.get(key, "")) for key in ("source", "type", "ref", "revision", "shown", "details")}
            return ExtensionConsent(
                directory,
                FolderIdentity(device, inode, owner),
                name,
                version,
                _PARTIES[who],
                when,
                _parse_pins(path, cast("dict[str, object]", entry["declared"])),
                follows=entry.get("follows") is True,
                excluded_tools=tuple(map(str, cast("list[object]", entry["excludeTools"]))),
                **texts,
            )
        case _:
            raise _invalid(path, lazy("an unknown entry in it"))


def _parse_pins(path: str, given: Mapping[str, object]) -> dict[str, Pin]:
    return {relative: _parse_pin(path, value) for relative, value in given.items()}


def _parse_pin(path: str, value: object) -> Pin:
    given = cast("list[Any]", value) if isinstance(value, list) else []
    # There are thousands of pins: comparing the types at once is faster than matching each.
    if tuple(map(type, given)) != _PIN_TYPES:
        raise _invalid(path, lazy("an unknown entry in it"))
    digest, executable, *identity = given
    return Pin(digest, executable, FileIdentity(*identity))


def _pin_to_json(pin: Pin) -> list[object]:
    return [pin.digest, pin.is_executable, *pin.identity]


def _details_path(paths: AppPaths, digest: str) -> str:
    return os.path.join(paths.extension_pins, f"{digest or 'none'}.json")


def _invalid(path: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        lazy("Cannot use {path}: {why}. No extension is used until you fix or remove it.", path=path, why=why),
        path=path,
    )
