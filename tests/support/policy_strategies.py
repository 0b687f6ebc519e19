"""Random rules and calls for properties of the policy, from few words so that they often meet."""

from hypothesis import strategies as st

from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, Enclosure, PolicyRule, ScriptState, SkillScript, Tier

SHELL = "run_shell_command"
_PROGRAMS = (
    "git",
    "ls",
    "LS",
    "rm",
    "/bin/rm",
    "env",
    "sudo",
    "xargs",
    "cat",
    "npm",
    "touch",
    "bash",
    "make",
    "a/b/",
    "cp",
)
_WORDS = (
    "log",
    "push",
    "status",
    "-f",
    "-rf",
    "--force",
    "-C",
    "x",
    "src/x",
    "/etc/passwd",
    ".env",
    "~/k.pem",
    "rm",
    "origin",
)
_ODD_WORDS = ("$X", '"$X"', "'a b'", "*.py", "a\\ b", "'a\nb'", "{a,b}", '"rm -rf x"', "../y", "/r/.tejat/s.sh", "\\rm")
_ARGUMENTS = (
    '"command":"git',
    "git (log|push)",
    "rm\\s+-rf",
    "^.*force",
    "origin|status",
    "(?i)RM",
    "[a-z]+ .*x",
    "anb",
    r"\\nb",
    r"\x00",
    "log{1,2}",
    "pu.h",
    "",
    "/etc/passwd",
    "file_path.*secret",
    "a b",
)
_INVALID = ("(", "a**", "(?=x)")
_GLOBS = ("/etc/**", "src/**", "**/*.pem", "~/*", ".env", "**/x", "src/{x,y}", "[a-z]rc/x", "/r/", "secret/**", "*")
_SEPARATORS = ("; ", " && ", " | ", "\n", " || ", " & ")
_SKILL = SkillScript("s", "user:s", "/r/.tejat/s.sh", ("/r/.tejat",), ScriptState.UNCHANGED, lambda _: None)


def _maybe(values: st.SearchStrategy[str], *, often: int = 4) -> st.SearchStrategy[str | None]:
    return st.one_of(*([st.none()] * often), values)


_prefixes = st.tuples(st.sampled_from(_PROGRAMS), st.lists(st.sampled_from(_WORDS), max_size=2)).map(
    lambda parts: (parts[0], *parts[1])
)
_plain_rules = st.builds(
    PolicyRule,
    st.sampled_from(Decision),
    st.sampled_from(Tier),
    st.integers(0, 10_000).map(str),
    st.sampled_from((SHELL, SHELL, SHELL, "*", "write_file", "run_*", "search", "mcp_git_search")),
    server=_maybe(st.sampled_from(("git", "*")), often=6),
    command=st.one_of(_prefixes, _prefixes, st.none()),
    arguments=_maybe(st.sampled_from(_ARGUMENTS)),
    path=_maybe(st.sampled_from(_GLOBS)),
    project=_maybe(st.sampled_from(("/r", "/other", "/r/")), often=6),
    modes=st.one_of(*([st.none()] * 4), st.frozensets(st.sampled_from(ApprovalMode))),
    allows_redirection=st.booleans(),
    allows_network=st.booleans(),
    priority=st.integers(0, 2),
    command_pattern=_maybe(st.sampled_from(_ARGUMENTS)),
    hints=st.one_of(*([st.none()] * 6), st.just((("readOnlyHint", True),))),
    interactive=st.sampled_from((None, None, None, True, False)),
    spares_reading=st.sampled_from((False, False, False, True)),
    subagent=_maybe(st.sampled_from(("helper", "user:helper")), often=6),
    skill=_maybe(st.sampled_from(("s", "user:s", "other")), often=6),
)
_allowlists = st.builds(
    AllowlistRule,
    st.just(Decision.DENY),
    st.sampled_from(Tier),
    st.just("list"),
    st.just(SHELL),
    commands=st.lists(_prefixes, max_size=3).map(tuple),
)
_invalid_rules = st.builds(
    PolicyRule,
    st.sampled_from(Decision),
    st.just(Tier.USER),
    st.just("invalid"),
    command=st.one_of(st.none(), _prefixes),
    arguments=st.sampled_from(_INVALID),
)
rules = st.lists(st.one_of(*([_plain_rules] * 12), _allowlists), max_size=14)
rules_with_errors = st.builds(lambda some, bad: [*some, bad], rules, _invalid_rules)

_commands = st.tuples(
    st.sampled_from(("", "", "", "", "env ", "sudo -u x ", "xargs ", "A=1 ", "bash -c ")),
    st.sampled_from(_PROGRAMS),
    st.lists(st.sampled_from((*_WORDS, *_WORDS, *_ODD_WORDS)), max_size=4),
    st.sampled_from(("", "", "", "", " > out", " 2>&1", " < src/x")),
).map(lambda parts: f"{parts[0]}{' '.join((parts[1], *parts[2]))}{parts[3]}")
lines = st.lists(st.tuples(_commands, st.sampled_from(_SEPARATORS)), max_size=6).map(
    lambda parts: "".join(f"{command}{separator}" for command, separator in parts).rstrip("|& ")
)


def shell_facts(line: str, *, wants_network: bool, subagent: str, has_skill: bool, is_enclosed: bool) -> CallFacts:
    return CallFacts(
        SHELL,
        Kind.EXECUTE,
        {"command": line, "description": "x"},
        ("/r",),
        "/h",
        line=parse_command_line(line),
        directory="/r",
        wants_network=wants_network,
        subagent=subagent,
        skill_scripts=(_SKILL,) if has_skill else (),
        enclosure=lambda: Enclosure.EVERYTHING if is_enclosed else Enclosure.NONE,
    )


_shell_calls = st.builds(
    shell_facts,
    lines,
    wants_network=st.sampled_from((False, False, True)),
    subagent=st.sampled_from(("", "", "user:helper")),
    has_skill=st.sampled_from((False, False, True)),
    is_enclosed=st.booleans(),
)
_file_calls = st.builds(
    lambda tool, kind, path: CallFacts(
        tool, kind, {"file_path": path, "content": "git log"}, ("/r",), "/h", paths=(path,)
    ),
    st.sampled_from(("write_file", "read_file", "replace")),
    st.sampled_from((Kind.EDIT, Kind.READ)),
    st.sampled_from(("/r/src/x", "/etc/passwd", "/h/k.pem", "/r/.env", "/r/secret/a")),
)
_server_calls = st.builds(
    lambda hints, server: CallFacts("search", Kind.OTHER, {"q": "rm -rf"}, ("/r",), "/h", server=server, hints=hints),
    st.sampled_from(({}, {"readOnlyHint": True}, {"readOnlyHint": False})),
    st.sampled_from(("git", "other", "a_b")),
)
calls = st.one_of(_shell_calls, _shell_calls, _shell_calls, _file_calls, _server_calls)
