"""Agreement to an extension as it is on the disk now."""

import os

from tejat.config.extensions.consent_store import (
    ConsentDetails,
    ConsentParty,
    ExtensionConsent,
    save_consent,
)
from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.extensions.pins import Pin, pin_code, pin_declared
from tejat.config.paths import AppPaths
from tejat.config.trust.store import current_time, folder_identity

_MAX_TEXT = 256 * 1024
_MAX_TEXTS = 4 * 2**20


class ExtensionPins:
    """The pins of an extension as it is now, and the texts of its declared files.

    `path` is the directory with its content. Without `hashes_code`, the code is pinned by identity until it is used.
    Raises UnpinnableExtension, and ConfigurationError for a file that cannot be read.
    """

    def __init__(self, path: str, manifest: ExtensionManifest, *, hashes_code: bool = True) -> None:
        self.texts: dict[str, str] = {}
        self._left = _MAX_TEXTS
        self.declared: dict[str, Pin] = pin_declared(path, manifest.possible_context_files, self._keep)
        self.code: dict[str, Pin] = pin_code(path, self.declared, hashes=hashes_code)

    def _keep(self, relative: str, content: bytes) -> None:
        if len(content) > min(_MAX_TEXT, self._left):
            return
        try:
            self.texts[relative] = content.decode()
        except UnicodeDecodeError:
            return
        self._left -= len(content)


def agree_to_extension(
    paths: AppPaths,
    directory: str,
    manifest: ExtensionManifest,
    record: InstallRecord | None,
    *,
    party: ConsentParty,
    pins: ExtensionPins | None = None,
    shown: str = "",
    revision: str = "",
    follows: bool = False,
) -> ExtensionConsent:
    """Store that the extension in `directory` may be used as it is now, or as it is in `pins`, which the user has seen.

    `shown` is the digest of the description that the user saw. Raises UnpinnableExtension, ConfigurationError and
    UsageError.
    """
    path = content_path(directory, record)
    pins = pins or ExtensionPins(path, manifest)
    consent = ExtensionConsent(
        os.path.realpath(directory),
        folder_identity(path),
        manifest.name,
        manifest.version,
        party,
        current_time(),
        pins.declared,
        source="" if record is None else record.source,
        type="" if record is None else record.type.value,
        ref="" if record is None else record.ref,
        revision=revision or ("" if record is None else record.release_tag),
        shown=shown,
        follows=follows,
        excluded_tools=tuple(entry.value for entry in manifest.excluded_tools),
    )
    return save_consent(paths, consent, ConsentDetails(pins.code, pins.texts))


def content_path(directory: str, record: InstallRecord | None) -> str:
    """The directory with the content of an extension: of a link, its source."""
    if record is None or record.type is not InstallType.LINK:
        return directory
    return os.path.abspath(os.path.join(directory, record.source))
