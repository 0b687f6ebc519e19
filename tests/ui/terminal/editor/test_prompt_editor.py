"""What a person types is what is there, and what they submit is what they see."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import wraps

import pytest

from support.terminal.editor import (
    BACKSPACE,
    DELETE,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    HOME,
    LEFT,
    RIGHT,
    SHIFT_TAB,
    TAB,
    UP,
    bracketed_paste,
    open_editor,
)
from tejat.core.ui.commands import CompletionItem
from tejat.ui.terminal.editor.prompt_editor import EditorHandler
from tejat.ui.terminal.editor.prompt_history import PromptHistory

Test = Callable[[], Awaitable[None]]

CTRL_J, CTRL_P, CTRL_N, CTRL_S, CTRL_O, CTRL_R, CTRL_G = "\x0a", "\x10", "\x0e", "\x13", "\x0f", "\x12", "\x07"
FAMILY = "👩‍👩‍👧"


def in_loop(test: Test) -> Callable[[], None]:
    """Keys that may be the beginning of others want a loop to wait in."""

    @wraps(test)
    def run() -> None:
        asyncio.run(test())  # type: ignore[arg-type]

    run.__dict__.pop("__wrapped__")
    return run


@in_loop
async def test_enter_submits_and_empties() -> None:
    with open_editor(placeholder="Ask anything") as person:
        assert person.rows == ["> Ask anything"]
        person.type("hello ", "world  ", ENTER)
        assert (person.submitted, person.editor.text, person.rows) == (["hello world"], "", ["> Ask anything"])
        person.type(ENTER, " ", ENTER)
        assert person.submitted == ["hello world"]


@in_loop
async def test_new_lines_come_by_other_keys() -> None:
    with open_editor() as person:
        person.type(
            "one", CTRL_J, "two", "\x1b\r", "three\\", ENTER, "four", "\x1b[13;2u", "five", "\x1b[27;2;13~", "six"
        )
        assert person.rows == ["> one", "  two", "  three", "  four", "  five", "  six"]
        assert person.view.caret == (5, 5)
        person.type(ENTER)
        assert person.submitted == ["one\ntwo\nthree\nfour\nfive\nsix"]


@in_loop
async def test_a_grapheme_is_one_letter_to_all_keys() -> None:
    with open_editor() as person:
        person.type(f"a{FAMILY}e\u0301z")
        assert person.view.caret == (7, 0)
        person.type(LEFT, LEFT)
        assert person.view.caret == (5, 0)
        person.type(BACKSPACE)
        assert person.editor.text == "ae\u0301z"
        person.type(DELETE)
        assert person.editor.text == "az"
        person.type(FAMILY, HOME, RIGHT, RIGHT, "x")
        assert person.editor.text == f"a{FAMILY}xz"
        person.type(LEFT, LEFT, "\x04")
        assert person.editor.text == "axz"


@in_loop
async def test_vi_keys_work_on_graphemes_too() -> None:
    with open_editor(is_vi=True) as person:
        person.type(f"one {FAMILY} two", ESCAPE, "0", "w", "x")
        assert person.editor.text == "one  two"
        person.type("$", "b", "i", "X", ESCAPE, "0", "l", "a", "-", ESCAPE)
        assert person.editor.text == "on-e  Xtwo"
        person.type("d", "d")
        assert person.editor.text == ""
        person.type("u")
        assert person.editor.text == "on-e  Xtwo"
        person.type(ENTER)
        assert person.submitted == ["on-e  Xtwo"]


@in_loop
async def test_rows_are_walked_as_they_are_seen() -> None:
    with open_editor() as person:
        person.width = 12
        person.type("0123456789abcdefghij", CTRL_J, "xy")
        assert person.rows == ["> 0123456789", "  abcdefghij", "  xy"]
        person.type(UP)
        assert person.view.caret == (4, 1)
        person.type(UP, "|")
        assert person.editor.text == "01|23456789abcdefghij\nxy"
        person.type(END, DOWN, DOWN, DOWN, "!")
        assert person.editor.text == "01|23456789abcdefghij\nx!y"


@in_loop
async def test_history_is_walked_by_its_beginning_and_the_draft_comes_back() -> None:
    history = PromptHistory()
    for entry in ("fix this", "!ls", "fix that", "explain\nit"):
        history.add(entry)
    with open_editor(history=history) as person:
        person.type(UP)
        assert person.rows == ["> explain", "  it"]
        person.type(UP, UP)
        assert person.rows == ["> fix that"]
        person.type(UP)
        assert person.rows == ["! (shell) ls"]
        person.type(DOWN, DOWN, DOWN, DOWN)
        assert person.rows == [">"]
        person.type("fix", UP, UP, UP)
        assert person.editor.text == "fix this"
        person.type(CTRL_N, CTRL_N, CTRL_N)
        assert person.editor.text == "fix"
        person.type(CTRL_P, " now", ENTER)
        assert (person.submitted, history.entries[-1]) == (["fix that now"], "fix that now")


@in_loop
async def test_vi_walks_the_history_with_k_and_j() -> None:
    history = PromptHistory()
    history.add("one")
    history.add("two")
    with open_editor(history=history, is_vi=True) as person:
        person.type(ESCAPE, "k", "k")
        assert person.editor.text == "one"
        person.type("j")
        assert person.editor.text == "two"


@in_loop
async def test_up_in_an_empty_editor_takes_back_what_waits() -> None:
    history = PromptHistory()
    history.add("older")
    waiting = ["first", "!second"]
    with open_editor(history=history) as person:
        person.editor.handler.take_queued = lambda: waiting.pop() if waiting else None
        person.type(UP)
        assert (person.rows, person.editor.is_shell) == (["! (shell) second"], True)
        person.type("\x15", BACKSPACE, UP)
        assert (person.rows, waiting) == (["> first"], [])
        person.type("\x15", UP)
        assert person.rows == ["> older"]


@in_loop
async def test_shell_mode_is_entered_and_left() -> None:
    with open_editor(placeholder="Ask") as person:
        person.type("!")
        assert (person.rows, person.editor.is_shell) == (["! (shell)"], True)
        person.type(ENTER)
        assert (person.rows, person.submitted) == (["! (shell)"], [])
        person.type("ls", ENTER, "cat a \\", ENTER, "b", ENTER)
        assert (person.submitted, person.editor.is_shell) == (["!ls", "!cat a \\\nb"], True)
        person.type(BACKSPACE)
        assert person.rows == ["> Ask"]
        person.type("!", ESCAPE)
        assert person.rows == ["> Ask"]
        person.type("!", "!", "x!", ENTER)
        assert person.submitted[2:] == ["x!"]
        person.type("!", "ab", HOME, BACKSPACE, ENTER)
        assert person.submitted[3:] == ["ab"]
        assert list(person.editor.history.entries) == ["!ls", "!cat a \\\nb", "x!", "ab"]


@in_loop
async def test_a_typed_command_is_for_the_shell_once() -> None:
    with open_editor() as person:
        person.type("!", "ls", ENTER)
        assert (person.submitted, person.editor.is_shell) == (["!ls"], False)
        person.type("hello", ENTER)
        assert person.submitted[1:] == ["hello"]


@in_loop
async def test_a_pasted_command_is_for_the_shell_once() -> None:
    with open_editor() as person:
        person.type(bracketed_paste("!make test"))
        assert person.rows == ["! (shell) make test"]
        person.type(ENTER)
        assert (person.submitted, person.editor.is_shell) == (["!make test"], False)
        person.type(bracketed_paste("!one\ntwo"), ENTER)
        assert person.submitted[1:] == [" !one\ntwo"]
        person.type("a", bracketed_paste("!b"), ENTER)
        assert person.submitted[2:] == ["a!b"]
        person.type(bracketed_paste("!b"))
        person.editor.clear()
        assert not person.editor.is_shell


@in_loop
async def test_long_pastes_are_one_letter_and_are_sent_whole() -> None:
    lines = "\r\n".join(map(str, range(1, 124)))
    with open_editor() as person:
        person.type("see ", bracketed_paste(lines), " and ", bracketed_paste("x" * 1500), ".")
        assert person.rows == ["> see [Pasted #1: 123 lines] and [Pasted", "   #2: 1,500 characters]."]
        person.type(LEFT, BACKSPACE)
        assert person.rows == ["> see [Pasted #1: 123 lines] and ."]
        person.type(LEFT * 5, DELETE)
        assert person.rows == ["> see [Pasted #1: 123 lines]and ."]
        person.type(ENTER)
        assert person.submitted == [f"see {lines}and .".replace("\r\n", "\n")]
        person.type(UP)
        assert person.rows == ["> see [Pasted #1: 123 lines]and ."]
        person.type(LEFT * 5, BACKSPACE)
        assert person.rows == ["> see and ."]
        person.type("\x1f")
        assert person.rows == ["> see [Pasted #1: 123 lines]and ."]


@in_loop
async def test_a_mark_that_is_typed_is_text() -> None:
    with open_editor() as person:
        person.type(bracketed_paste("y" * 1200), "[Pasted #1: 1,200 characters]", "\U0010f000", ENTER)
        assert person.submitted == ["y" * 1200 + "[Pasted #1: 1,200 characters]\U0010f000"]


@in_loop
async def test_a_paste_that_looks_like_a_command_is_none() -> None:
    with open_editor() as person:
        log = "/usr/bin/x: failed\n" * 20
        person.type(bracketed_paste(log), ENTER)
        assert person.submitted == [f" {log.rstrip()}"]


@in_loop
async def test_a_paste_never_submits() -> None:
    with open_editor() as person:
        person.type(bracketed_paste("one\r\rtwo\n"))
        assert (person.submitted, person.editor.text) == ([], "one\n\ntwo\n")


@in_loop
async def test_what_is_put_comes_before_what_stands_there() -> None:
    with open_editor() as person:
        person.type("typed")
        person.editor.prepend("!queued\n\nlater")
        assert (person.editor.text, person.editor.is_shell) == ("!queued\n\nlater\n\ntyped", False)
        person.type("X", ENTER)
        assert person.submitted == [" !queued\n\nlater\n\ntypedX"]
        person.editor.prepend("!ls")
        assert (person.editor.text, person.editor.is_shell) == ("ls", True)


@in_loop
async def test_a_whole_text_says_whom_it_is_for() -> None:
    with open_editor() as person:
        person.type("!", "ls")
        person.editor.replace("ls -l")
        assert person.rows == ["! (shell) ls -l"]
        person.editor.clear()
        person.editor.prepend("!cat x")
        assert person.rows == ["! (shell) cat x"]
        person.editor.clear()
        person.editor.prepend("explain x")
        assert person.rows == ["> explain x"]


@in_loop
async def test_a_huge_text_that_is_put_back_is_folded() -> None:
    text = "word " * 10_000
    with open_editor() as person:
        person.editor.prepend(text)
        assert (person.rows, person.editor.text) == (["> [Pasted #1: 50,000 characters]"], text)


@in_loop
async def test_other_keys_tell_who_listens() -> None:
    heard: list[str] = []
    handler = EditorHandler()
    handler.on_expand = lambda: heard.append("expand")
    handler.on_search_history = lambda: heard.append("search")
    handler.on_external_editor = lambda: heard.append("editor")
    handler.on_next_mode = lambda: heard.append("mode")
    handler.on_steer = heard.append
    with open_editor(handler=handler) as person:
        person.type(CTRL_O, CTRL_R, CTRL_G, "\x18\x05", SHIFT_TAB, "go on", CTRL_S, CTRL_S, "there", "\x1bs")
        assert heard == ["expand", "search", "editor", "editor", "mode", "go on", "there"]
        assert (person.editor.text, list(person.editor.history.entries)) == ("", ["go on", "there"])


@in_loop
async def test_what_is_selected_is_shown() -> None:
    with open_editor() as person:
        person.type("abc", "\x00", LEFT, LEFT)
        assert [cell.text for row in person.view.rows for cell in row if "reverse" in cell.style] == ["b", "c"]


NAMES = {"/help": "What there is", "/memory ": "What is remembered", "/mcp": "Servers"}


async def suggest(text: str, caret: int) -> AsyncIterator[Sequence[CompletionItem]]:
    typed = text[:caret]
    if typed.startswith("@"):
        names = ["src/", "src/main.py", "a\\ b.txt "]
        yield [CompletionItem(f"@{name}", len(typed), name) for name in names if f"@{name}".startswith(typed)]
    elif " " in typed:
        word = typed.rpartition(" ")[2]
        yield [CompletionItem(each, len(word), each) for each in ("add", "show") if each.startswith(word)]
    else:
        yield [CompletionItem(name, len(typed), name.strip(), about) for name, about in NAMES.items() if typed in name]


@in_loop
async def test_commands_are_completed() -> None:
    with open_editor(suggest=suggest) as person:
        person.type("/")
        await person.wait_until(lambda: person.editor.has_menu)
        assert person.rows == [
            "> /",
            "  /help    What there is",
            "  /memory  What is remembered",
            "  /mcp     Servers",
        ]
        person.type("m")
        await person.wait_until(lambda: len(person.rows) == 3)
        assert person.rows == ["> /m", "❯ /memory  What is remembered", "  /mcp     Servers"]
        person.type(DOWN, UP, UP)
        assert person.rows == ["> /m", "  /memory  What is remembered", "❯ /mcp     Servers"]
        person.type(DOWN, ENTER)
        await person.wait_until(lambda: len(person.rows) == 3)
        assert person.rows == ["> /memory", "  add", "  show"]
        person.type("s")
        await person.wait_until(lambda: len(person.rows) == 2)
        person.type(TAB)
        assert (person.editor.text, person.submitted) == ("/memory show", [])
        await person.wait_until(lambda: person.editor.has_menu)
        person.type(ENTER)
        assert person.submitted == ["/memory show"]


@in_loop
async def test_enter_runs_a_command_that_takes_no_more_words() -> None:
    with open_editor(suggest=suggest) as person:
        person.type("/he")
        await person.wait_until(lambda: person.editor.has_menu)
        person.type(ENTER)
        assert person.submitted == ["/help"]
        person.type("/help", ENTER)
        assert person.submitted == ["/help", "/help"]


@in_loop
async def test_tab_takes_what_is_found_later() -> None:
    with open_editor(suggest=suggest) as person:
        person.type("/mc", TAB)
        await person.wait_until(lambda: person.editor.text == "/mcp")
        person.type(ENTER)
        assert person.submitted == ["/mcp"]


@in_loop
async def test_a_directory_goes_on_and_escape_closes_the_menu_for_this_word() -> None:
    with open_editor(suggest=suggest) as person:
        person.type("@s")
        await person.wait_until(lambda: person.editor.has_menu)
        person.type(TAB)
        await person.wait_until(lambda: person.rows == ["> @src/", "❯ src/", "  src/main.py"])
        person.type(DOWN, ESCAPE)
        assert (person.rows, person.editor.can_escape) == (["> @src/"], False)
        person.type("m")
        await asyncio.sleep(0)
        assert person.rows == ["> @src/m"]
        person.type(TAB)
        await person.wait_until(lambda: person.editor.text == "@src/main.py")


@in_loop
async def test_what_is_found_for_an_older_text_is_dropped() -> None:
    asked: list[tuple[str, asyncio.Future[list[CompletionItem]]]] = []

    async def slowly(text: str, _: int) -> AsyncIterator[Sequence[CompletionItem]]:
        asked.append((text, asyncio.get_running_loop().create_future()))
        yield await asked[-1][1]

    with open_editor(suggest=slowly) as person:
        person.type("/a")
        await person.wait_until(lambda: len(asked) == 1)
        person.type("b")
        await person.wait_until(lambda: len(asked) == 2)
        assert [text for text, _ in asked] == ["/a", "/ab"]
        assert asked[0][1].cancelled()
        asked[1][1].set_result([CompletionItem("/abc", 3)])
        await person.wait_until(lambda: person.editor.has_menu)
        person.type(LEFT)
        assert person.rows == ["> /ab"]


@pytest.mark.parametrize("failure", [OSError("gone")])
def test_a_search_that_fails_stops_nobody(failure: Exception) -> None:
    async def failing(_: str, __: int) -> AsyncIterator[Sequence[CompletionItem]]:
        raise failure
        yield ()

    @in_loop
    async def check() -> None:
        with open_editor(suggest=failing) as person:
            person.type("/a")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            person.type("b", ENTER)
            assert person.submitted == ["/ab"]

    check()
