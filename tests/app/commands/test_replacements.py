"""Names of other programs' slash commands."""

import re
from pathlib import Path

import pytest

from support.command_runner import CommandEnv
from tejat.app.commands.builtin import builtin_names
from tejat.app.commands.replacements import REPLACEMENTS

GEMINI_COMMANDS = """
about agents auth bashes background bg bug bug-memory chat clear commands compact compress copy corgi dir directory docs
editor exit export-session extensions footer gemma help hooks ide init mcp memory model new oncall permissions plan
policies privacy profile quit restore resume rewind settings setup-github shells shortcuts skills stats statusline
summarize tasks terminal-setup theme tools upgrade usage vim voice
"""
CODEX_COMMANDS = """
agent approvals apps clear compact copy diff exit feedback fork init logout mcp mention model new permissions plan ps
quit resume review side skills status statusline stop theme
"""


def test_every_name_of_gemini_cli_exists_or_says_what_to_use() -> None:
    known = builtin_names() | REPLACEMENTS.keys()
    assert [name for name in GEMINI_COMMANDS.split() if name not in known] == []
    assert [name for name in CODEX_COMMANDS.split() if name not in known] == []


def test_no_name_is_both() -> None:
    assert builtin_names() & REPLACEMENTS.keys() == set()


@pytest.mark.parametrize("line", ["/footer", "/FOOTER hide"])
def test_the_answer_is_one_line(env: CommandEnv, line: str) -> None:
    name = line[1:].split(maxsplit=1)[0]
    assert env.output_of(line) == f"There is no /{name}. Use /settings ui.footer.items, or /settings ui.hideFooter."


def test_trust_is_decided_in_permissions(env: CommandEnv) -> None:
    assert env.output_of("/trust") == "There is no /trust. Use /permissions trust."


def test_commands_that_they_name_exist() -> None:
    named = {word for text in REPLACEMENTS.values() for word in re.findall(r"(?<![\w.])/([a-z-]+)", str(text))}
    assert named <= builtin_names()


def test_a_custom_command_takes_precedence(env: CommandEnv) -> None:
    path = env.home / ".gemini" / "commands" / "review.toml"
    path.parent.mkdir(parents=True)
    path.write_text('prompt = "Review it."')
    assert env.output_of("/review") == ""


def test_the_documentation_lists_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text()
    assert [name for name in REPLACEMENTS if f"`/{name}`" not in page] == []
    assert [name for name in builtin_names() if f"/{name}" not in page] == []
