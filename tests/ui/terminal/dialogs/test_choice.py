"""A list to choose from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import HOSTILE, HOSTILE_SANITIZED, PLAIN_ASCII, UNICODE, FakeClock, draw, press_keys
from tejat.core.frozen import replace
from tejat.core.sanitize import strip_hidden
from tejat.core.ui.prompter import Choice, Option
from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.choice import ChoiceDialog

SHORT = Choice("Which theme?", (Option("Dark", "for the night"), Option("Light", "for the day"), Option("Plain")), 1)
LONG = Choice("Which session?", tuple(Option(f"Session {number}", f"{number} days ago") for number in range(40)))


class TestShortLists:
    def test_what_is_shown(self) -> None:
        rows = [
            "Which theme?",
            "  1 Dark  for the night",
            "❯ 2 Light  for the day",
            "  3 Plain",
            "Enter to confirm · Esc to cancel · number to choose",
        ]
        assert draw(ChoiceDialog(SHORT, UNICODE)) == rows
        in_ascii = draw(ChoiceDialog(SHORT, PLAIN_ASCII), theme=PLAIN_ASCII)
        assert in_ascii == [row.replace("❯", ">").replace("·", "|") for row in rows]

    @pytest.mark.parametrize(
        ("keys", "place"),
        [
            (["enter"], 1),
            (["down", "enter"], 2),
            (["down", "down", "enter"], 0),
            (["up", "enter"], 0),
            (["up", "up", "enter"], 2),
            (["home", "enter"], 0),
            (["end", "enter"], 2),
            (["pageup", "enter"], 0),
            (["tab", "enter"], 2),
            (["3"], 2),
            (["1"], 0),
            (["4", "0", "x", "²", "enter"], 1),
        ],
    )
    def test_keys(self, keys: list[str], place: int) -> None:
        assert press_keys(ChoiceDialog(SHORT, UNICODE), keys) == place

    def test_what_is_grave_is_not_agreed_to_by_keys_that_were_meant_for_something_else(self) -> None:
        clock = FakeClock()
        dialog = ChoiceDialog(replace(SHORT, is_critical=True), UNICODE, clock=clock)
        assert dialog.press("1") is None
        draw(dialog)
        for key in ("1", "enter", "paste"):
            assert dialog.press(key) is None
        clock.now += 1
        for key in ("paste", "1", "paste-end"):
            assert dialog.press(key) is None
        assert dialog.press("1") == DialogResult(0)

    @pytest.mark.parametrize("key", ["escape", "c-c"])
    def test_leaving(self, key: str) -> None:
        decided = ChoiceDialog(SHORT, UNICODE).press(key)
        assert decided is not None
        assert decided.result is None

    def test_what_does_not_fit_into_its_row_is_shown_below(self) -> None:
        choice = Choice("Which?", (Option("x" * 50, "the detail of it"), Option("short")))
        assert draw(ChoiceDialog(choice, UNICODE), width=30)[1:-1] == [
            "❯ 1 " + "x" * 25 + "…",
            "  2 short",
            "  " + "x" * 28,
            "  " + "x" * 22,
            "  the detail of it",
        ]


class TestLongLists:
    def test_as_many_as_fit_around_the_mark(self) -> None:
        dialog = ChoiceDialog(LONG, UNICODE)
        assert draw(dialog, width=40, height=8) == [
            "Which session?",
            "❯ Session 0  0 days ago",
            "  Session 1  1 days ago",
            "  Session 2  2 days ago",
            "  Session 3  3 days ago",
            "  Session 4  4 days ago",
            "… 35 more (1 of 40)",
            "Enter to confirm · Esc to cancel",
        ]
        press_keys(dialog, ["end"], width=40, height=8)
        assert draw(dialog, width=40, height=8)[1:7] == [
            "  Session 35  35 days ago",
            "  Session 36  36 days ago",
            "  Session 37  37 days ago",
            "  Session 38  38 days ago",
            "❯ Session 39  39 days ago",
            "… 35 more (40 of 40)",
        ]

    @pytest.mark.parametrize(
        ("keys", "place"),
        [
            ([*"session 17", "enter"], 17),
            ([*"9 39", "enter"], 39),
            ([*"SESSION 1x", "backspace", "2", "enter"], 12),
            ([*"7", "down", "enter"], 17),
            ([*"nothing like it", "enter"], None),
            (["pagedown", "enter"], 22),
            (["pagedown", "pagedown", "enter"], 39),
        ],
    )
    def test_typing_finds(self, keys: list[str], place: int | None) -> None:
        assert press_keys(ChoiceDialog(LONG, UNICODE), keys) == place

    def test_when_nothing_fits(self) -> None:
        dialog = ChoiceDialog(LONG, UNICODE)
        press_keys(dialog, "zz")
        assert draw(dialog)[1:3] == ["> zz", "No matches. Backspace to change the filter."]


def test_hostile_texts() -> None:
    choice = Choice(HOSTILE, (Option(HOSTILE, HOSTILE),))
    rows = draw(ChoiceDialog(choice, UNICODE), width=300)
    assert rows[:2] == [
        HOSTILE_SANITIZED,
        f"❯ 1 {HOSTILE_SANITIZED}  {HOSTILE_SANITIZED[: 300 - 4 - len(HOSTILE_SANITIZED) - 2]}",
    ]


def test_nothing_to_choose_from() -> None:
    dialog = ChoiceDialog(Choice("Which?", ()), UNICODE)
    assert press_keys(dialog, ["down", "enter", "1", "pagedown"]) is None
    assert draw(dialog)[0] == "Which?"


@given(
    st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=15),
    st.integers(10, 60),
    st.integers(1, 14),
    st.lists(st.sampled_from(["up", "down", "pagedown", "end", "a", "backspace"]), max_size=6),
)
@settings(max_examples=150)
def test_any_list_fits_with_its_mark(options: list[tuple[str, str]], width: int, height: int, keys: list[str]) -> None:
    choice = Choice("Which?", tuple(Option(label, detail) for label, detail in options))
    dialog = ChoiceDialog(choice, UNICODE)
    press_keys(dialog, keys, width=width, height=height)
    rows = draw(dialog, width=width, height=height)
    assert all(strip_hidden(row) == row for row in rows)
