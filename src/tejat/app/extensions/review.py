"""Review of installed extensions: what is new or changed, and the consent to it."""

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.description.changes import ExtensionChanges, ExtensionFiles, compare_files
from tejat.app.extensions.description.summary_builder import build_summary
from tejat.app.extensions.environment import ExtensionEnvironment, origin_of
from tejat.config.extensions.consent import ExtensionPins, agree_to_extension
from tejat.config.extensions.consent_store import ConsentParty, read_consent_details
from tejat.config.extensions.loader import ExtensionState, FoundExtension
from tejat.core.i18n import _
from tejat.core.ui.report import text_report
from tejat.workspace.threads.offload import run_blocking


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
        manifest = self._environment.require_manifest(found)
        contents = self._environment.read_contents(found)
        pins = await run_blocking(lambda _stop: ExtensionPins(found.path, manifest))
        names = self._environment.names_in_use(besides=found.name)
        summary = build_summary(contents, origin_of(found, found.consent), names)
        changes = self._find_changes(found, ExtensionFiles(pins.declared, pins.code, pins.texts))
        reports = [summary.report()]
        if found.consent is not None and changes:
            reports.append(changes.report())
        elif found.consent is not None and found.consent.party is ConsentParty.USER:
            for report in reports:
                self._dialog.user.show(report)
            return _('Extension "{name}" has not changed since you agreed to it.', name=found.name)
        if found.consent is not None and found.consent.party is ConsentParty.GEMINI:
            hint = _(
                "It was installed by Gemini CLI and taken over. To stop using it: tejat extensions disable {name}",
                name=found.name,
            )
            reports.append(text_report(hint))
        await self._dialog.confirm(reports, directory=found.path)
        await run_blocking(
            lambda _stop: agree_to_extension(
                self._environment.paths,
                found.directory,
                manifest,
                found.record,
                party=ConsentParty.USER,
                pins=pins,
                shown=summary.digest,
                revision="" if found.consent is None else found.consent.revision,
                follows=found.consent is not None and found.consent.follows,
            )
        )
        return _('Extension "{name}" is used as it is now.', name=found.name)

    def _find_changes(self, found: FoundExtension, now: ExtensionFiles) -> ExtensionChanges:
        if found.consent is None:
            return ExtensionChanges((), ())
        details = read_consent_details(self._environment.paths, found.consent)
        return compare_files(ExtensionFiles.agreed(found.consent, details), now)
