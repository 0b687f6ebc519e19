"""Sub-agents that the user mentions with `@`."""

import asyncio
from pathlib import Path

import pytest

from tejat.core.messages.types import Text
from tejat.engine.prompt.expanded_prompt import CONTENT_START, ExpandedPrompt
from tejat.engine.prompt.mentions import expand_mentions
from tejat.tools import builtin_registry
from tejat.workspace.context import Workspace

AGENTS = {"reviewer": "reviewer", "user:reviewer": "reviewer", "project:helper": "project:helper", "notes": "notes"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "notes").write_text("A note.\n")
    (tmp_path / "my_reviewer_list.txt").write_text("Names.\n")
    return tmp_path


def expand(project: Path, prompt: str) -> ExpandedPrompt:
    with Workspace([str(project)]) as workspace:
        registry = builtin_registry(workspace)
        return asyncio.run(expand_mentions(prompt, registry=registry, roots=workspace.roots, find_agent=AGENTS.get))


def chosen(*names: str) -> Text:
    return Text(f"\n\n(The user chose for this: {', '.join(names)}. Delegate it with `invoke_agent`.)")


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("@reviewer look at it", "reviewer"),
        ("Ask @reviewer.", "reviewer"),
        ("(@agent:reviewer)", "reviewer"),
        ("use @user:reviewer, please", "reviewer"),
        ("@project:helper", "project:helper"),
        ("@agent:project:helper", "project:helper"),
        ("@agent:notes", "notes"),
    ],
)
def test_the_model_is_told_of_the_choice(project: Path, prompt: str, name: str) -> None:
    assert expand(project, prompt) == ExpandedPrompt((Text(prompt), chosen(name)))


def test_a_file_of_the_name_goes_first(project: Path) -> None:
    expanded = expand(project, "see @notes")
    assert expanded.files == ("notes",)
    assert chosen("notes") not in expanded.parts


def test_files_and_agents_in_one_prompt(project: Path) -> None:
    expanded = expand(project, "@reviewer and @agent:project:helper check @notes and @reviewer")
    assert expanded.parts[0] == Text("@reviewer and @agent:project:helper check @notes and @reviewer")
    assert expanded.parts[1] == Text(CONTENT_START)
    assert expanded.parts[-1] == chosen("reviewer", "project:helper")
    assert expanded.files == ("notes",)


@pytest.mark.parametrize("prompt", ["me@reviewer", "\\@reviewer", "reviewer", "@agent:nobody"])
def test_what_mentions_no_agent(project: Path, prompt: str) -> None:
    assert len(expand(project, prompt).parts) == 1
