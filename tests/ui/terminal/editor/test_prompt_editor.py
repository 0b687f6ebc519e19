"""The prompt editor: what is typed is shown, and what is shown is submitted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial, wraps

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
    with open_editor(placeholder="Ask anything") as user:
        assert user.rows == ["> Ask anything"]
        user.type("hello ", "world  ", ENTER)
        assert (user.submitted, user.editor.text, user.rows) == (["hello world"], "", ["> Ask anything"])
        user.type(ENTER, " ", ENTER)
        assert user.submitted == ["hello world"]


@in_loop
async def test_new_lines_come_by_other_keys() -> None:
    with open_editor() as user:
        user.type(
            "one", CTRL_J, "two", "\x1b\r", "three\\", ENTER, "four", "\x1b[13;2u", "five", "\x1b[27;2;13~", "six"
        )
        assert user.rows == ["> one", "  two", "  three", "  four", "  five", "  six"]
        assert user.view.caret == (5, 5)
        user.type(ENTER)
        assert user.submitted == ["one\ntwo\nthree\nfour\nfive\nsix"]


@in_loop
async def test_a_grapheme_is_one_letter_to_all_keys() -> None:
    with open_editor() as user:
        user.type(f"a{FAMILY}e\u0301z")
        assert user.view.caret == (7, 0)
        user.type(LEFT, LEFT)
        assert user.view.caret == (5, 0)
        user.type(BACKSPACE)
        assert user.editor.text == "ae\u0301z"
        user.type(DELETE)
        assert user.editor.text == "az"
        user.type(FAMILY, HOME, RIGHT, RIGHT, "x")
        assert user.editor.text == f"a{FAMILY}xz"
        user.type(LEFT, LEFT, "\x04")
        assert user.editor.text == "axz"


@in_loop
async def test_vi_keys_work_on_graphemes_too() -> None:
    with open_editor(is_vi=True) as user:
        user.type(f"one {FAMILY} two", ESCAPE, "0", "w", "x")
        assert user.editor.text == "one  two"
        user.type("$", "b", "i", "X", ESCAPE, "0", "l", "a", "-", ESCAPE)
        assert user.editor.text == "on-e  Xtwo"
        user.type("d", "d")
        assert user.editor.text == ""
        user.type("u")
        assert user.editor.text == "on-e  Xtwo"
        user.type(ENTER)
        assert user.submitted == ["on-e  Xtwo"]


@in_loop
async def test_rows_are_walked_as_they_are_seen() -> None:
    with open_editor() as user:
        user.width = 12
        user.type("0123456789abcdefghij", CTRL_J, "xy")
        assert user.rows == ["> 0123456789", "  abcdefghij", "  xy"]
        user.type(UP)
        assert user.view.caret == (4, 1)
        user.type(UP, "|")
        assert user.editor.text == "01|23456789abcdefghij\nxy"
        user.type(END, DOWN, DOWN, DOWN, "!")
        assert user.editor.text == "01|23456789abcdefghij\nx!y"


@in_loop
async def test_history_is_walked_by_its_beginning_and_the_draft_comes_back() -> None:
    history = PromptHistory()
    for entry in ("fix this", "!ls", "fix that", "explain\nit"):
        history.add(entry)
    with open_editor(history=history) as user:
        user.type(UP)
        assert user.rows == ["> explain", "  it"]
        user.type(UP, UP)
        assert user.rows == ["> fix that"]
        user.type(UP)
        assert user.rows == ["! (shell) ls"]
        user.type(DOWN, DOWN, DOWN, DOWN)
        assert user.rows == [">"]
        user.type("fix", UP, UP, UP)
        assert user.editor.text == "fix this"
        user.type(CTRL_N, CTRL_N, CTRL_N)
        assert user.editor.text == "fix"
        user.type(CTRL_P, " now", ENTER)
        assert (user.submitted, history.entries[-1]) == (["fix that now"], "fix that now")


@in_loop
async def test_vi_walks_the_history_with_k_and_j() -> None:
    history = PromptHistory()
    history.add("one")
    history.add("two")
    with open_editor(history=history, is_vi=True) as user:
        user.type(ESCAPE, "k", "k")
        assert user.editor.text == "one"
        user.type("j")
        assert user.editor.text == "two"


@in_loop
async def test_up_in_an_empty_editor_takes_back_what_waits() -> None:
    history = PromptHistory()
    history.add("older")
    waiting = ["first", "!second"]
    with open_editor(history=history) as user:
        user.editor.handler.take_queued = lambda: waiting.pop() if waiting else None
        user.type(UP)
        assert (user.rows, user.editor.is_shell) == (["! (shell) second"], True)
        user.type("\x15", BACKSPACE, UP)
        assert (user.rows, waiting) == (["> first"], [])
        user.type("\x15", UP)
        assert user.rows == ["> older"]


@in_loop
async def test_shell_mode_is_entered_and_left() -> None:
    with open_editor(placeholder="Ask") as user:
        user.type("!")
        assert (user.rows, user.editor.is_shell) == (["! (shell)"], True)
        user.type(ENTER)
        assert (user.rows, user.submitted) == (["! (shell)"], [])
        user.type("ls", ENTER, "cat a \\", ENTER, "b", ENTER)
        assert (user.submitted, user.editor.is_shell) == (["!ls", "!cat a \\\nb"], True)
        user.type(BACKSPACE)
        assert user.rows == ["> Ask"]
        user.type("!", ESCAPE)
        assert user.rows == ["> Ask"]
        user.type("!", "!", "x!", ENTER)
        assert user.submitted[2:] == ["x!"]
        user.type("!", "ab", HOME, BACKSPACE, ENTER)
        assert user.submitted[3:] == ["ab"]
        assert list(user.editor.history.entries) == ["!ls", "!cat a \\\nb", "x!", "ab"]


@in_loop
async def test_a_typed_command_is_for_the_shell_once() -> None:
    with open_editor() as user:
        user.type("!", "ls", ENTER)
        assert (user.submitted, user.editor.is_shell) == (["!ls"], False)
        user.type("hello", ENTER)
        assert user.submitted[1:] == ["hello"]


@in_loop
async def test_a_pasted_command_is_for_the_shell_once() -> None:
    with open_editor() as user:
        user.type(bracketed_paste("!make test"))
        assert user.rows == ["! (shell) make test"]
        user.type(ENTER)
        assert (user.submitted, user.editor.is_shell) == (["!make test"], False)
        user.type(bracketed_paste("!one\ntwo"), ENTER)
        assert user.submitted[1:] == [" !one\ntwo"]
        user.type("a", bracketed_paste("!b"), ENTER)
        assert user.submitted[2:] == ["a!b"]
        user.type(bracketed_paste("!b"))
        user.editor.clear()
        assert not user.editor.is_shell


@in_loop
async def test_long_pastes_are_one_letter_and_are_sent_whole() -> None:
    lines = "\r\n".join(map(str, range(1, 124)))
    with open_editor() as user:
        user.type("see ", bracketed_paste(lines), " and ", bracketed_paste("x" * 1500), ".")
        assert user.rows == ["> see [Pasted #1: 123 lines] and [Pasted", "   #2: 1,500 characters]."]
        user.type(LEFT, BACKSPACE)
        assert user.rows == ["> see [Pasted #1: 123 lines] and ."]
        user.type(LEFT * 5, DELETE)
        assert user.rows == ["> see [Pasted #1: 123 lines]and ."]
        user.type(ENTER)
        assert user.submitted == [f"see {lines}and .".replace("\r\n", "\n")]
        user.type(UP)
        assert user.rows == ["> see [Pasted #1: 123 lines]and ."]
        user.type(LEFT * 5, BACKSPACE)
        assert user.rows == ["> see and ."]
        user.type("\x1f")
        assert user.rows == ["> see [Pasted #1: 123 lines]and ."]


@in_loop
async def test_a_mark_that_is_typed_is_text() -> None:
    with open_editor() as user:
        user.type(bracketed_paste("y" * 1200), "[Pasted #1: 1,200 characters]", "\U0010f000", ENTER)
        assert user.submitted == ["y" * 1200 + "[Pasted #1: 1,200 characters]\U0010f000"]


@in_loop
async def test_a_paste_that_looks_like_a_command_is_none() -> None:
    with open_editor() as user:
        log = "/usr/bin/x: failed\n" * 20
        user.type(bracketed_paste(log), ENTER)
        assert user.submitted == [f" {log.rstrip()}"]


@in_loop
async def test_a_pasted_at_sign_is_escaped_if_the_user_wants_that() -> None:
    with open_editor() as user:
        user.editor.escapes_pasted_at = True
        user.type("@a ", bracketed_paste("@b \\@c"), ENTER)
        assert user.submitted == ["@a \\@b \\\\@c"]
        user.type(bracketed_paste("@d " + "x" * 1500), ENTER)
        assert user.submitted[1:] == ["\\@d " + "x" * 1500]
        user.type(bracketed_paste("!git push me@host"), ENTER)
        user.type("!", bracketed_paste("echo me@host"), ENTER)
        user.type("/memory add ", bracketed_paste("me@host"), ENTER)
        assert user.submitted[2:] == ["!git push me@host", "!echo me@host", "/memory add me@host"]
        user.type(UP, UP, UP, UP)
        assert user.editor.text == "\\@d " + "x" * 1500
        user.editor.clear()
        user.type(bracketed_paste("@e"))
        steered: list[str] = []
        user.editor.handler.on_steer = lambda text: steered.append(text)  # noqa: PLW0108 -- the parameter has a name
        user.editor.steer()
        assert steered == ["@e"]


@in_loop
async def test_a_paste_never_submits() -> None:
    with open_editor() as user:
        user.type(bracketed_paste("one\r\rtwo\n"))
        assert (user.submitted, user.editor.text) == ([], "one\n\ntwo\n")


@in_loop
async def test_what_is_put_comes_before_what_stands_there() -> None:
    with open_editor() as user:
        user.type("typed")
        user.editor.prepend("!queued\n\nlater")
        assert (user.editor.text, user.editor.is_shell) == ("!queued\n\nlater\n\ntyped", False)
        user.type("X", ENTER)
        assert user.submitted == [" !queued\n\nlater\n\ntypedX"]
        user.editor.prepend("!ls")
        assert (user.editor.text, user.editor.is_shell) == ("ls", True)


@in_loop
async def test_a_whole_text_says_whom_it_is_for() -> None:
    with open_editor() as user:
        user.type("!", "ls")
        user.editor.replace("ls -l")
        assert user.rows == ["! (shell) ls -l"]
        user.editor.clear()
        user.editor.prepend("!cat x")
        assert user.rows == ["! (shell) cat x"]
        user.editor.clear()
        user.editor.prepend("explain x")
        assert user.rows == ["> explain x"]


@in_loop
async def test_a_huge_text_that_is_put_back_is_folded() -> None:
    text = "word " * 10_000
    with open_editor() as user:
        user.editor.prepend(text)
        assert (user.rows, user.editor.text) == (["> [Pasted #1: 50,000 characters]"], text)


@in_loop
async def test_other_keys_tell_who_listens() -> None:
    heard: list[str] = []
    handler = EditorHandler()
    handler.on_expand = lambda: heard.append("expand")
    handler.on_search_history = lambda: heard.append("search")
    handler.on_external_editor = lambda: heard.append("editor")
    handler.on_next_mode = lambda: heard.append("mode")
    handler.on_steer = lambda text: heard.append(text)  # noqa: PLW0108 -- the parameter has a name
    with open_editor(handler=handler) as user:
        user.type(CTRL_O, CTRL_R, CTRL_G, "\x18\x05", SHIFT_TAB, "go on", CTRL_S, CTRL_S, "there", "\x1bs")
        assert heard == ["expand", "search", "editor", "editor", "mode", "go on", "there"]
        assert (user.editor.text, list(user.editor.history.entries)) == ("", ["go on", "there"])


@in_loop
async def test_ctrl_y_is_for_the_mode() -> None:
    for is_vi in (False, True):
        heard: list[str] = []
        handler = EditorHandler()
        handler.on_toggle_yolo = partial(heard.append, "yolo")
        with open_editor(handler=handler, is_vi=is_vi) as user:
            user.type("one two", "\x17", "\x19")
            assert (heard, user.editor.text) == (["yolo"], "one ")


@in_loop
async def test_alt_y_pastes_what_was_deleted() -> None:
    with open_editor() as user:
        user.type("older", "\x17", "newer", "\x17", "\x1by")
        assert user.editor.text == "newer"
        user.type("\x1by")
        assert user.editor.text == "older"


@in_loop
async def test_what_is_selected_is_shown() -> None:
    with open_editor() as user:
        user.type("abc", "\x00", LEFT, LEFT)
        assert [cell.text for row in user.view.rows for cell in row if "reverse" in cell.style] == ["b", "c"]


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
    with open_editor(suggest=suggest) as user:
        user.type("/")
        await user.wait_until(lambda: user.editor.has_menu)
        assert user.rows == [
            "> /",
            "  /help    What there is",
            "  /memory  What is remembered",
            "  /mcp     Servers",
        ]
        user.type("m")
        await user.wait_until(lambda: len(user.rows) == 3)
        assert user.rows == ["> /m", "❯ /memory  What is remembered", "  /mcp     Servers"]
        user.type(DOWN, UP, UP)
        assert user.rows == ["> /m", "  /memory  What is remembered", "❯ /mcp     Servers"]
        user.type(DOWN, ENTER)
        await user.wait_until(lambda: len(user.rows) == 3)
        assert user.rows == ["> /memory", "  add", "  show"]
        user.type("s")
        await user.wait_until(lambda: len(user.rows) == 2)
        user.type(TAB)
        assert (user.editor.text, user.submitted) == ("/memory show", [])
        await user.wait_until(lambda: user.editor.has_menu)
        user.type(ENTER)
        assert user.submitted == ["/memory show"]


@in_loop
async def test_enter_runs_a_command_that_takes_no_more_words() -> None:
    with open_editor(suggest=suggest) as user:
        user.type("/he")
        await user.wait_until(lambda: user.editor.has_menu)
        user.type(ENTER)
        assert user.submitted == ["/help"]
        user.type("/help", ENTER)
        assert user.submitted == ["/help", "/help"]


@in_loop
async def test_tab_takes_what_is_found_later() -> None:
    with open_editor(suggest=suggest) as user:
        user.type("/mc", TAB)
        await user.wait_until(lambda: user.editor.text == "/mcp")
        user.type(ENTER)
        assert user.submitted == ["/mcp"]


@in_loop
async def test_a_directory_goes_on_and_escape_closes_the_menu_for_this_word() -> None:
    with open_editor(suggest=suggest) as user:
        user.type("@s")
        await user.wait_until(lambda: user.editor.has_menu)
        user.type(TAB)
        await user.wait_until(lambda: user.rows == ["> @src/", "❯ src/", "  src/main.py"])
        user.type(DOWN, ESCAPE)
        assert (user.rows, user.editor.can_escape) == (["> @src/"], False)
        user.type("m")
        await asyncio.sleep(0)
        assert user.rows == ["> @src/m"]
        user.type(TAB)
        await user.wait_until(lambda: user.editor.text == "@src/main.py")


@in_loop
async def test_what_is_found_for_an_older_text_is_dropped() -> None:
    asked: list[tuple[str, asyncio.Future[list[CompletionItem]]]] = []

    async def slowly(text: str, _: int) -> AsyncIterator[Sequence[CompletionItem]]:
        asked.append((text, asyncio.get_running_loop().create_future()))
        yield await asked[-1][1]

    with open_editor(suggest=slowly) as user:
        user.type("/a")
        await user.wait_until(lambda: len(asked) == 1)
        user.type("b")
        await user.wait_until(lambda: len(asked) == 2)
        assert [text for text, _ in asked] == ["/a", "/ab"]
        assert asked[0][1].cancelled()
        asked[1][1].set_result([CompletionItem("/abc", 3)])
        await user.wait_until(lambda: user.editor.has_menu)
        user.type(LEFT)
        assert user.rows == ["> /ab"]


@pytest.mark.parametrize("failure", [OSError("gone")])
def test_a_search_that_fails_stops_nobody(failure: Exception) -> None:
    async def failing(_: str, __: int) -> AsyncIterator[Sequence[CompletionItem]]:
        raise failure
        yield ()

    @in_loop
    async def check() -> None:
        with open_editor(suggest=failing) as user:
            user.type("/a")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            user.type("b", ENTER)
            assert user.submitted == ["/ab"]

    check()
