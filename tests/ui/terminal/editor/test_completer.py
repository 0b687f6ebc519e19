"""Commands after a slash, files after an `@`, nothing anywhere else."""

import asyncio
from collections.abc import Sequence

import pytest

from tejat.core.ui.commands import AgentSummary, CommandAction, CommandSummary, CompletionItem, SlashCommands
from tejat.core.ui.prompter import UserPrompter
from tejat.ui.terminal.editor.completer import Completer, completion_target


class SomeCommands(SlashCommands):
    def summaries(self) -> Sequence[CommandSummary]:
        return ()

    async def suggestions(self, line: str) -> Sequence[CompletionItem]:
        return [CompletionItem("/help", len(line), "/help", "What there is")]

    async def run(self, line: str, user: UserPrompter) -> CommandAction:
        raise NotImplementedError


class SomeFiles:
    """Takes a few questions to know all files."""

    def __init__(self, *lists: list[str]) -> None:
        self.asked: list[str] = []
        self._lists = list(lists)

    @property
    def is_complete(self) -> bool:
        return len(self._lists) == 1

    async def find(self, typed: str, *, limit: int = 50) -> Sequence[str]:
        self.asked.append(typed)
        return self._lists.pop(0) if len(self._lists) > 1 else self._lists[0]


def suggestions(files: SomeFiles, text: str, caret: int | None = None) -> list[list[CompletionItem]]:
    async def gather() -> list[list[CompletionItem]]:
        suggest = Completer(SomeCommands(), files)
        return [list(found) async for found in suggest(text, len(text) if caret is None else caret)]

    return asyncio.run(gather())


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("/he", 0),
        ("/memory add x", 0),
        ("/review @src", 8),
        ("see @", 4),
        ('see @"my fi', 4),
        ("see @a\\ b", 4),
        ("(@a", 1),
        ("see @a b", None),
        ("me@example.org", None),
        ("plain", None),
        ("see /help", None),
        ("", None),
    ],
)
def test_where_something_can_be_completed(text: str, start: int | None) -> None:
    place = completion_target(text, len(text))
    assert (None if place is None else place.start) == start
    assert completion_target(f"{text} more", len(text)) == place


def test_commands_are_asked_with_the_line_before_the_caret() -> None:
    assert suggestions(SomeFiles([]), "/he llo", 3) == [[CompletionItem("/help", 3, "/help", "What there is")]]


def test_files_are_written_as_a_prompt_has_them() -> None:
    files = SomeFiles(["a b(1).py", "src/", '"q".md'])
    assert suggestions(files, "see @a\\ ") == [
        [
            CompletionItem("@a\\ b\\(1\\).py ", 4, "a b(1).py"),
            CompletionItem("@src/", 4, "src/"),
            CompletionItem('@\\"q".md ', 4, '"q".md'),
        ]
    ]
    assert suggestions(files, 'see @"a') == [
        [
            CompletionItem('@"a b(1).py" ', 3, "a b(1).py"),
            CompletionItem('@"src/', 3, "src/"),
            CompletionItem('@"\\"q\\".md" ', 3, '"q".md'),
        ]
    ]
    assert suggestions(files, "@a now", 2)[0][0] == CompletionItem("@a\\ b\\(1\\).py", 2, "a b(1).py")
    assert files.asked == ["a ", "a", "a"]


def test_better_lists_follow_while_folders_are_read() -> None:
    found = suggestions(SomeFiles([], ["a"], ["a", "b"]), "@")
    assert [[each.label for each in each_list] for each_list in found] == [[], ["a"], ["a", "b"]]


class SlowFiles(SomeFiles):
    """Knows all files, but each search takes several questions."""

    is_searched = True

    @property
    def is_complete(self) -> bool:
        return self.is_searched

    async def find(self, typed: str, *, limit: int = 50) -> Sequence[str]:
        found = await super().find(typed, limit=limit)
        self.is_searched = len(self._lists) == 1 and len(self.asked) > 2
        return found


def test_better_lists_follow_while_files_are_searched() -> None:
    found = suggestions(SlowFiles([], ["a"], ["a", "b"]), "@")
    assert [[each.label for each in each_list] for each_list in found] == [[], ["a"], ["a", "b"], ["a", "b"]]


def test_nothing_is_suggested_where_nothing_is_completed() -> None:
    assert suggestions(SomeFiles(["a"]), "plain") == [[]]


AGENTS = [AgentSummary("reviewer", "Reviews."), AgentSummary("generalist", "Works.")]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("@re", ["@readme.md ", "@reviewer "]),
        ("@", ["@readme.md ", "@reviewer ", "@generalist "]),
        ("@agent:g", ["@readme.md ", "@agent:generalist "]),
        ('@"re', ['@"readme.md" ']),
    ],
)
def test_agents_come_behind_files(text: str, texts: list[str]) -> None:
    async def gather() -> list[CompletionItem]:
        suggest = Completer(SomeCommands(), SomeFiles(["readme.md"]), lambda: AGENTS)
        return [item async for found in suggest(text, len(text)) for item in found]

    assert [item.text for item in asyncio.run(gather())] == texts


def test_an_agent_named_like_a_file_gets_its_prefix() -> None:
    async def gather() -> list[CompletionItem]:
        suggest = Completer(SomeCommands(), SomeFiles(["reviewer"]), lambda: AGENTS)
        return [item async for found in suggest("@rev", 4) for item in found]

    assert [(item.text, item.detail) for item in asyncio.run(gather())] == [
        ("@reviewer ", ""),
        ("@agent:reviewer ", "Reviews."),
    ]
