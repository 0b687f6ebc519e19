"""The files of an extension in use, which must stay what was agreed to."""

import os
import threading
from functools import cached_property

from tejat.config.extensions.consent_store import ExtensionConsent, read_consent_details, renew_code
from tejat.config.extensions.pins import (
    FileIdentity,
    Pin,
    check_code,
    check_declared,
    digest_content,
    is_unchanged,
)
from tejat.config.files.reader import AllowedWriters, read_config_bytes
from tejat.config.paths import AppPaths
from tejat.config.trust.store import folder_identity
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy


class PinnedExtension:
    """Detects changes of an extension during a session. Its methods may be called from any thread.

    `path` is the directory with the content, `context_files` are those of its manifest.
    """

    def __init__(
        self, paths: AppPaths, name: str, path: str, context_files: tuple[str, ...], consent: ExtensionConsent
    ) -> None:
        self._paths = paths
        self._name = name
        self._path = path
        self._context_files = context_files
        self._consent = consent
        self._code: dict[str, Pin] | None = None
        self._lock = threading.Lock()

    @cached_property
    def _root(self) -> str:
        return os.path.realpath(self._path)

    def find_change(self) -> str:
        """The reason why no program of the extension may be started now, empty if it is unchanged.

        Files whose identity is unchanged are not read. Blocks while others are.
        """
        with self._lock:
            try:
                changed = self._find_changed_file()
            except (UsageError, OSError) as error:
                return lazy("the extension {name} cannot be checked: {why}", name=self._name, why=error)
        return "" if not changed else describe_change(self._name, changed)

    def find_declared_change(self) -> str:
        """The reason why its skills and other declared files must not be read now, empty if they are unchanged."""
        try:
            check = check_declared(self._path, self._context_files, self._consent.declared)
        except (UsageError, OSError) as error:
            return lazy("the extension {name} cannot be checked: {why}", name=self._name, why=error)
        return describe_change(self._name, check.changed[0]) if check.changed else ""

    def find_file_change(self, path: str, status: os.stat_result) -> str:
        """The reason why a declared file must not be read now, empty if it is as agreed. `status` follows links.

        Its content is read only if its identity is another one. Raises ConfigurationError.
        """
        pin = self._consent.declared.get(path.removeprefix(f"{self._path}/"))
        if pin is None or pin.is_link:
            pin = self._consent.declared.get(os.path.relpath(os.path.realpath(path), self._root))
        if pin is not None:
            if is_unchanged(pin, status):
                return ""
            content = read_config_bytes(path, writers=AllowedWriters.ANYONE)
            if content is not None and digest_content(content) == pin.digest:
                return ""
        return describe_change(self._name, path)

    def accepts_declared(self, relative: str, content: bytes) -> bool:
        """Whether this is the content of a declared file that was agreed to."""
        pin = self._consent.declared.get(relative)
        if pin is not None and pin.is_link:
            real = os.path.realpath(os.path.join(self._root, relative))
            pin = self._consent.declared.get(os.path.relpath(real, self._root))
        return pin is not None and pin.digest == digest_content(content)

    def accepts(self, path: str, status: os.stat_result, content: bytes) -> bool:
        """Whether this is the content of a file, by its real path, that was agreed to. Blocks while pins are read."""
        relative = os.path.relpath(path, self._root)
        pin = self._consent.declared.get(relative)
        if pin is None:
            with self._lock:
                try:
                    pin = self._load_code().get(relative)
                except UsageError:
                    return False
        if pin is None:
            return False
        if pin.digest:
            return pin.digest == digest_content(content)
        return pin.identity == FileIdentity(
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )

    def _find_changed_file(self) -> str:
        consent = self._consent
        if folder_identity(self._path) != consent.identity:
            return self._path
        declared = check_declared(self._path, self._context_files, consent.declared)
        if declared.changed:
            return declared.changed[0]
        pins = self._load_code()
        code = check_code(self._path, consent.declared, pins)
        if code.renewed:
            pins.update(code.renewed)
            self._consent = renew_code(self._paths, consent, code.renewed)
        return code.changed[0] if code.changed else ""

    def _load_code(self) -> dict[str, Pin]:
        if self._code is None:
            self._code = dict(read_consent_details(self._paths, self._consent).code)
        return self._code


def describe_change(name: str, changed: str) -> str:
    """The reason why a program of an extension is not started."""
    return lazy(
        "{file} of the extension {name} changed since it was agreed to. Run `tejat extensions review {name}`",
        file=changed,
        name=name,
    )
