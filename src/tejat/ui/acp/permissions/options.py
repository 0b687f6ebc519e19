"""The choices of an approval as options of a permission request."""

from collections.abc import Iterator, Sequence

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome, PlanConfirmation
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.ui.shared.approval.choices import ApprovalChoice, ChoiceAction, approval_choices

_MAX_RULE_CHARS = 200
_ONCE = frozenset({Outcome.PROCEED_ONCE, Outcome.TRY_IN_COPY, Outcome.TRY_AGAIN, Outcome.RUN_FOR_REAL})


def offered_choices(request: ApprovalRequest, *, has_forms: bool) -> list[ApprovalChoice]:
    """The choices that a client can offer: none that needs an editor, and a message only if there are forms."""
    return list(_offered(approval_choices(request), request, has_forms=has_forms))


def permission_options(choices: Sequence[ApprovalChoice], token: str) -> dict[str, ApprovalChoice]:
    """The choices by ids that nobody can guess, and that no other request has."""
    return {f"{token}:{choice.keyword}": choice for choice in choices}


def options_to_json(options: dict[str, ApprovalChoice]) -> list[JsonValue]:
    return [
        {"optionId": option_id, "name": _option_name(choice), "kind": _option_kind(choice)}
        for option_id, choice in options.items()
    ]


def cut_rules(choices: Sequence[ApprovalChoice]) -> list[str]:
    """The rules that are too long for the name of an option, each once."""
    return list(dict.fromkeys(choice.rule for choice in choices if len(choice.rule) > _MAX_RULE_CHARS))


def _offered(
    choices: Sequence[ApprovalChoice], request: ApprovalRequest, *, has_forms: bool
) -> Iterator[ApprovalChoice]:
    for choice in choices:
        if choice.outcome is ChoiceAction.MODIFY:
            continue
        if choice.outcome is not ChoiceAction.GIVE_FEEDBACK or has_forms:
            yield choice
        elif isinstance(request.confirmation, PlanConfirmation):  # the only no that lets the turn continue
            yield replace(choice, label=_("No, continue"), outcome=ApprovalReply(Outcome.CANCEL))


def _option_name(choice: ApprovalChoice) -> str:
    if not choice.rule:
        return choice.label
    rule = choice.rule
    shown = rule if len(rule) <= _MAX_RULE_CHARS else f"{rule[:_MAX_RULE_CHARS]}..."
    return _("{label}: {rule}", label=choice.label, rule=shown)


def _option_kind(choice: ApprovalChoice) -> str:
    """Refusals are never remembered, so none is `reject_always`."""
    if not choice.approves or not isinstance(choice.outcome, ApprovalReply):
        return "reject_once"
    return "allow_once" if choice.outcome.outcome in _ONCE else "allow_always"
