"""May this call run? Keys and what comes of them, and that nobody agrees to what they could not see."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import HOSTILE, UNICODE, FakeClock, draw
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Risk,
    Scope,
    ToolOrigin,
    ToolOriginKind,
)
from tejat.core.frozen import replace
from tejat.core.sanitize import strip_hidden
from tejat.ui.shared.approval.display_lines import command_lines
from tejat.ui.terminal.dialogs.approval import ApprovalDialog, DialogAction

SHELL = ApprovalRequest(
    ExecConfirmation("T", "git log", "/w", ("git",)),
    "run_shell_command",
    "No rule allows it.",
    "allow run_shell_command: git log",
    tuple(Scope),
)
PATCH = "Index: a\n=\n-\n+\n" + "".join(f"@@ -{n},1 +{n},1 @@\n-old {n}\n+new {n}\n" for n in range(2, 40, 2))
EDIT = ApprovalRequest(
    EditConfirmation("T", "a", "/w/a", PATCH, "".join(f"line {n}\n" for n in range(1, 41)), "x"),
    "replace",
    can_modify=True,
)
ONCE, NO, STOP = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL), ApprovalReply(Outcome.STOP)


def running(command: str, **fields: object) -> ApprovalRequest:
    return replace(SHELL, confirmation=ExecConfirmation("T", command, "/w", ("x",)), **fields)


class Asked:
    """A dialog that has been there long enough for keys to count."""

    def __init__(self, question: ApprovalRequest, *, width: int = 80, height: int = 20) -> None:
        assert not isinstance(question.confirmation, ElicitationConfirmation)
        self.clock, self.width, self.height = FakeClock(), width, height
        self.dialog = ApprovalDialog(question, question.confirmation, UNICODE, clock=self.clock)
        self.rows()
        self.clock.now += 1

    def rows(self) -> list[str]:
        return draw(self.dialog, width=self.width, height=self.height)

    def press(self, *keys: str) -> ApprovalReply | DialogAction | None:
        for key in keys:
            decided = self.dialog.press(key)
            if decided is not None:
                return decided.result
            self.rows()
        return None


class TestKeys:
    @pytest.mark.parametrize(
        ("keys", "answer"),
        [
            (["y"], ONCE),
            (["Y"], ONCE),
            (["1"], ONCE),
            (["enter"], ONCE),
            (["s"], ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
            (["2"], ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
            (["p"], ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)),
            (["u"], ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER)),
            (["n"], NO),
            (["q"], STOP),
            (["escape"], STOP),
            (["c-c"], STOP),
            (["down", "enter"], ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
            (["up", "enter"], STOP),
            (["tab", "right", "left", "s-tab", "enter"], ONCE),
            (["v"], DialogAction.PAGER),
            (["x", "9", "0", "e", "m", "pageup", "c-k", "space"], None),
        ],
    )
    def test_what_comes_of_them(self, keys: list[str], answer: ApprovalReply | DialogAction | None) -> None:
        assert Asked(SHELL).press(*keys) == answer

    @pytest.mark.parametrize(("keys", "answer"), [(["enter"], NO), (["1"], NO), (["2"], ONCE), (["y"], ONCE)])
    def test_for_a_risky_call_the_first_choice_is_no(self, keys: list[str], answer: ApprovalReply) -> None:
        assert Asked(replace(SHELL, risks=(Risk.DELETES,))).press(*keys) == answer

    def test_a_change_can_be_rewritten_and_a_command_tried(self) -> None:
        assert Asked(EDIT).press("e") is DialogAction.MODIFY
        assert Asked(replace(SHELL, can_try=True)).press("c") == ApprovalReply(Outcome.TRY_IN_COPY)

    @pytest.mark.parametrize(
        ("keys", "answer"),
        [
            (["t", *"use tea", "enter"], ApprovalReply(Outcome.CANCEL, feedback="use tea")),
            (["t", "enter"], NO),
            (["t", "paste", *"a\nb", "paste-end", "enter"], ApprovalReply(Outcome.CANCEL, feedback="a b")),
            (["t", "y", "escape", "y"], ONCE),
            (["t", "y", "c-c"], STOP),
        ],
    )
    def test_a_no_with_a_word(self, keys: list[str], answer: ApprovalReply) -> None:
        assert Asked(SHELL).press(*keys) == answer

    def test_keys_that_were_meant_for_something_else_do_not_count(self) -> None:
        clock = FakeClock()
        confirmation = SHELL.confirmation
        assert isinstance(confirmation, ExecConfirmation)
        dialog = ApprovalDialog(SHELL, confirmation, UNICODE, clock=clock)
        assert dialog.press("y") is None
        draw(dialog)
        clock.now += 0.29
        assert dialog.press("enter") is None
        clock.now += 0.31
        decided = dialog.press("enter")
        assert decided is not None
        assert decided.result == ONCE
        dialog.reopen()
        draw(dialog)
        assert dialog.press("y") is None
        decided = dialog.press("c-c")
        assert decided is not None
        assert decided.result == STOP

    def test_nobody_pastes_a_yes(self) -> None:
        asked = Asked(SHELL)
        assert asked.press("paste", *"yes\n", "paste-end") is None
        assert asked.press("y") == ONCE


class TestWhatHasToBeSeen:
    LONG = "\n".join([*(f"echo {number}" for number in range(39)), "touch MARK"])

    @pytest.mark.parametrize("yes", ["y", "s", "p", "u", "1", "enter", "c"])
    def test_no_yes_before_the_end_of_the_command_was_on_the_screen(self, yes: str) -> None:
        asked = Asked(running(self.LONG, can_try=True))
        assert not any("touch MARK" in row for row in asked.rows())
        assert asked.press(yes) is None
        hint = "Not all of it has been on the screen yet. Press End to see the rest, then answer."
        assert hint in " ".join(asked.rows())
        assert asked.press("end") is None
        assert hint not in " ".join(asked.rows())
        assert any("touch MARK" in row for row in asked.rows())
        assert isinstance(asked.press(yes), ApprovalReply)

    @pytest.mark.parametrize(("key", "answer"), [("n", NO), ("q", STOP), ("escape", STOP)])
    def test_a_no_needs_nothing_to_be_seen(self, key: str, answer: ApprovalReply) -> None:
        assert Asked(running(self.LONG)).press(key) == answer

    def test_step_by_step_and_back(self) -> None:
        asked = Asked(running(self.LONG))
        seen = set(asked.rows())
        for _ in range(40):
            asked.press("down")
            seen.update(asked.rows())
        assert {f"> echo {number}" for number in range(1, 39)} | {"$ echo 0", "> touch MARK"} <= seen
        assert "… This is the end." in " ".join(asked.rows())
        asked.press("home")
        assert "$ echo 0" in asked.rows()
        asked.press("pagedown", "pageup")
        assert "$ echo 0" in asked.rows()
        assert asked.press("y") == ONCE

    def test_who_looked_through_it_elsewhere_has_seen_it(self) -> None:
        asked = Asked(running(self.LONG))
        asked.dialog.mark_fully_viewed()
        assert asked.press("y") == ONCE

    def test_a_diff_may_be_agreed_to_at_once_but_says_that_there_is_more(self) -> None:
        asked = Asked(EDIT)
        assert any("more rows below." in row for row in asked.rows())
        assert asked.press("y") == ONCE

    def test_arguments_of_a_server_come_before_what_it_says(self) -> None:
        call = McpConfirmation("T", "srv", "do", "do", {"path": "/x"}, "Safe.\n" * 500)
        asked = Asked(ApprovalRequest(call, "srv__do"))
        assert '>   "path": "/x"' in asked.rows()
        assert asked.press("y") == ONCE

    def test_a_rule_that_is_not_in_sight_has_to_be_seen(self) -> None:
        asked = Asked(replace(SHELL, always=f"allow run_shell_command: {'x' * 600}"))
        assert asked.press("s") is None
        asked.press("end")
        assert asked.press("s") == ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)

    @pytest.mark.parametrize("width", [80, 40, 23])
    def test_blanks_hide_nothing(self, width: int) -> None:
        command = f"true{' ' * 3000}; touch MARK"
        asked = Asked(running(command), width=width)
        assert asked.press("y") is None
        asked.press("end")
        assert any(row.endswith("touch MARK") for row in asked.rows())
        assert asked.press("y") == ONCE

    @given(st.text(min_size=1, max_size=300), st.integers(12, 90), st.integers(6, 30))
    @settings(max_examples=150)
    def test_every_character_of_the_command_is_on_some_row(self, command: str, width: int, height: int) -> None:
        asked = Asked(running(command), width=width, height=height)
        letters = set("".join(asked.rows()))
        for _ in range(asked.dialog._laid_out.max_scroll):
            asked.press("down")
            letters |= set("".join(asked.rows()))
        shown = "".join(line.text for line in command_lines(command))
        assert set(shown.replace("\t", " ")) - {" "} <= letters


class TestTheWholeFile:
    def test_the_changes_alone_and_with_all_the_rest(self) -> None:
        asked = Asked(EDIT, height=40)
        assert "m the whole file" in asked.rows()[-1]
        assert not any(row == " line 1" for row in asked.rows())
        asked.press("m")
        assert any(row == " line 1" for row in asked.rows())
        assert "m the changes alone" in asked.rows()[-1]
        asked.press("m")
        assert not any(row == " line 1" for row in asked.rows())


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (40, 10), (20, 6), (12, 3), (6, 1)])
@pytest.mark.parametrize("kind", ["edit", "exec", "mcp", "info"])
def test_hostile_texts_in_every_place_and_any_size(kind: str, size: tuple[int, int]) -> None:
    confirmation = {
        "edit": EditConfirmation(HOSTILE, HOSTILE, HOSTILE, f"+{HOSTILE}", HOSTILE, HOSTILE),
        "exec": ExecConfirmation(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE, (HOSTILE,)),
        "mcp": McpConfirmation(HOSTILE, HOSTILE, HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, HOSTILE),
        "info": InfoConfirmation(HOSTILE, HOSTILE, (HOSTILE, "x")),
    }[kind]
    question = ApprovalRequest(
        confirmation,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        tuple(Scope),
        can_modify=True,
        note=HOSTILE,
        origin=ToolOrigin(ToolOriginKind.SERVER, HOSTILE),
        risks=tuple(Risk),
        directory=HOSTILE,
        always_server=HOSTILE,
    )
    asked = Asked(question, width=size[0], height=size[1])
    for key in ("end", "t", "\x1b", "x", "escape", "m"):
        asked.press(key)
        assert all(strip_hidden(row) == row for row in asked.rows())
    assert asked.press("c-c") == STOP
