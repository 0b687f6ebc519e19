"""Installs and links extensions: fetch, show, ask, put into place."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.description.effect import describe_effect
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.settings_dialog import SettingsDialog
from tejat.app.extensions.staged import StagedExtension, prepare_link, prepare_package
from tejat.config.extensions.consent_store import save_consent
from tejat.config.extensions.install_record import InstallRecord, InstallType, write_install_record
from tejat.config.extensions.loader import FoundExtension
from tejat.config.extensions.manifest import MANIFEST
from tejat.config.extensions.source_rules import SourceRules
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.ui.report import Report, text_report
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.package import FetchedPackage, PackageFetcher
from tejat.workspace.downloads.placement import put_in_place, staging_directory
from tejat.workspace.downloads.source import PackageSource, SourceKind, github_host, parse_source
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.offload import run_blocking


class InstallOptions(Frozen):
    """Flags of `install`."""

    ref: str = ""
    pre_release: bool = False
    auto_update: bool = False
    skip_settings: bool = False


class ExtensionInstaller:
    """Installs for one user. `report_progress` gets a line now and then while something is fetched."""

    def __init__(
        self,
        environment: ExtensionEnvironment,
        dialog: ConsentDialog,
        *,
        report_progress: Callable[[str], None] | None = None,
    ) -> None:
        self.environment = environment
        self.dialog = dialog
        self._report_progress = report_progress

    async def install(self, text: str, options: InstallOptions) -> str:
        """Install from a source and return the message about it.

        Raises ExtensionFailure, DownloadFailure, NotConfirmed, UsageError and OSError; then nothing is installed.
        """
        source = self.parse(text)
        self.check_source(source)
        if source.kind is not SourceKind.GIT and (options.ref or options.auto_update):
            raise ExtensionFailure(_("--ref and --auto-update are not applicable for local extensions."))
        async with self.fetched(source, ref=options.ref, pre_release=options.pre_release) as fetched:
            record = InstallRecord(
                source.written,
                InstallType(fetched.type.value),
                options.ref,
                fetched.release_tag,
                auto_update=options.auto_update,
                allow_pre_release=options.pre_release,
            )
            staged = await run_blocking(lambda _stop: prepare_package(self.environment, fetched, record))
            self._check_free(staged)
            await self.dialog.confirm(self._reports(staged), directory=staged.tree)
            self._check_free(staged)
            write_install_record(staged.tree, staged.record)
            self._put_in_place(staged, staged.tree)
        message = _('Extension "{name}" installed successfully and enabled.', name=staged.manifest.name)
        if not options.skip_settings:
            self.dialog.user.show(text_report(message))
            return await self._ask_settings(staged)
        return message

    async def link(self, path: str, *, follows: bool) -> str:
        """Use the extension in a directory where it is, and return the message about it. Raises as `install` does."""
        source = self._link_source(path)
        staged = await run_blocking(lambda _stop: prepare_link(self.environment, source, follows=follows))
        self._check_free(staged)
        await self.dialog.confirm(self._reports(staged), directory=source)
        self._check_free(staged)
        self._make_directory()
        with staging_directory(self.environment.paths.extensions) as staging:
            tree = os.path.join(staging, "tree")
            os.mkdir(tree, 0o755)
            write_install_record(tree, staged.record)
            self._put_in_place(staged, tree)
        return _('Extension "{name}" linked successfully and enabled.', name=staged.manifest.name)

    def parse(self, text: str) -> PackageSource:
        """Raises DownloadFailure."""
        return parse_source(text, directory=self.environment.root, github=github_host(self.environment.variables))

    def check_source(self, source: PackageSource) -> None:
        """Raises ExtensionFailure for a source that the settings do not allow."""
        self._check_rules(source.written, InstallType.GIT if source.kind is SourceKind.GIT else InstallType.LOCAL)

    @asynccontextmanager
    async def fetched(
        self, source: PackageSource, *, ref: str = "", pre_release: bool = False
    ) -> AsyncGenerator[FetchedPackage]:
        """A package in a private directory beside the installed ones, removed at the end. Raises DownloadFailure."""
        self._make_directory()
        variables = self.environment.variables
        http, supervisor = HttpClient(environment=variables), ProcessSupervisor()
        try:
            with staging_directory(self.environment.paths.extensions) as staging:
                fetcher = PackageFetcher(
                    http=http,
                    supervisor=supervisor,
                    environment=variables,
                    github=github_host(variables),
                    ask_to_clone=self.dialog.confirm_clone,
                    report_progress=self._report_progress,
                )
                yield await fetcher.fetch(source, staging, marker=MANIFEST, ref=ref, pre_release=pre_release)
        finally:
            supervisor.close()
            await http.close()

    def _reports(self, staged: StagedExtension) -> list[Report]:
        return [staged.summary.report(), describe_effect(self.environment, staged.contents).report()]

    def _link_source(self, path: str) -> str:
        """The absolute path of a directory that may be linked. Raises ExtensionFailure and DownloadFailure."""
        source = os.path.abspath(os.path.join(self.environment.root, os.path.expanduser(path)))
        if not os.path.isdir(source):
            raise DownloadFailure(_("Install source not found."))
        self._check_rules(source, InstallType.LINK)
        return source

    def _check_rules(self, source: str, kind: InstallType) -> None:
        rules = SourceRules.of(self.environment.settings)
        refusal = rules.find_refusal(InstallRecord(source, kind))
        if refusal:
            raise ExtensionFailure(refusal)

    def _check_free(self, staged: StagedExtension) -> None:
        name = staged.manifest.name
        place = os.path.join(self.environment.paths.extensions, name)
        is_taken = os.path.isdir(place) and bool(os.listdir(place))
        if is_taken or self.environment.find_all().find(name) is not None:
            raise _already_installed(name)

    def _put_in_place(self, staged: StagedExtension, tree: str) -> None:
        """Store the consent, which counts for this tree only, then show the tree to everybody."""
        place = os.path.join(self.environment.paths.extensions, staged.manifest.name)
        save_consent(self.environment.paths, staged.consent(place), staged.details)
        try:
            put_in_place(tree, place)
        except FileExistsError:
            raise _already_installed(staged.manifest.name) from None

    async def _ask_settings(self, staged: StagedExtension) -> str:
        if not staged.manifest.effective_settings:
            return ""
        found: FoundExtension = self.environment.find(staged.manifest.name)
        return await SettingsDialog(self.environment, self.dialog).ask_missing(found)

    def _make_directory(self) -> None:
        os.makedirs(self.environment.paths.extensions, mode=0o700, exist_ok=True)


def _already_installed(name: str) -> ExtensionFailure:
    return ExtensionFailure(_('Extension "{name}" is already installed. Please uninstall it first.', name=name))
