"""The onboarding step that offers to review extensions that are new or have changed."""

import json

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import FAILURES
from tejat.app.extensions.review import ExtensionReview
from tejat.app.run_config import RunConfig
from tejat.config.extensions.loader import ExtensionState, FoundExtension
from tejat.config.extensions.pins import pin_declared
from tejat.config.files.reported import is_reported, report_once
from tejat.core.i18n import _, translate
from tejat.core.text.digest import sha256
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report


class ReviewAnswer(StrEnum):
    """What happens to an extension. Without an answer there are no more questions."""

    LATER = "later"
    REVIEW = "review"
    USE = "use"
    DECLINE = "decline"


async def review_extensions(run_config: RunConfig, user: UserPrompter) -> bool:
    """Offer to review the extensions of a run that are new or have changed. Returns whether one may be used now.

    One that the user declined is offered again when it changes. Raises nothing of its own: what fails is shown, and
    the extension stays off.
    """
    paths = run_config.paths
    environment, dialog = ExtensionEnvironment(run_config), ConsentDialog(user)
    review = ExtensionReview(environment, dialog)
    is_any_used = False
    for found in run_config.extension_effects.unreviewed:
        try:
            facts = _content(found)
            if is_reported(paths.declined_extensions, facts):
                continue
            answer = await _ask(found, review, dialog)
        except (*FAILURES, OSError) as error:
            user.show(text_report(translate(error), Tone.BAD))
            continue
        match answer:
            case None:
                break
            case ReviewAnswer.USE:
                is_any_used = True
            case ReviewAnswer.DECLINE:
                report_once(paths.declined_extensions, facts)
            case _:
                pass
    return is_any_used


async def _ask(found: FoundExtension, review: ExtensionReview, dialog: ConsentDialog) -> ReviewAnswer | None:
    """Offer a review, and do it. Raises ExtensionFailure, UsageError and OSError."""
    later, decline = _later(), _decline()
    options = (later, Option(_("Review it now"), _("see what it runs, gets and tells the model")), decline)
    question = Choice(
        _("Review the extension {name}?", name=found.name),
        options,
        report=text_report(_reason(found), Tone.WARNING),
        is_critical=True,
    )
    answer = _answer(await dialog.user.choose(question), ReviewAnswer.REVIEW)
    if answer is not ReviewAnswer.REVIEW:
        return answer
    prepared = await review.prepare(found)
    use = Option(_("Use it"), _("as it is now"))
    asked = await dialog.ask(prepared.reports, _("Use this extension?"), (later, use, decline), directory=found.path)
    answer = _answer(asked, ReviewAnswer.USE)
    if answer is ReviewAnswer.USE:
        dialog.user.show(text_report(await review.agree(prepared), Tone.GOOD))
    return answer


def _answer(index: int | None, middle: ReviewAnswer) -> ReviewAnswer | None:
    return None if index is None else (ReviewAnswer.LATER, middle, ReviewAnswer.DECLINE)[index]


def _later() -> Option:
    return Option(_("Decide later"), _("it stays off, and you are asked again next time"))


def _decline() -> Option:
    return Option(_("Leave it off"), _("you are asked again when it changes"))


def _reason(found: FoundExtension) -> str:
    if found.state is ExtensionState.CHANGED:
        return _("The extension {name} is not used: {reason}.", name=found.name, reason=found.reason)
    return _("The extension {name} is new and not used yet: {reason}.", name=found.name, reason=found.reason)


def _content(found: FoundExtension) -> dict[str, str]:
    """The digest of the declared files of an extension by its directory. Raises ConfigurationError."""
    context = () if found.manifest is None else found.manifest.possible_context_files
    pins = pin_declared(found.path, context)
    listed = [(path, pin.digest, pin.is_executable) for path, pin in sorted(pins.items())]
    return {found.directory: sha256(json.dumps(listed).encode()).hexdigest()}
