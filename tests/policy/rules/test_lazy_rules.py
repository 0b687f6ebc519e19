from tejat.policy.rules.lazy_rules import FIELDS, LazyRules, RuleTemplate
from tejat.policy.types import Decision, PolicyRule, Tier

RULE = PolicyRule(Decision.DENY, Tier.USER, "f:1", "run_shell_command", command=("a",))


class Program:
    """The first word of a command."""

    position = FIELDS.index("command")

    def convert(self, text: str, /) -> object:
        return (text,)


def test_rules_are_made_of_templates() -> None:
    template = RuleTemplate([RULE])
    priority = ((FIELDS.index("priority"), 7),)
    tables = [("a", "", "", ""), ("b", "command", "b", "c")]
    kinds = {("a", "", ""): (template, (), None, 4), ("b", "command", "c"): (template, priority, Program(), 2)}
    rules = LazyRules("f", 1, tables, kinds)
    assert rules.representatives == (RULE,)
    assert rules.table_count == len(rules) == 2
    assert list(rules) == [
        RULE,
        PolicyRule(Decision.DENY, Tier.USER, "f:5", "run_shell_command", command=("b",), priority=7),
    ]
    assert rules[0] == rules[:1][0] == RULE
