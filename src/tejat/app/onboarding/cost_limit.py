"""The question about a cost limit whose model has no known price."""

from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.engine.loop.budget import Budget


async def ask_about_unknown_price(budget: Budget, model: str, user: UserPrompter) -> bool:
    """Ask how to count a model whose price is unknown, if there is a cost limit.

    Returns whether the model may be used: the user has chosen an upper bound or to leave it out of the limit.
    """
    notice = budget.estimate_notice(model)
    if notice is None:
        return True
    question = Choice(
        _("Use {model}?", model=model),
        (
            Option(_("Yes"), _("count it with these prices")),
            Option(_("Yes, without counting it"), _("its cost is not limited")),
            Option(_("No")),
        ),
        report=text_report(notice, Tone.WARNING),
    )
    match await user.choose(question):
        case 0:
            budget.accept_estimate(model)
        case 1:
            budget.stop_counting(model)
        case _:
            return False
    return True
