"""A fetched extension in its private directory, before anybody agreed to it."""

import os
from contextlib import suppress

from tejat.app.commands.builtin import builtin_names
from tejat.app.extensions.description.changes import ExtensionFiles
from tejat.app.extensions.description.contents import ExtensionContents, read_contents
from tejat.app.extensions.description.summary import ExtensionSummary
from tejat.app.extensions.description.summary_builder import ExtensionOrigin, build_summary
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.config.extensions.consent import ExtensionPins
from tejat.config.extensions.consent_store import ConsentDetails, ConsentParty, ExtensionConsent
from tejat.config.extensions.install_record import INSTALL_RECORD, InstallRecord, InstallType
from tejat.config.extensions.manifest import MANIFEST, ExtensionManifest, find_name_problem, read_manifest
from tejat.config.extensions.pins import SETTINGS_FILE
from tejat.config.trust.store import current_time, folder_identity
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.workspace.downloads.package import FetchedPackage

_NOT_INSTALLED = (SETTINGS_FILE, INSTALL_RECORD)
"""Files of a package that are left out: they would stand for what the user said."""


class StagedExtension(Frozen):
    """A checked extension: `tree` has its files, `place` is the directory in which it will be used.

    `pins` are those of the tree, so of exactly what is shown.
    """

    tree: str
    place: str
    manifest: ExtensionManifest
    contents: ExtensionContents
    summary: ExtensionSummary
    record: InstallRecord
    revision: str
    pins: ExtensionPins
    follows: bool = False

    @property
    def files(self) -> ExtensionFiles:
        return ExtensionFiles(self.pins.declared, self.pins.code, self.pins.texts)

    @property
    def details(self) -> ConsentDetails:
        return ConsentDetails(self.pins.code, self.pins.texts)

    def consent(self, directory: str) -> ExtensionConsent:
        """The consent of the user to this extension in a directory of `~/.gemini/extensions`."""
        return ExtensionConsent(
            os.path.realpath(directory),
            folder_identity(self.tree),
            self.manifest.name,
            self.manifest.version,
            ConsentParty.USER,
            current_time(),
            self.pins.declared,
            source=self.record.source,
            type=self.record.type.value,
            ref=self.record.ref,
            revision=self.revision,
            shown=self.summary.digest,
            follows=self.follows,
            excluded_tools=tuple(entry.value for entry in self.manifest.excluded_tools),
        )


def prepare_package(
    environment: ExtensionEnvironment,
    fetched: FetchedPackage,
    record: InstallRecord,
    *,
    directory: str = "",
    migrated_from: str = "",
) -> StagedExtension:
    """Read and check a fetched package. `directory` is that of the installed one it will replace.

    Raises ExtensionFailure.
    """
    ignored = tuple(name for name in _NOT_INSTALLED if _remove(os.path.join(fetched.directory, name)))
    return _prepare(
        environment,
        fetched.directory,
        record,
        directory=directory,
        revision=fetched.commit or fetched.release_tag,
        ignored=tuple(name for name in ignored if name == SETTINGS_FILE),
        migrated_from=migrated_from,
    )


def prepare_link(environment: ExtensionEnvironment, source: str, *, follows: bool) -> StagedExtension:
    """Read and check the directory that a link will lead to. Raises ExtensionFailure."""
    record = InstallRecord(source, InstallType.LINK)
    return _prepare(environment, source, record, directory=source, follows=follows)


def _prepare(
    environment: ExtensionEnvironment,
    tree: str,
    record: InstallRecord,
    *,
    directory: str,
    revision: str = "",
    ignored: tuple[str, ...] = (),
    follows: bool = False,
    migrated_from: str = "",
) -> StagedExtension:
    try:
        manifest = read_staged_manifest(tree)
        place = directory or os.path.join(environment.paths.extensions, manifest.name)
        contents = read_contents(tree, manifest, workspace=environment.root, place=place)
        pins = ExtensionPins(tree, manifest)
    except ConfigurationError as error:
        raise ExtensionFailure(str(error).replace(f"{tree}/", "")) from error
    origin = ExtensionOrigin(
        record.source,
        record.type.value,
        place,
        record.ref,
        revision,
        follows=follows,
        ignored_files=ignored,
        migrated_from=migrated_from,
    )
    summary = build_summary(contents, origin, environment.names_in_use(besides=manifest.name))
    return StagedExtension(tree, place, manifest, contents, summary, record, revision, pins, follows)


def read_staged_manifest(tree: str) -> ExtensionManifest:
    """The manifest of an extension whose name may be used. Raises ExtensionFailure and ConfigurationError."""
    if not os.path.lexists(os.path.join(tree, MANIFEST)):
        raise ExtensionFailure(_("There is no {manifest} in the package.", manifest=MANIFEST))
    manifest = read_manifest(tree)
    if problem := find_name_problem(manifest.name, builtin_names()):
        raise ExtensionFailure(_("The extension cannot be used: {problem}.", problem=problem))
    return manifest


def _remove(path: str) -> bool:
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
        os.unlink(path)
        return True
    return False
