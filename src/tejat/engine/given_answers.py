"""What the person answered with "always": for this session or for later ones. Each can be taken back."""

from collections.abc import Sequence

from tejat.config.places import Places
from tejat.config.saved_rules import revoke, saved_path, saved_rules
from tejat.core.value import replace, value
from tejat.engine.permission import FOR_SESSION, FROM_ANSWER, Permission
from tejat.policy.rule_file import rules_in
from tejat.policy.rule_text import rule_text
from tejat.policy.rules import Rule, Tier


@value
class GivenAnswer:
    """A rule as it is shown, and where it is kept. `id` is that of a saved one, None for one of this session."""

    text: str
    source: str
    rules: tuple[Rule, ...]
    id: str | None = None


def given_answers(places: Places, permission: Permission) -> Sequence[GivenAnswer]:
    """Those that are saved, then those of this session. Raises UsageError for a file that cannot be read."""
    path = saved_path(places)
    saved = [
        GivenAnswer(text="; ".join(map(rule_text, rules)), source=f"{path}:{rule.line}", rules=tuple(rules), id=rule.id)
        for rule in saved_rules(places)
        for rules in [rules_in(rule.toml, source=path, tier=Tier.USER)]
    ]
    now = [
        GivenAnswer(rule_text(rule), rule.source, (rule,))
        for rule in permission.policy.rules
        if rule.source == FOR_SESSION
    ]
    return [*saved, *now]


def take_back(places: Places, permission: Permission, answer: GivenAnswer) -> None:
    """From now on it counts no more, in this session and in later ones. Raises UsageError, and then nothing changed."""
    gone = set(map(_meaning, answer.rules))
    if answer.id is not None:
        revoke(places, answer.id)
    # One that was saved stands among the rules as it was read, or as it was answered: then without its project.
    own = f"{saved_path(places)}:"
    permission.policy = permission.policy.without(
        lambda rule: rule.source.startswith((own, FROM_ANSWER)) and _meaning(rule) in gone
    )


def _meaning(rule: Rule) -> Rule:
    return replace(rule, source="", project=None, tier=Tier.USER)
