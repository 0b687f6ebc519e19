import pytest

from tejat.core.errors import ConfigurationError, UsageError
from tejat.policy.errors import PolicyError
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.tool_lists import ToolLists, rules_from_allowed_tools, rules_from_settings
from tejat.policy.tool_names import TOOL_ALIASES
from tejat.policy.types import Decision, PolicyRule, Tier

SHELL = "run_shell_command"
FLAG = "--allowed-tools"


def allowed(tool: str, server: str | None = None, command: tuple[str, ...] | None = None) -> PolicyRule:
    return PolicyRule(Decision.ALLOW, Tier.USER, FLAG, tool, server, command)


@pytest.mark.parametrize(
    ("patterns", "rules"),
    [
        ([], []),
        (["read_file"], [allowed("read_file")]),
        (["EditTool"], [allowed("replace")]),
        (["RipGrepTool", "grep"], [allowed("search_file_content"), allowed("search_file_content")]),
        (["run_shell_command(git log)"], [allowed(SHELL, command=("git", "log"))]),
        (["ShellTool(npm test)"], [allowed(SHELL, command=("npm", "test"))]),
        (["ShellTool"], [allowed(SHELL)]),
        (
            ["read_file, ShellTool(echo a,b),glob,"],
            [allowed("read_file"), allowed(SHELL, command=("echo", "a,b")), allowed("glob")],
        ),
        (["github__search"], [allowed("search", "github")]),
        (["mcp__github__search"], [allowed("search", "github")]),
        (["github__*"], [allowed("*", "github")]),
        (["mcp_github_*"], [allowed("*", "github")]),
        (["mcp_*"], [allowed("*", "*")]),
        (["mcp_github_search"], [allowed("mcp_github_search")]),
        (['ShellTool(git commit -m "a fix")'], [allowed(SHELL, command=("git", "commit", "-m", "a fix"))]),
        (["my_tool"], [allowed("my_tool")]),
        (["__init__"], [allowed("__init__")]),
    ],
)
def test_rules_of_allowed(patterns: list[str], rules: list[PolicyRule]) -> None:
    assert rules_from_allowed_tools(patterns) == rules


@pytest.mark.parametrize(
    "pattern",
    [
        "read_file(x)",
        "ShellTool()",
        "ShellTool(  )",
        "ShellTool(git",
        "ShellTool git)",
        "(git log)",
        "two words",
        "ShellTool(git log && rm)",
        "ShellTool(git log:*)",
        "ShellTool(echo $HOME)",
        'ShellTool(echo "a b)',
        "ShellTool(a)(b)",
        "ShellTool(a) b",
    ],
)
def test_what_cannot_be_meant(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"^--allowed-tools: ") as raised:
        rules_from_allowed_tools([pattern])
    assert not isinstance(raised.value, ConfigurationError)


def of(lists: ToolLists) -> list[PolicyRule]:
    return rules_from_settings(lists, tier=Tier.USER, source="settings.json")


def test_no_lists_no_rules() -> None:
    assert of(ToolLists()) == []
    assert of(ToolLists(exclude=(), allowed=(), mcp_excluded=())) == []


def test_excluded_and_allowed() -> None:
    assert of(ToolLists(exclude=("WriteFileTool", "ShellTool(rm -rf)"), allowed=("ShellTool(ls)",))) == [
        PolicyRule(Decision.DENY, Tier.USER, "settings.json (tools.exclude)", "write_file"),
        PolicyRule(Decision.DENY, Tier.USER, "settings.json (tools.exclude)", SHELL, command=("rm", "-rf")),
        PolicyRule(Decision.ALLOW, Tier.USER, "settings.json (tools.allowed)", SHELL, command=("ls",)),
    ]


def test_core_forbids_the_other_built_in_tools_and_allows_nothing() -> None:
    rules = of(ToolLists(core=("ReadFileTool", "ShellTool(git status)", "run_shell_command(ls)")))
    *denied, allowlist = rules
    source = "settings.json (tools.core)"
    assert allowlist == AllowlistRule(Decision.DENY, Tier.USER, source, SHELL, commands=(("git", "status"), ("ls",)))
    assert denied == [
        PolicyRule(Decision.DENY, Tier.USER, source, name) for name in TOOL_ALIASES if name not in ("read_file", SHELL)
    ]


def test_the_bare_shell_in_core_lifts_the_list_of_commands() -> None:
    rules = of(ToolLists(core=("ShellTool(git status)", "ShellTool")))
    assert rules == [
        PolicyRule(Decision.DENY, Tier.USER, "settings.json (tools.core)", name)
        for name in TOOL_ALIASES
        if name != SHELL
    ]


def test_an_empty_core_forbids_them_all() -> None:
    assert [rule.tool for rule in of(ToolLists(core=()))] == list(TOOL_ALIASES)


def test_servers() -> None:
    assert of(ToolLists(mcp_allowed=("a",), mcp_excluded=("b",))) == [
        PolicyRule(Decision.DENY, Tier.USER, "settings.json (mcp.excluded)", server="b"),
        AllowlistRule(Decision.DENY, Tier.USER, "settings.json (mcp.allowed)", server="*", servers=frozenset({"a"})),
    ]


def test_a_wrong_entry_names_the_list() -> None:
    with pytest.raises(PolicyError, match=r"settings.json \(tools.exclude\)"):
        of(ToolLists(exclude=("read_file(x)",)))
