"""Updates of extensions, and the way back to the version before."""

from contextlib import suppress

from tejat.app.extensions.description.changes import ExtensionChanges, ExtensionFiles, compare_files
from tejat.app.extensions.description.effect import describe_effect
from tejat.app.extensions.description.summary import ExtensionSummary, compare_summaries
from tejat.app.extensions.description.summary_builder import build_summary
from tejat.app.extensions.environment import ExtensionEnvironment, is_link, origin_of
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.installer import ExtensionInstaller
from tejat.app.extensions.replacement import replace_extension, restore_extension
from tejat.app.extensions.staged import StagedExtension, prepare_package, read_staged_manifest
from tejat.config.extensions.consent import ExtensionPins
from tejat.config.extensions.consent_store import read_consent_details
from tejat.config.extensions.install_record import InstallRecord, InstallType, write_install_record
from tejat.config.extensions.loader import FoundExtension
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, translate
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone
from tejat.workspace.downloads.git import local_commit, remote_commit
from tejat.workspace.downloads.github_release import GitHubReleases
from tejat.workspace.downloads.source import PackageSource, SourceKind, github_host
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.offload import run_blocking


class AvailableUpdate(Frozen):
    """A newer version: its source, and a label for its version (a version, tag or commit)."""

    source: PackageSource
    label: str
    migrated_from: str = ""


