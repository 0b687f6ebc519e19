import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.policy.errors import PolicyError
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import format_rule, rule_to_toml
from tejat.policy.types import Decision, PolicyRule, Tier

SHELL = "run_shell_command"


def read(text: str) -> list[PolicyRule]:
    return parse_rules(text, source="p.toml", tier=Tier.USER)


def problem(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        read(text)
    return str(caught.value)


def test_every_key() -> None:
    text = """
# mine
[[rule]]
tool = "run_shell_command"
command = "git log"
path = "src/**"
project = "/w/project"
decision = "allow"
priority = 7
modes = ["default", "autoEdit"]
allowRedirection = true
network = true

[[rule]]
tool = "web_fetch"
arguments = "example[.]org"
decision = "deny"
message = "not there"

[[rule]]
server = "github"
decision = "ask"
"""
    assert read(text) == [
        PolicyRule(
            Decision.ALLOW,
            Tier.USER,
            "p.toml:3",
            SHELL,
            command=("git", "log"),
            path="src/**",
            project="/w/project",
            modes=frozenset({ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT}),
            allows_redirection=True,
            allows_network=True,
            priority=7,
        ),
        PolicyRule(Decision.DENY, Tier.USER, "p.toml:14", "web_fetch", arguments="example[.]org", message="not there"),
        PolicyRule(Decision.ASK, Tier.USER, "p.toml:20", server="github"),
    ]


def test_the_spellings_of_the_original() -> None:
    text = """
[[rule]]
toolName = ["EditTool", "grep", "t"]
argsPattern = "x"
decision = "ask_user"
denyMessage = "m"
interactive = true
[[rule]]
toolName = "ShellTool"
commandPrefix = ["git  log", "ls"]
decision = "deny"
"""
    assert read(text) == [
        *(
            PolicyRule(Decision.ASK, Tier.USER, "p.toml:2", tool, arguments="x", message="m", interactive=True)
            for tool in ("replace", "search_file_content", "t")
        ),
        PolicyRule(Decision.DENY, Tier.USER, "p.toml:8", SHELL, command=("git", "log")),
        PolicyRule(Decision.DENY, Tier.USER, "p.toml:8", SHELL, command=("ls",)),
    ]


def test_keys_for_people_change_nothing() -> None:
    text = '[[rule]]\nname = "n"\ndescription = "d"\ncomment = "c"\ntoolName = "glob"\ndecision = "deny"\n'
    assert read(text) == [PolicyRule(Decision.DENY, Tier.USER, "p.toml:1", "glob", name="n", description="d")]


def test_a_command_alone_is_for_the_shell_and_its_words_may_be_listed() -> None:
    assert [
        (rule.tool, rule.command) for rule in read('[[rule]]\ncommand = [["echo", "a b"], "ls -l"]\ndecision="ask"')
    ] == [
        (SHELL, ("echo", "a b")),
        (SHELL, ("ls", "-l")),
    ]


def test_a_name_at_a_server_is_no_other_name_of_a_tool_of_ours() -> None:
    assert read('[[rule]]\nmcpName = "s"\ntoolName = "EditTool"\ndecision = "deny"') == [
        PolicyRule(Decision.DENY, Tier.USER, "p.toml:1", "EditTool", "s")
    ]


def test_names_can_be_given() -> None:
    rules = parse_rules('[[rule]]\ntool = "x"\ndecision = "ask"', source="p", tier=Tier.ADMIN, names={"x": "y"})
    assert rules == [PolicyRule(Decision.ASK, Tier.ADMIN, "p:1", "y")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('tool = "x"', "p.toml:1: decision is missing: set it to allow, ask or deny"),
        ('decision = "maybe"', "p.toml:2: decision must be allow, ask or deny, not 'maybe'"),
        ('decision = "deny"\ntoolNane = "x"', "p.toml:3: unknown key 'toolNane'; did you mean toolName?"),
        ('toolName = "x"\naction = "deny"', "p.toml:3: unknown key 'action'; did you mean decision?"),
        (
            'decision = "deny"\ntool = "a"\ntoolName = "a"',
            "p.toml:4: tool and toolName mean the same: use only one",
        ),
        (
            'decision = "deny"\ntool = "read_*"',
            "p.toml:3: invalid tool 'read_*': use a full tool name, or * for all tools",
        ),
        (
            'decision = "deny"\ntool = "read_file"\ncommand = "ls"',
            "p.toml:4: command works only with run_shell_command, not with read_file",
        ),
        ('decision = "deny"\npriority = 1000', "p.toml:3: priority must be an integer from 0 to 999"),
        (
            'decision = "deny"\nmodes = ["fast"]',
            "p.toml:3: unknown mode 'fast'; use one of default, auto_edit, yolo, plan",
        ),
        ('decision = "deny"\nproject = "x"', "p.toml:3: project must be an absolute path"),
        ('decision = "deny"\nserver = ""', "p.toml:3: server must be a name, or * for all servers"),
        ('decision = "deny"\npath = "a[b"', "p.toml:3: path: a [ is never closed"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, told: str) -> None:
    assert problem(f"[[rule]]\n{text}") == told


@pytest.mark.parametrize(
    "text",
    [
        'decision = "deny"\ncommand = ""',
        'decision = "deny"\ncommand = []',
        'decision = "deny"\ncommand = ["ls", ""]',
        'decision = "deny"\ncommand = [[]]',
        'decision = "deny"\ncommand = [["", "a"]]',
        'decision = "deny"\ncommand = 1',
        'decision = "deny"\ntool = ""',
        'decision = "deny"\ntool = []',
        'decision = "deny"\narguments = "("',
        'decision = "deny"\ncommandRegex = "("',
        'decision = "deny"\ncommandRegex = "x"\ncommandPrefix = "y"',
        'decision = "deny"\ncommandRegex = "x"\ntoolName = "glob"',
        'decision = "deny"\nsubagent = ""',
        'decision = "deny"\nskill = ""',
        'decision = "deny"\nskill = "user:"',
        'decision = "deny"\nskill = 7',
        'decision = "deny"\nskill = "x"\ncommand = "ls"',
        'decision = "deny"\nskill = "x"\ncommandRegex = "ls"',
        'decision = "allow"\nskill = "x"\nmatch = ["x/run.sh"]',
        'decision = "allow"\nskill = "x"\nnot_match = ["ls"]',
        'decision = "deny"\ntoolAnnotations = "readOnlyHint"',
        'decision = "deny"\ntoolAnnotations = { readOnlyHint = [1] }',
        'decision = "deny"\ndeny_message = "a"\ndenyMessage = "b"',
        'decision = "deny"\ninteractive = 1',
        'decision = "deny"\nnetwork = "yes"',
        "decision = 1",
    ],
)
def test_what_cannot_be(text: str) -> None:
    assert problem(f"[[rule]]\n{text}").startswith("p.toml:")


@pytest.mark.parametrize(
    "text",
    [
        'command = "ls | rm"',
        'command = "git log:*"',
        'command = "cat $HOME/x"',
        'command = "A=1 ls"',
        "command = 'git commit -m \"fix'",
        'server = "x"\ncommand = "ls"',
        'tool = "x__t"\ncommand = "ls"',
        'tool = "web_fetch"\npath = "src/**"',
        'server = "x"\npath = "src/**"',
        'path = "../secrets/**"',
        'path = "/a/./b"',
        """arguments = '"command": "rm'""",
    ],
)
def test_a_rule_that_can_never_match_is_an_error(text: str) -> None:
    message = problem(f'[[rule]]\n{text}\ndecision = "deny"')
    assert message.startswith("p.toml:")
    assert "can never match" in message or "command works only with" in message


def test_quotes_in_a_command() -> None:
    """`git commit -m "fix"` is four words."""
    (rule,) = read(
        """[[rule]]\ncommandPrefix = 'git commit -m "a fix"'\ndecision = "deny"\nmatch = ["git commit -m 'a fix'"]"""
    )
    assert rule.command == ("git", "commit", "-m", "a fix")
    assert read(rule_to_toml(rule)) == [rule]


@pytest.mark.parametrize(
    ("name", "tool", "server"),
    [
        ("a__t", "t", "a"),
        ("mcp__a__t", "t", "a"),
        ("mcp_a_t", "mcp_a_t", None),
        ("mcp_a_*", "*", "a"),
        ("a__*", "*", "a"),
        ("mcp_*", "*", "*"),
        ("discovered_tool_x", "discovered_tool_x", None),
        ("EditTool", "replace", None),
    ],
)
def test_names_of_tools(name: str, tool: str, server: str | None) -> None:
    (rule,) = read(f'[[rule]]\ntoolName = "{name}"\ndecision = "deny"')
    assert (rule.tool, rule.server) == (tool, server)


def test_examples_are_checked() -> None:
    text = '[[rule]]\ncommand = "git log"\ndecision = "allow"\nmatch = ["git log -3"]\nnot_match = ["git push"]'
    assert len(read(text)) == 1
    assert problem(text.replace("git log -3", "git status")).startswith("p.toml:4: match: 'git status'")
    assert problem(text.replace("git push", "git log -1")).startswith("p.toml:5: not_match: 'git log -1'")


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
RULES = st.builds(
    PolicyRule,
    decision=st.sampled_from(Decision),
    tier=st.just(Tier.USER),
    source=st.just("p.toml:1"),
    tool=st.sampled_from(["*", SHELL]) | WORDS.map(lambda text: f"t{text.replace('*', '').replace('__', '')}"),
    server=st.none() | WORDS.map(lambda text: f"s{text}"),
    arguments=st.none() | st.sampled_from(["a+", '"x":"[^"]*\\\\n', "ü$", ""]),
    path=st.none() | st.sampled_from(["src/**", "*.{a,b}", "/x y/\u2028", "~/x"]),
    project=st.none() | WORDS.map(lambda text: f"/{text}"),
    modes=st.none() | st.frozensets(st.sampled_from(ApprovalMode), min_size=1),
    allows_redirection=st.booleans(),
    allows_network=st.booleans(),
    message=st.none() | WORDS,
    priority=st.integers(0, 999),
)
COMMANDS = st.lists(WORDS, min_size=1, max_size=3).map(tuple).filter(lambda words: bool(words[0]))


@given(RULES, st.none() | COMMANDS)
@settings(max_examples=200, deadline=None)
def test_any_rule_is_read_back_as_it_was_written(rule: PolicyRule, command: tuple[str, ...] | None) -> None:
    if rule.server is not None:
        rule = replace(rule, path=None)
    elif rule.tool in ("*", SHELL):
        rule = replace(rule, command=command)
    assert read(rule_to_toml(rule)) == [rule]
    assert format_rule(rule).isprintable() or "\n" not in format_rule(rule)


PIECES = ["[[rule]]\n", "tool", "command", "decision", "match", "path", "arguments", "modes", "=", '"deny"', '"allow"']
PIECES += ["[", "]", "{", "}", '"', "'", "\n", ",", "1", "true", '"ls"', '"("', '"{}"', "[[", "]]", "\0", "é", "\ud800"]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=40))
@settings(max_examples=250, deadline=None)
def test_any_text_is_read_or_told_about(text: str) -> None:
    try:
        rules = read(text)
    except PolicyError:
        return
    assert all(isinstance(rule, PolicyRule) for rule in rules)


