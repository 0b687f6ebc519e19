"""Removal of extensions with everything that is stored about them."""

import os

from tejat.app.extensions.environment import ExtensionEnvironment, is_link
from tejat.app.extensions.replacement import remove_backup
from tejat.config.extensions.consent_store import remove_consent
from tejat.config.extensions.enablement import remove_enablement
from tejat.config.extensions.loader import FoundExtension
from tejat.core.i18n import _
from tejat.core.ui.report import Report, text_report
from tejat.workspace.downloads.placement import put_in_place, staging_directory


def describe_removal(found: FoundExtension) -> Report:
    """What will be removed."""
    if is_link(found):
        message = _('The link to "{name}" is removed. {path} stays.', name=found.name, path=found.path)
    else:
        message = _('"{name}" is removed with its settings: {path}', name=found.name, path=found.directory)
    return text_report(message)


def uninstall_extension(environment: ExtensionEnvironment, found: FoundExtension) -> str:
    """Remove an extension, its rules, its values and its consent; the source of a link stays.

    Returns the message about it. Raises UsageError and OSError.
    """
    paths, directory = environment.paths, os.path.realpath(found.directory)
    store = environment.settings_store(found)
    if found.manifest is not None:
        store.remove_all(found.manifest)
    with staging_directory(paths.extensions) as staging:
        # It disappears in one step; what is left to do does not depend on it.
        put_in_place(found.directory, os.path.join(staging, "tree"))
        remove_consent(paths, directory)
        remove_enablement(paths, found.name)
    remove_backup(environment, found.directory)
    return _('Extension "{name}" successfully uninstalled.', name=found.name)
