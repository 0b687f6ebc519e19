"""Questions of the model in a dialog."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import HOSTILE, HOSTILE_SANITIZED, UNICODE, FakeClock, draw
from tejat.core.approval.confirmation import ApprovalReply, AskUserConfirmation, Outcome
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import strip_hidden
from tejat.ui.terminal.dialogs.ask_user import AskUserDialog

HEADING = "The model asks. Your answers go to the model and permit nothing."
DATABASES = (QuestionOption("SQLite", "one file"), QuestionOption("Postgres"))
CHECKS = tuple(map(QuestionOption, ("lint", "types", "tests")))
CHOICE = UserQuestion("Which database?\nFor good.", "Database", QuestionType.CHOICE, DATABASES)
SEVERAL = UserQuestion("Which checks?", "Checks", QuestionType.CHOICE, CHECKS, is_multiple=True)
TEXT = UserQuestion("What name?", "Name", placeholder="for example blog")
YESNO = UserQuestion("Deploy it?", "Deploy", QuestionType.YESNO)
DISMISSED, STOPPED = ApprovalReply(Outcome.CANCEL), ApprovalReply(Outcome.STOP)


class Asked:
    def __init__(self, *questions: UserQuestion, width: int = 70, height: int = 20) -> None:
        self.clock = FakeClock()
        self.width, self.height = width, height
        self.dialog = AskUserDialog(AskUserConfirmation("The model asks", questions), UNICODE, clock=self.clock)
        self.rows()
        self.clock.now += 1

    def rows(self) -> list[str]:
        return draw(self.dialog, width=self.width, height=self.height)

    def press(self, *keys: str) -> ApprovalReply | None:
        for key in keys:
            decided = self.dialog.press(key)
            if decided is not None:
                return decided.result
            self.rows()
            self.clock.now += 1
        return None

    def paste(self, text: str) -> ApprovalReply | None:
        return self.press("paste", *text, "paste-end")


def answers(**given: str) -> ApprovalReply:
    found: JsonObject = {name.removeprefix("a"): answer for name, answer in given.items()}
    return ApprovalReply(Outcome.PROCEED_ONCE, answers=found)


def test_all_questions_and_a_last_look() -> None:
    asked = Asked(CHOICE, SEVERAL, TEXT, YESNO)
    assert asked.rows() == [
        HEADING,
        "[Database] · Checks · Name · Deploy · Send",
        "> Which database?",
        "> For good.",
        "❯ 1 ( ) SQLite",
        "        one file",
        "  2 ( ) Postgres",
        "  3 ( ) Other:",
        "Enter to continue · Esc to dismiss · Tab for the next",
    ]
    assert asked.press("down", "enter") is None
    assert asked.rows() == [
        HEADING,
        "Database ✓ · [Checks] · Name · Deploy · Send",
        "> Which checks?",
        "❯ 1 [ ] lint",
        "  2 [ ] types",
        "  3 [ ] tests",
        "  4 [ ] All of the above",
        "  5 [ ] Other:",
        "Space to mark · Enter to continue · Esc to dismiss · Tab for the next",
    ]
    assert asked.press("3", " ", "1", *"slow ones", "enter") is None
    assert asked.rows()[1:5] == [
        "Database ✓ · Checks ✓ · [Name] · Deploy · Send",
        "> What name?",
        "= for example blog",
        "Enter to continue · Esc to dismiss · Tab for the next",
    ]
    assert asked.dialog.caret(width=70, height=20) == (2, 3)
    assert asked.press(*"blog", "enter", "y") is None
    assert asked.rows() == [
        HEADING,
        "Database ✓ · Checks ✓ · Name ✓ · Deploy ✓ · [Send]",
        "Send these answers to the model?",
        "> Database → Postgres",
        "> Checks → lint, slow ones",
        "> Name → blog",
        "> Deploy → Yes",
        "Enter to send · Esc to dismiss · Tab to change an answer",
    ]
    assert asked.press("enter") == answers(a0="Postgres", a1="lint, slow ones", a2="blog", a3="Yes")


class TestChoosing:
    def test_by_number(self) -> None:
        assert Asked(CHOICE).press("2", "enter") == answers(a0="Postgres")

    def test_by_enter(self) -> None:
        assert Asked(CHOICE).press("enter", "enter") == answers(a0="SQLite")

    @pytest.mark.parametrize(("key", "answer"), [("y", "Yes"), ("N", "No"), ("1", "Yes"), ("2", "No")])
    def test_yes_and_no(self, key: str, answer: str) -> None:
        assert Asked(YESNO).press(key, "enter") == answers(a0=answer)

    @pytest.mark.parametrize("keys", [("up", *"My own"), ("3", "enter", "tab", *"My own"), ("M", *"y own")])
    def test_own_words(self, keys: tuple[str, ...]) -> None:
        if keys[0] == "3":
            keys = ("down", "down", *keys[3:])
        assert Asked(CHOICE).press(*keys, "enter", "enter") == answers(a0="My own")

    def test_a_choice_after_own_words_replaces_them(self) -> None:
        asked = Asked(CHOICE)
        assert asked.press("up", "x", "up", "enter", "enter") == answers(a0="Postgres")

    def test_deleted_words_are_no_answer(self) -> None:
        assert Asked(CHOICE).press("up", "x", "backspace", "enter", "enter") == answers()

    def test_all_of_the_above_and_back(self) -> None:
        asked = Asked(SEVERAL)
        assert asked.press("4") is None
        assert [row[4:7] for row in asked.rows()[3:8]] == ["[x]", "[x]", "[x]", "[x]", "[ ]"]
        assert asked.press("4") is None
        assert [row[4:7] for row in asked.rows()[3:8]] == ["[ ]"] * 5
        assert asked.press("1", "4", "2", "enter", "enter") == answers(a0="lint, tests")

    def test_several_own_words_come_last(self) -> None:
        asked = Asked(SEVERAL)
        assert asked.press("up", "z", "up", " ", "enter", "enter") == answers(a0="lint, types, tests, z")

    def test_left_out(self) -> None:
        asked = Asked(CHOICE, TEXT)
        assert asked.press("tab", "tab") is None
        assert asked.rows()[3:5] == ["> Database → (no answer)", "> Name → (no answer)"]
        assert asked.press("enter") == answers()


class TestPages:
    def test_tab_goes_round(self) -> None:
        asked = Asked(CHOICE, TEXT)
        shown: list[str] = []
        for key in ("tab", "tab", "tab", "s-tab", "s-tab"):
            asked.press(key)
            shown.append(asked.rows()[1])
        assert shown == [
            "Database · [Name] · Send",
            "Database · Name · [Send]",
            "[Database] · Name · Send",
            "Database · Name · [Send]",
            "Database · [Name] · Send",
        ]

    def test_arrows_turn_pages_where_nothing_is_typed(self) -> None:
        asked = Asked(CHOICE, TEXT)
        asked.press("right", "a", "left", "b")
        assert asked.rows()[3] == "= ba"
        asked.press("tab", "left", "s-tab")
        assert asked.rows()[1].startswith("[Database]")

    def test_answers_can_be_changed(self) -> None:
        asked = Asked(CHOICE)
        assert asked.press("1", "tab", "2", "enter") == answers(a0="Postgres")

    def test_a_narrow_terminal_names_the_page(self) -> None:
        asked = Asked(CHOICE, SEVERAL, TEXT, YESNO, width=40)
        assert asked.rows()[:3] == [
            "The model asks. Your answers go to the",
            "model and permit nothing.",
            "Database [1 of 5]",
        ]

    def test_a_long_question_is_scrolled(self) -> None:
        question = UserQuestion("\n".join(f"line {n}" for n in range(30)), "Long", QuestionType.CHOICE, DATABASES)
        asked = Asked(question, height=12)
        assert asked.rows()[2] == "> line 0"
        assert asked.rows()[-2] == "… 26 more rows · PgUp and PgDn to scroll"
        asked.press("pagedown")
        assert asked.rows()[2] == "> line 10"
        asked.press("down")
        assert "❯ 2 ( ) Postgres" in asked.rows()
        asked.press("down")
        assert asked.dialog.caret(width=70, height=12) is not None


class TestLeaving:
    @pytest.mark.parametrize("before", [(), ("1",), ("tab", *"abc")])
    def test_escape_dismisses_all(self, before: tuple[str, ...]) -> None:
        asked = Asked(CHOICE, TEXT)
        asked.press(*before)
        assert asked.press("escape") == DISMISSED

    def test_interrupt_stops(self) -> None:
        assert Asked(CHOICE).press("c-c") == STOPPED

    def test_keys_typed_before_it_appeared_do_not_count(self) -> None:
        asked = Asked(CHOICE)
        asked.clock.now -= 1
        assert asked.dialog.press("2") is None
        assert asked.rows()[1] == "[Database] · Send"

    def test_a_key_held_down_does_not_send(self) -> None:
        asked = Asked(CHOICE)
        assert [asked.dialog.press("enter") for _ in range(5)] == [None] * 5
        assert asked.rows()[1].endswith("[Send]")


class TestPaste:
    def test_becomes_own_words(self) -> None:
        asked = Asked(CHOICE)
        assert asked.paste("1 y\nno") is None
        assert asked.press("enter", "enter") == answers(a0="1 y no")

    def test_never_sends(self) -> None:
        asked = Asked(TEXT)
        asked.press("x", "enter")
        assert asked.paste("y\n1") is None
        assert asked.rows()[1].endswith("[Send]")


def test_nothing_of_the_model_reaches_the_terminal_unseen() -> None:
    options = (QuestionOption(HOSTILE, HOSTILE), QuestionOption("b"))
    asked = Asked(UserQuestion(HOSTILE, HOSTILE, QuestionType.CHOICE, options, placeholder=HOSTILE), width=200)
    drawn = "\n".join(asked.rows())
    assert strip_hidden(drawn.replace("\n", "")) == drawn.replace("\n", "")
    assert drawn.count(HOSTILE_SANITIZED) == 3
    asked.press("1")
    assert HOSTILE_SANITIZED in "\n".join(asked.rows())
    assert asked.press("enter") == answers(a0=HOSTILE)


@given(st.text(), st.integers(10, 60), st.integers(5, 30))
@settings(max_examples=30, deadline=None)
def test_any_text_fits(text: str, width: int, height: int) -> None:
    options = (QuestionOption(text or "a", text), QuestionOption("b"))
    asked = Asked(
        UserQuestion(text, text, QuestionType.CHOICE, options), UserQuestion(text, text), width=width, height=height
    )
    assert asked.press("down", "down", "tab", *text[:5].replace("\n", " "), "tab", "down") is None