VALUES = st.recursive(
    st.sampled_from(
        ['"deny"', '"allow"', '"ls"', '"(("', '""', "1", "-1", "true", "1.5", "2000-01-01", '"*"', '"plan"']
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]") | inner.map("{{a = {}}}".format)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(
    [
        *(
            "tool",
            "toolName",
            "server",
            "mcpName",
            "command",
            "commandPrefix",
            "arguments",
            "argsPattern",
            "path",
            "decision",
        ),
        *(
            "priority",
            "modes",
            "network",
            "allowRedirection",
            "message",
            "interactive",
            "project",
            "match",
            "not_match",
        ),
        *("commandRegex", "subagent", "toolAnnotations", "deny_message", "allow_redirection", "other"),
    ]
)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.sampled_from(["", 'decision = "deny"\n', 'decision = "allow"\n']))
@settings(max_examples=250, deadline=None)
def test_any_values_are_read_or_told_about(table: dict[str, str], start: str) -> None:
    try:
        read("[[rule]]\n" + start + "".join(f"{key} = {value}\n" for key, value in table.items()))
    except PolicyError as error:
        line = error.line
        assert line is not None


def test_the_table_that_a_document_shows_by_mistake() -> None:
    with pytest.raises(PolicyError) as raised:
        read('[[rules]]\ntoolName = "glob"\naction = "deny"\n')
    assert str(raised.value) == "p.toml:1: unknown table 'rules': only [[rule]] is allowed"