class ExtensionUpdater:
    """Updates installed extensions with the means of an installer."""

    def __init__(self, installer: ExtensionInstaller) -> None:
        self._installer = installer
        self._environment: ExtensionEnvironment = installer.environment

    async def find_update(self, found: FoundExtension) -> AvailableUpdate | None:
        """The newer version of an extension, None if it is up to date. Raises ExtensionFailure and DownloadFailure."""
        record = self._require_record(found)
        if is_link(found):
            return None
        moved = "" if found.manifest is None else found.manifest.migrated_to
        source = self._installer.parse(moved or record.source)
        self._installer.check_source(source)
        if moved and moved != record.source:
            return AvailableUpdate(source, moved, migrated_from=record.source)
        if source.kind is not SourceKind.GIT:
            label = await self._local_label(found, source)
        elif record.type is InstallType.GITHUB_RELEASE:
            label = await self._release_label(source, record)
        else:
            label = await self._commit_label(found, source, record)
        return AvailableUpdate(source, label) if label else None

    async def update(self, name: str) -> str:
        """Update one extension and return the message about it.

        Raises ExtensionFailure, DownloadFailure, NotConfirmed, UsageError and OSError; then the old one is in use.
        """
        found = self._environment.find(name)
        update = await self.find_update(found)
        if update is None:
            return _('Extension "{name}" is already up to date.', name=found.name)
        record = self._require_record(found)
        async with self._installer.fetched(
            update.source, ref=record.ref, pre_release=record.allow_pre_release
        ) as fetched:
            new_record = replace(
                record,
                source=update.source.written,
                type=InstallType(fetched.type.value),
                release_tag=fetched.release_tag,
            )
            staged = await run_blocking(
                lambda _stop: prepare_package(
                    self._environment,
                    fetched,
                    new_record,
                    directory=found.directory,
                    migrated_from=update.migrated_from,
                )
            )
            self._check_name(found, staged)
            changes = await run_blocking(lambda _stop: self._compare(found, staged))
            if changes or update.migrated_from:
                effect = describe_effect(self._environment, staged.contents, replaces=found.name)
                reports = [_update_report(self._old_summary(found), staged), effect.report(), changes.report()]
                await self._installer.dialog.confirm(reports, question=_question(staged), directory=staged.tree)
            write_install_record(staged.tree, staged.record)
            await run_blocking(lambda _stop: replace_extension(self._environment, found, staged))
        return _(
            'Extension "{name}" successfully updated: {old} → {new}.',
            name=staged.manifest.name,
            old=_("unknown") if found.manifest is None else found.manifest.version,
            new=staged.manifest.version,
        )

    async def back(self, name: str) -> str:
        """Restore the version before the last update and return the message about it. Raises as `update` does."""
        found = self._environment.find(name)
        restored = await run_blocking(lambda _stop: restore_extension(self._environment, found))
        old = _("unknown") if found.manifest is None else found.manifest.version
        return _('Extension "{name}" restored: {old} → {new}.', name=restored.name, old=old, new=restored.version)

    async def _local_label(self, found: FoundExtension, source: PackageSource) -> str:
        """The version in a local source, empty if it is the installed one."""
        if source.kind is SourceKind.DIRECTORY:
            version = read_staged_manifest(source.address).version
        else:
            async with self._installer.fetched(source) as fetched:
                version = read_staged_manifest(fetched.directory).version
        return "" if found.manifest is not None and version == found.manifest.version else version

    async def _release_label(self, source: PackageSource, record: InstallRecord) -> str:
        variables = self._environment.variables
        http = HttpClient(environment=variables)
        try:
            releases = GitHubReleases(http, source.repository, host=github_host(variables), environment=variables)
            release = await releases.find(ref=record.ref, pre_release=record.allow_pre_release)
        finally:
            await http.close()
        return "" if release is None or release.tag == record.release_tag else release.tag

    async def _commit_label(self, found: FoundExtension, source: PackageSource, record: InstallRecord) -> str:
        supervisor = ProcessSupervisor()
        try:
            newest = await remote_commit(
                source, ref=record.ref, supervisor=supervisor, environment=self._environment.variables
            )
        finally:
            supervisor.close()
        known = local_commit(found.path) or ("" if found.consent is None else found.consent.revision)
        return "" if newest == known else newest

    def _check_name(self, found: FoundExtension, staged: StagedExtension) -> None:
        name = staged.manifest.name
        other = self._environment.find_all().find(name)
        if name != found.name and other is not None and other.directory != found.directory:
            raise ExtensionFailure(_('The new version is called "{name}", as another extension is.', name=name))

    def _compare(self, found: FoundExtension, staged: StagedExtension) -> ExtensionChanges:
        """The files that differ from those agreed to, or from those that are there."""
        files: ExtensionFiles | None = None
        if found.consent is not None:
            with suppress(ConfigurationError):
                files = ExtensionFiles.agreed(
                    found.consent, read_consent_details(self._environment.paths, found.consent)
                )
        if (files is None or not all(pin.digest for pin in files.code.values())) and found.manifest is not None:
            pins = ExtensionPins(found.path, found.manifest)
            files = ExtensionFiles(pins.declared, pins.code, pins.texts)
        return compare_files(files or ExtensionFiles({}, {}, {}), staged.files)

    def _old_summary(self, found: FoundExtension) -> ExtensionSummary | None:
        if found.manifest is None:
            return None
        contents = self._environment.read_contents(found)
        names = self._environment.names_in_use(besides=found.name)
        return build_summary(contents, origin_of(found, found.consent), names)

    def _require_record(self, found: FoundExtension) -> InstallRecord:
        if found.record is None:
            raise ExtensionFailure(
                _('Extension "{name}" has no install record, so its source is unknown.', name=found.name)
            )
        return found.record


def _update_report(old: ExtensionSummary | None, new: StagedExtension) -> Report:
    """The difference of two summaries; the whole new one if there is no old one."""
    if old is None:
        return new.summary.report()
    differences = compare_summaries(old, new.summary)
    title = _("Update of {name}: {old} → {new}", name=new.manifest.name, old=old.version, new=new.manifest.version)
    blocks: list[ReportBlock] = []
    for difference in differences:
        blocks.append(Paragraph(translate(difference.title), Tone.STRONG))
        blocks.append(Paragraph("\n".join(f"  {line}" for line in difference.lines)))
    if not differences:
        blocks.append(Paragraph(_("It runs, reaches, gets and tells the model the same as before.")))
    return Report(title, tuple(blocks))


def _question(staged: StagedExtension) -> str:
    return _("Use version {version} of this extension?", version=staged.manifest.version)
