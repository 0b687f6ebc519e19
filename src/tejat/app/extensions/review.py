"""Review of installed extensions: what is new or changed, and the consent to it."""

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.description.changes import ExtensionChanges, ExtensionFiles, compare_files
from tejat.app.extensions.description.summary_builder import build_summary
from tejat.app.extensions.environment import ExtensionEnvironment, origin_of
from tejat.config.extensions.consent import ExtensionPins, agree_to_extension
from tejat.config.extensions.consent_store import ConsentParty, read_consent_details
from tejat.config.extensions.loader import ExtensionState, FoundExtension
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.trust.store import folder_identity
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.core.ui.report import Report, text_report
from tejat.workspace.threads.offload import run_blocking


class PreparedReview(Frozen):
    """An extension as it is shown. What is agreed to is exactly this, whatever becomes of its files meanwhile.

    `digest` is that of the summary. With `is_agreed` the user has agreed to it before.
    """

    found: FoundExtension
    manifest: ExtensionManifest
    pins: ExtensionPins
    digest: str
    reports: tuple[Report, ...]
    is_agreed: bool


class ExtensionReview:
    """Shows extensions as they are now and stores what the user agrees to."""

    def __init__(self, environment: ExtensionEnvironment, dialog: ConsentDialog) -> None:
        self._environment = environment
        self._dialog = dialog

    def pending(self) -> list[FoundExtension]:
        """The extensions that nobody has reviewed as they are now."""
        return [
            found
            for found in self._environment.find_all().extensions
            if found.manifest is not None
            and found.state not in (ExtensionState.BROKEN, ExtensionState.BLOCKED)
            and (
                found.consent is None
                or found.changes
                or found.state is ExtensionState.CHANGED
                or found.consent.party is ConsentParty.GEMINI
            )
        ]

    async def review(self, found: FoundExtension) -> str:
        """Show one extension, ask, and return the message about it.

        Raises ExtensionFailure, NotConfirmed, UsageError and OSError.
        """
        review = await self.prepare(found)
        if review.is_agreed:
            await self._dialog.show(review.reports)
            return _('Extension "{name}" has not changed since you agreed to it.', name=found.name)
        await self._dialog.confirm(review.reports, directory=found.path)
        return await self.agree(review)

    async def prepare(self, found: FoundExtension) -> PreparedReview:
        """Read an extension as it is now. Raises ExtensionFailure and UsageError."""
        manifest = self._environment.require_manifest(found)
        contents = self._environment.read_contents(found)
        pins = await run_blocking(lambda _stop: ExtensionPins(found.path, manifest))
        names = self._environment.names_in_use(besides=found.name)
        summary = build_summary(contents, origin_of(found, found.consent), names)
        reports = [summary.report()]
        consent = found.consent
        changes = self._find_changes(found, ExtensionFiles(pins.declared, pins.code, pins.texts))
        if changes:
            title = _("Changes of {name} since it was agreed to", name=sanitize_line(found.name))
            reports.insert(0, changes.report(title))
        if consent is not None and consent.party is ConsentParty.GEMINI:
            hint = _(
                "It was installed by Gemini CLI and taken over. To stop using it: tejat extensions disable {name}",
                name=found.name,
            )
            reports.append(text_report(hint))
        is_pinned = consent is not None and not changes and consent.identity == folder_identity(found.path)
        is_agreed = consent is not None and consent.party is ConsentParty.USER and is_pinned
        return PreparedReview(found, manifest, pins, summary.digest, tuple(reports), is_agreed)

    async def agree(self, review: PreparedReview) -> str:
        """Store the consent to what was shown, and return the message about it. Raises UsageError and OSError."""
        consent = review.found.consent
        await run_blocking(
            lambda _stop: agree_to_extension(
                self._environment.paths,
                review.found.directory,
                review.manifest,
                review.found.record,
                party=ConsentParty.USER,
                pins=review.pins,
                shown=review.digest,
                revision="" if consent is None else consent.revision,
                follows=consent is not None and consent.follows,
            )
        )
        return _('Extension "{name}" is used as it is now.', name=review.found.name)

    def _find_changes(self, found: FoundExtension, now: ExtensionFiles) -> ExtensionChanges:
        if found.consent is None:
            return ExtensionChanges((), ())
        details = read_consent_details(self._environment.paths, found.consent)
        return compare_files(ExtensionFiles.agreed(found.consent, details), now)