def test_names_and_descriptions_are_for_people() -> None:
    (rule,) = read(
        '[[rule]]\ntoolName = "glob"\ndecision = "deny"\nname = "no globs"\ndescription = "Use grep."\nsubagent = "a"\n'
    )
    assert (rule.name, rule.description) == ("no globs", "Use grep.")
    assert format_rule(rule) == "deny glob, by the agent a (no globs)"
    assert parse_rules(rule_to_toml(rule), source="p.toml", tier=Tier.USER) == [rule]
    (long,) = read(f'[[rule]]\ntoolName = "glob"\ndecision = "deny"\nname = "{"x" * 100}"\n')
    assert format_rule(long) == f"deny glob ({'x' * 60}...)"


class TestSkills:
    def test_a_skill_alone_is_for_the_shell(self) -> None:
        assert read('[[rule]]\nskill = "pdf"\ndecision = "allow"') == [
            PolicyRule(Decision.ALLOW, Tier.USER, "p.toml:1", SHELL, skill="pdf")
        ]

    @pytest.mark.parametrize("tool", ["activate_skill", "read_file", "s__t"])
    def test_other_tools_run_no_scripts(self, tool: str) -> None:
        text = f'[[rule]]\ntool = "{tool}"\nskill = "pdf"\ndecision = "deny"'
        assert f"skill works only with run_shell_command, not with {tool}" in problem(text)

    @pytest.mark.parametrize("decision", ["allow", "ask", "deny"])
    def test_the_rule_in_words_and_as_a_file(self, decision: str) -> None:
        (rule,) = read(f'[[rule]]\nskill = "project:pdf"\ndecision = "{decision}"\nnetwork = true\n')
        assert (
            format_rule(rule) == f"{decision} run_shell_command: scripts of the skill project:pdf, with network access"
        )
        assert read(rule_to_toml(rule)) == [rule]
        assert rule.is_restricted
