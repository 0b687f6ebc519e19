from tejat.core.approval.modes import ApprovalMode
from tejat.policy.rules.defaults import default_rules
from tejat.policy.tool_names import SESSION_TOOLS, TOOL_ALIASES
from tejat.policy.types import Decision, Tier

FREE = {
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "read_many_files",
    "google_web_search",
    "list_background_processes",
    "read_background_output",
    "get_internal_docs",
    "recall",
    *SESSION_TOOLS,
    "invoke_agent",
}
ASKED = {"write_file", "replace", "run_shell_command", "web_fetch", "save_memory", "stop_background_process"}


def test_reading_is_free_and_the_rest_asks() -> None:
    rules = [rule for rule in default_rules() if rule.modes is None]
    assert {rule.tool for rule in rules if rule.decision is Decision.ALLOW} == FREE
    assert {rule.tool for rule in rules if rule.decision is Decision.ASK} == ASKED
    assert len(rules) == len(FREE) + len(ASKED)
    assert set(TOOL_ALIASES) == FREE | ASKED | {"activate_skill"}


def test_what_only_changes_is_forbidden_in_plan_mode() -> None:
    rules = [rule for rule in default_rules() if rule.modes is not None]
    assert {(rule.tool, rule.decision, rule.modes) for rule in rules} == {
        (tool, Decision.DENY, frozenset({ApprovalMode.PLAN}))
        for tool in ("write_file", "replace", "save_memory", "stop_background_process")
    }


def test_they_are_of_the_lowest_tier() -> None:
    assert {(rule.tier, rule.source) for rule in default_rules()} == {(Tier.DEFAULT, "built-in")}
