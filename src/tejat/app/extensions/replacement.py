"""Exchange of an installed extension: at every moment the old or the new one is there, with its consent."""

import os
from contextlib import suppress

from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.staged import StagedExtension
from tejat.config.extensions.consent_store import (
    ConsentDetails,
    ExtensionConsent,
    complete_consent,
    move_consent,
    prepare_consent,
    read_consent_details,
    read_consents,
    read_previous_consent,
)
from tejat.config.extensions.enablement import rename_enablement
from tejat.config.extensions.install_record import extension_id
from tejat.config.extensions.loader import FoundExtension
from tejat.config.extensions.manifest import ExtensionManifest, read_manifest
from tejat.config.extensions.pins import SETTINGS_FILE, check_code, check_declared
from tejat.config.extensions.settings_values import ExtensionSettingsStore, SettingScope
from tejat.config.files.directory import make_private_directory
from tejat.config.trust.store import folder_identity
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.workspace.downloads.placement import exchange_directories, move_tree, put_in_place, staging_directory
from tejat.workspace.downloads.tree import remove_tree
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.files.regular_file import regular_file_opener


def replace_extension(environment: ExtensionEnvironment, found: FoundExtension, staged: StagedExtension) -> None:
    """Put a staged extension in the place of an installed one, which is kept for the way back.

    Raises UsageError and OSError; then the old one is in use.
    """
    _exchange(environment, found, staged.tree, staged.consent(found.directory), staged.details)
    if staged.manifest.name != found.name:
        _rename(environment, found, staged)


def restore_extension(environment: ExtensionEnvironment, found: FoundExtension) -> ExtensionManifest:
    """Put the version before the last update back into its place, and keep the present one in the same way.

    Raises ExtensionFailure if there is none, or if it is no longer what was agreed to; UsageError and OSError.
    """
    paths = environment.paths
    backup = _backup_path(environment, found.directory)
    previous = read_previous_consent(paths, os.path.realpath(found.directory))
    if previous is None or not os.path.isdir(backup):
        raise ExtensionFailure(_('There is no earlier version of the extension "{name}".', name=found.name))
    details = read_consent_details(paths, previous)
    manifest = read_manifest(backup)
    changed = (
        *check_declared(backup, manifest.possible_context_files, previous.declared).changed,
        *check_code(backup, previous.declared, details.code).changed,
    )
    if changed:
        message = _("The stored version has changed: {files}. It is not used.", files=", ".join(changed[:3]))
        raise ExtensionFailure(message)
    with staging_directory(paths.extensions) as staging:
        tree = os.path.join(staging, "tree")
        move_tree(backup, tree)
        try:
            _exchange(environment, found, tree, replace(previous, identity=folder_identity(tree)), details)
        except BaseException:
            with suppress(OSError):
                move_tree(tree, backup)
            raise
    return manifest


def _exchange(
    environment: ExtensionEnvironment,
    found: FoundExtension,
    tree: str,
    consent: ExtensionConsent,
    details: ConsentDetails,
) -> None:
    paths, directory = environment.paths, os.path.realpath(found.directory)
    _keep_values(found.directory, tree)
    complete_consent(paths, directory, keeps_previous=False)  # of an exchange that was interrupted
    has_consent = directory in read_consents(paths)
    prepare_consent(paths, consent, details)
    try:
        exchange_directories(tree, found.directory)
    except BaseException:
        with suppress(UsageError):
            complete_consent(paths, directory, keeps_previous=False)
        raise
    _store_backup(environment, tree, found.directory)
    complete_consent(paths, directory, keeps_previous=has_consent)


def _keep_values(directory: str, tree: str) -> None:
    """Take the values that the user gave along: they are not part of a version."""
    path = os.path.join(directory, SETTINGS_FILE)
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(tree, SETTINGS_FILE))
    with suppress(FileNotFoundError), open(path, "rb", opener=regular_file_opener) as file:
        write_private_file(os.path.join(tree, SETTINGS_FILE), file.read(), follow_symlinks=False)


def _store_backup(environment: ExtensionEnvironment, tree: str, directory: str) -> None:
    backup = _backup_path(environment, directory)
    make_private_directory(os.path.dirname(backup))
    with suppress(FileNotFoundError):
        remove_tree(backup)
    move_tree(tree, backup)


def remove_backup(environment: ExtensionEnvironment, directory: str) -> None:
    """Remove the version before the last update. Raises OSError."""
    with suppress(FileNotFoundError):
        remove_tree(_backup_path(environment, directory))


def _backup_path(environment: ExtensionEnvironment, directory: str) -> str:
    return os.path.join(environment.paths.extension_backups, os.path.basename(directory))


def _rename(environment: ExtensionEnvironment, found: FoundExtension, staged: StagedExtension) -> None:
    """Give an extension the name of its new version, with its enablement and its values."""
    paths, name = environment.paths, staged.manifest.name
    rename_enablement(paths, found.name, name)
    old_store = environment.settings_store(found)
    new_store = ExtensionSettingsStore(
        paths, found.directory, name, extension_id(name, staged.record), environment.root
    )
    values = {} if found.manifest is None else old_store.read(found.manifest)
    for setting in staged.manifest.effective_settings:
        value = values.get(setting.variable)
        if value is not None and setting.is_sensitive and value.scope is SettingScope.USER:
            new_store.store(setting, value.value)
            old_store.remove(setting)
    place = os.path.join(paths.extensions, name)
    if os.path.basename(found.directory) == found.name and not os.path.lexists(place):
        consent = read_consents(paths)[os.path.realpath(found.directory)]
        put_in_place(found.directory, place)
        move_consent(paths, consent, os.path.realpath(place), consent.identity)
        remove_backup(environment, found.directory)
