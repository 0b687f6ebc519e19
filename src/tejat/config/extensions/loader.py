"""Discovery of the installed extensions, and the state of each."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.config.extensions.consent import ExtensionPins, agree_to_extension, content_path
from tejat.config.extensions.consent_store import ConsentParty, ExtensionConsent, read_consents, renew_pins
from tejat.config.extensions.enablement import ExtensionEnablement, read_enablement
from tejat.config.extensions.install_record import InstallRecord, InstallType, read_install_record
from tejat.config.extensions.manifest import MANIFEST, ExtensionManifest, read_manifest
from tejat.config.extensions.pins import Pin, check_declared, find_foreign_writer
from tejat.config.extensions.source_rules import SourceRules
from tejat.config.files.real_paths import RealPaths
from tejat.config.paths import AppPaths
from tejat.config.trust.store import folder_identity
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from tejat.config.settings.types import Settings

_MAX_NAMED = 3


class ExtensionState(StrEnum):
    ENABLED = "enabled"
    DISABLED = "disabled"
    CHANGED = "changed"
    """It is not what was agreed to. Only its restrictions count."""
    NEW = "new"
    """Nobody has agreed to it yet."""
    BLOCKED = "blocked"
    """The settings of the machine or of the user forbid it."""
    BROKEN = "broken"


class FoundExtension(Frozen):
    """A directory in `~/.gemini/extensions`, and why it is in its state.

    `path` is the directory with the content: of a link, the source. A broken one may have no manifest and no record;
    its name is then that of the directory. `changes` are the declared files that are not as agreed. With
    `is_taken_over` it was installed by Gemini CLI and is used here for the first time. With `is_restricting` it is not
    used, but the rules and excluded tools that were agreed to stay in force.
    """

    directory: str
    path: str
    name: str
    state: ExtensionState
    reason: str = ""
    manifest: ExtensionManifest | None = None
    record: InstallRecord | None = None
    consent: ExtensionConsent | None = None
    changes: tuple[str, ...] = ()
    is_taken_over: bool = False
    is_restricting: bool = False


class FoundExtensions(Frozen):
    """All extensions by name, and problems with files that concern all of them."""

    extensions: tuple[FoundExtension, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, name: str) -> FoundExtension | None:
        """The usable one of this name, whatever the case of its letters, else a broken one."""
        named = [each for each in self.extensions if each.name.lower() == name.lower()]
        named.sort(key=lambda each: (each.state is ExtensionState.BROKEN, each.name != name))
        return named[0] if named else None


def find_extensions(
    paths: AppPaths,
    root: str,
    settings: "Settings",
    *,
    selection: Sequence[str] | None = None,
    takes_over: bool = True,
    checks_all: bool = False,
) -> FoundExtensions:
    """Find the installed extensions and decide about each for a session in `root`.

    `selection` are the names of `--extensions`: only these are on, none for `none`. With `takes_over`, extensions that
    Gemini CLI installed are agreed to when first seen. With `checks_all`, disabled ones are compared with their pins
    too: then `changes` are known. Raises UsageError for invalid expressions in `security.allowedExtensions`.
    """
    if not os.path.isdir(paths.extensions):
        return FoundExtensions()
    return _Search(paths, root, settings, selection, takes_over=takes_over, checks_all=checks_all).find()


class _Search:
    def __init__(
        self,
        paths: AppPaths,
        root: str,
        settings: "Settings",
        selection: Sequence[str] | None,
        *,
        takes_over: bool,
        checks_all: bool,
    ) -> None:
        self._paths = paths
        self._directory = paths.extensions
        self._root = root
        self._real_paths = RealPaths()
        self._selection = None if selection is None else _selected_names(selection)
        self._takes_over = takes_over
        self._checks_all = checks_all
        self._disabled = {entry.value.lower(): entry.source for entry in settings.extensions_disabled}
        self._sources = SourceRules.of(settings)
        self._enablement: ExtensionEnablement = read_enablement(paths)
        self._problems = [self._enablement.problem] if self._enablement.problem and selection is None else []
        self._consents: Mapping[str, ExtensionConsent] | None = self._read_consents()
        self._renewed: dict[str, Mapping[str, Pin]] = {}
        self._names: set[str] = set()

    def find(self) -> FoundExtensions:
        found = [each for name in self._directory_names() if (each := self._find_one(name)) is not None]
        if self._renewed:
            renew_pins(self._paths, self._renewed)
        return FoundExtensions(tuple(sorted(found, key=lambda each: each.name)), tuple(self._problems))

    def _read_consents(self) -> Mapping[str, ExtensionConsent] | None:
        try:
            return read_consents(self._paths)
        except ConfigurationError as error:
            self._problems.append(str(error))
            return None

    def _directory_names(self) -> list[str]:
        try:
            with os.scandir(self._paths.extensions) as entries:
                # Hidden directories are installs under way.
                return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
        except OSError as error:
            path = self._paths.extensions
            self._problems.append(lazy("Could not read {path}: {why}.", path=path, why=error.strerror))
            return []

    def _find_one(self, name: str) -> FoundExtension | None:
        """Decide about one directory, None if there is nothing to tell about it."""
        path = directory = os.path.join(self._directory, name)
        consent = (self._consents or {}).get(self._real_paths.find(directory))
        is_restricting = consent is not None and not self._find_off_reason(consent.name)
        record: InstallRecord | None = None
        manifest: ExtensionManifest | None = None

        def found(reason: str = "") -> FoundExtension:
            own_name = name if manifest is None else manifest.name
            return FoundExtension(
                *(directory, path, own_name, ExtensionState.BROKEN, reason, manifest, record, consent),
                is_restricting=is_restricting,
            )

        try:
            record = read_install_record(directory)
            path = content_path(directory, record)
            if not os.path.lexists(os.path.join(path, MANIFEST)):
                is_empty = not os.listdir(directory)
                return None if is_empty else found(_missing_manifest(path, record))
            manifest = read_manifest(path)
            return self._decide(found(), manifest)
        except ConfigurationError as error:
            return found(_one_line(error))
        except (UsageError, OSError) as error:
            return found(str(error))

    def _decide(self, found: FoundExtension, manifest: ExtensionManifest) -> FoundExtension:
        """Raises ConfigurationError and UsageError where it is broken."""
        if manifest.name.lower() in self._names:
            reason = lazy("another extension has the name {name}", name=manifest.name)
            return replace(found, reason=reason, is_restricting=False)
        self._names.add(manifest.name.lower())
        if refusal := self._sources.find_refusal(found.record):
            return replace(found, state=ExtensionState.BLOCKED, reason=refusal, is_restricting=False)
        off = self._find_off_reason(manifest.name)
        if not off:
            return self._check(found, manifest, takes_over=self._takes_over)
        checked = self._check(found, manifest, takes_over=False) if self._checks_all else found
        return replace(checked, state=ExtensionState.DISABLED, reason=off, is_restricting=False)

    def _find_off_reason(self, name: str) -> str:
        if self._selection is not None:
            is_selected = name.lower() in self._selection
            return "" if is_selected else lazy("not among those that --extensions names")
        if source := self._disabled.get(name.lower()):
            return lazy("disabled by extensions.disabled in {source}", source=source)
        if self._enablement.problem:
            return self._enablement.problem
        rule = self._enablement.deciding_rule(name, self._root)
        if rule is None or rule.is_on:
            return ""
        return lazy("disabled in {directory}", directory=rule.directory.rstrip("/") or "/")

    def _check(self, found: FoundExtension, manifest: ExtensionManifest, *, takes_over: bool) -> FoundExtension:
        consent = found.consent
        if consent is None:
            return self._decide_first_use(found, manifest, takes_over=takes_over)
        if consent.identity != folder_identity(found.path):
            reason = lazy("{path} is not the directory that was agreed to", path=found.path)
            return replace(found, state=ExtensionState.CHANGED, reason=reason)
        check = check_declared(found.path, manifest.possible_context_files, consent.declared, self._real_paths)
        if check.renewed:
            self._renewed[consent.directory] = check.renewed
        if not check.changed:
            return replace(found, state=ExtensionState.ENABLED, is_restricting=False)
        if consent.follows and self._may_follow(found):
            return self._agree(found, manifest, consent.party, follows=True)
        reason = lazy("changed since it was agreed to: {files}", files=_name_some(check.changed))
        return replace(found, state=ExtensionState.CHANGED, reason=reason, changes=check.changed)

    def _decide_first_use(
        self, found: FoundExtension, manifest: ExtensionManifest, *, takes_over: bool
    ) -> FoundExtension:
        new = replace(found, state=ExtensionState.NEW)
        if self._consents is None:
            return replace(new, reason=lazy("the stored consents cannot be read"))
        if found.record is None:
            return replace(new, reason=lazy("not installed by a command"))
        if opened := self._find_open_path(found):
            return replace(new, reason=lazy("{path} can be changed by other users", path=opened))
        if not takes_over:
            return replace(new, reason=lazy("not used here yet"))
        agreed = self._agree(found, manifest, ConsentParty.GEMINI)
        return replace(agreed, is_taken_over=True)

    def _find_open_path(self, found: FoundExtension) -> str:
        opened = find_foreign_writer(found.directory)
        return opened or (find_foreign_writer(found.path) if found.path != found.directory else "")

    def _agree(
        self, found: FoundExtension, manifest: ExtensionManifest, party: ConsentParty, *, follows: bool = False
    ) -> FoundExtension:
        pins = ExtensionPins(found.path, manifest, hashes_code=False)
        consent = agree_to_extension(
            self._paths, found.directory, manifest, found.record, party=party, pins=pins, follows=follows
        )
        return replace(found, state=ExtensionState.ENABLED, consent=consent, is_restricting=False)

    def _may_follow(self, found: FoundExtension) -> bool:
        """Whether changes of a followed link are the user's own: what lies in the workspace, the model can edit."""
        is_link = found.record is not None and found.record.type is InstallType.LINK
        return is_link and not overlaps(found.path, self._root) and not find_foreign_writer(found.path)


def overlaps(one: str, other: str) -> bool:
    """Whether one of two directories lies in the other, links followed."""
    inner, outer = os.path.realpath(one).rstrip("/") + "/", os.path.realpath(other).rstrip("/") + "/"
    return inner.startswith(outer) or outer.startswith(inner)


def _selected_names(selection: Sequence[str]) -> Collection[str]:
    names = {name.strip().lower() for name in selection if name.strip()}
    return frozenset() if names == {"none"} else names


def _missing_manifest(path: str, record: InstallRecord | None) -> str:
    if record is not None and record.type is InstallType.LINK:
        return lazy("it links to {path}, which has no {manifest}", path=path, manifest=MANIFEST)
    return lazy("it has no {manifest}", manifest=MANIFEST)


def _name_some(files: Sequence[str]) -> str:
    named = ", ".join(files[:_MAX_NAMED])
    if len(files) <= _MAX_NAMED:
        return named
    return lazy("{names} and {count} more", names=named, count=len(files) - _MAX_NAMED)


def _one_line(error: ConfigurationError) -> str:
    return str(error).partition("\n")[0].removesuffix(".")
