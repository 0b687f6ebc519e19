"""The approval dialog: keys and their replies, and that nothing is approved unseen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.terminal.dialogs import HOSTILE, UNICODE, FakeClock, draw
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    PlanConfirmation,
    Risk,
    Scope,
    ToolOrigin,
)
from tejat.core.frozen import replace
from tejat.core.provenance import ToolSource
from tejat.core.sanitize import strip_hidden
from tejat.ui.shared.approval.display_lines import command_lines
from tejat.ui.terminal.dialogs.approval.dialog import ApprovalDialog, DialogAction

SHELL = ApprovalRequest(
    ExecConfirmation("T", "git log", "/w", ("git",)),
    "run_shell_command",
    "No rule allows it.",
    "allow run_shell_command: git log",
    tuple(Scope),
)
PATCH = f"Index: a\n{'=' * 67}\n--- a\n+++ a\n" + "".join(
    f"@@ -{n},1 +{n},1 @@\n-old {n}\n+new {n}\n" for n in range(2, 40, 2)
)
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
        assert not isinstance(question.confirmation, ElicitationConfirmation | AskUserConfirmation)
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
            self.clock.now += 1
        return None


LINES = "".join(f"{number}. Do it.\n" for number in range(1, 31))
PLAN = ApprovalRequest(PlanConfirmation("T", "/p/plan.md", f"# Plan\n\n{LINES}"), "exit_plan_mode")


class TestPlan:
    @pytest.mark.parametrize(
        ("key", "answer"),
        [
            ("a", ApprovalReply(Outcome.PROCEED_AUTO_EDIT)),
            ("y", ONCE),
            ("enter", ApprovalReply(Outcome.PROCEED_AUTO_EDIT)),
        ],
    )
    def test_a_yes_counts_only_after_the_end_was_shown(self, key: str, answer: ApprovalReply) -> None:
        asked = Asked(PLAN)
        assert asked.press(key) is None
        assert any("Not everything has been shown yet." in row for row in asked.rows())
        assert asked.press(" ", key) is None
        assert asked.press("end") is None
        assert asked.press(key) == answer

    @pytest.mark.parametrize(
        ("key", "answer"), [("e", DialogAction.MODIFY), ("q", STOP), ("escape", STOP), ("c-c", STOP)]
    )
    def test_other_answers_count_at_once(self, key: str, answer: ApprovalReply | DialogAction) -> None:
        assert Asked(PLAN).press(key) == answer

    def test_a_no_with_and_without_words(self) -> None:
        assert Asked(PLAN).press("n", "enter") == NO
        assert Asked(PLAN).press("n", "x", "enter") == ApprovalReply(Outcome.CANCEL, feedback="x")

    def test_auto_edit_that_is_not_possible_is_not_offered(self) -> None:
        short = PlanConfirmation("T", "/p/plan.md", "# Plan\n", can_auto_edit=False)
        assert Asked(replace(PLAN, confirmation=short)).press("a", "enter") == ONCE

    def test_it_is_rendered_behind_a_bar_and_hides_nothing(self) -> None:
        text = "# Goal\n\n**Now** [here](http://x.example/a)\n<!-- hidden -->\n\x1b[2J\n"
        plan = PlanConfirmation("T", "/p/plan.md", text, note="This is your edited version.")
        rows = Asked(replace(PLAN, confirmation=plan)).rows()
        assert rows[:3] == ["Plan: plan.md", "This is your edited version.", "│ Goal"]
        shown = "\n".join(rows)
        assert "Now here (http://x.example/a)" in shown
        assert "<!-- hidden -->" in shown
        assert "\x1b" not in shown

    @pytest.mark.parametrize("width", [20, 40, 80])
    def test_long_addresses_are_broken_not_cut(self, width: int) -> None:
        address = "http://x.example/" + "a" * 150 + "END"
        asked = Asked(replace(PLAN, confirmation=PlanConfirmation("T", "/p/p.md", address)), width=width, height=40)
        assert all(len(row) <= width for row in asked.rows())
        assert address in "".join(row.removeprefix("│ ") for row in asked.rows() if row.startswith("│"))


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
            (["v"], None),
            (["v", "v"], DialogAction.PAGER),
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

    @pytest.mark.parametrize("yes", ["y", "s", "p", "u", "b", "1", "enter", "c"])
    def test_no_yes_before_the_end_of_the_command_was_on_the_screen(self, yes: str) -> None:
        asked = Asked(running(self.LONG, can_try=True, can_allow_sandboxed=True))
        assert not any("touch MARK" in row for row in asked.rows())
        message = "Not everything has been shown yet. Space to scroll, v to view, then answer."
        for _ in range(3):
            assert asked.press(yes) is None
            assert message in " ".join(asked.rows())
        assert asked.press("end") is None
        assert message not in " ".join(asked.rows())
        assert any("touch MARK" in row for row in asked.rows())
        assert isinstance(asked.press(yes), ApprovalReply)

    @pytest.mark.parametrize(("key", "answer"), [("n", NO), ("q", STOP), ("escape", STOP)])
    def test_a_no_needs_nothing_to_be_seen(self, key: str, answer: ApprovalReply) -> None:
        assert Asked(running(self.LONG)).press(key) == answer

    def test_page_by_page_and_back(self) -> None:
        asked = Asked(running(self.LONG))
        seen = set(asked.rows())
        for _ in range(10):
            asked.press(" ")
            seen.update(asked.rows())
        assert {f"> echo {number}" for number in range(1, 39)} | {"$ echo 0", "> touch MARK"} <= seen
        assert any(row.endswith("of 40 · end") for row in asked.rows())
        asked.press("home")
        assert "$ echo 0" in asked.rows()
        asked.press("pagedown", "pageup")
        assert "$ echo 0" in asked.rows()
        assert asked.press("y") == ONCE

    def test_arrows_always_choose(self) -> None:
        asked = Asked(running(self.LONG))
        assert asked.press("down", "down", "up", "up", "up", "enter") == STOP

    def test_a_call_that_was_shown_in_the_pager_has_been_seen(self) -> None:
        asked = Asked(running(self.LONG))
        asked.dialog.mark_fully_viewed()
        assert asked.press("y") == ONCE

    def test_arguments_of_a_server_come_before_what_it_says(self) -> None:
        call = McpConfirmation("T", "srv", "do", "do", {"path": "/x"}, "Safe.\n" * 500)
        asked = Asked(ApprovalRequest(call, "srv__do"))
        assert '>   "path": "/x"' in asked.rows()
        assert asked.press("y") == ONCE

    def test_a_rule_that_is_not_in_sight_has_to_be_seen(self) -> None:
        asked = Asked(replace(SHELL, always=f"allow run_shell_command: {'x' * 600}"))
        assert asked.press("s") is None
        assert "The rule has not been shown yet." in " ".join(asked.rows())
        asked.press("end")
        assert asked.press("s") == ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)

    def test_a_rule_beside_a_long_change_has_to_be_seen(self) -> None:
        asked = Asked(replace(EDIT, always=f"allow replace: {'x' * 600}", scopes=tuple(Scope)))
        assert asked.press("s") is None
        assert "The rule has not been shown yet." in " ".join(asked.rows())
        asked.press("v", "end", "q")
        assert asked.press("s") is None  # some lines of the change were skipped
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
        asked.press("v")
        shown = set[str]()
        while (rows := "".join(asked.rows())) not in shown:
            shown.add(rows)
            letters |= set(rows)
            asked.press("down")
        text = "".join(line.text for line in command_lines(command))
        assert set(text.replace("\t", " ")) - {" "} <= letters


class TestLongChanges:
    """Of 38 changed lines some do not fit: beginning and end are shown, and a yes says how many were not."""

    def test_beginning_and_end_with_what_lies_between(self) -> None:
        rows = Asked(EDIT).rows()
        assert rows[1] == " 2 - old 2"
        assert "38 + new 38" in rows
        hidden = next(row for row in rows if "more lines (+" in row)
        changed = sum(" old " in row or " new " in row for row in rows)
        assert hidden.strip().startswith(f"… {38 - changed} more lines (+")

    @pytest.mark.parametrize(("key", "named"), [("y", "y"), ("enter", "Enter"), ("1", "1")])
    def test_a_yes_has_to_be_given_twice(self, key: str, named: str) -> None:
        asked = Asked(EDIT)
        changed = sum(" old " in row or " new " in row for row in asked.rows())
        assert asked.press(key) is None
        assert f"{38 - changed} of 38 changed lines not shown. {named} again to approve anyway, v to view." in " ".join(
            asked.rows()
        )
        assert asked.press(key) == ONCE

    def test_a_key_that_is_held_down_does_not_approve(self) -> None:
        asked = Asked(EDIT)
        for _ in range(30):
            assert asked.dialog.press("y") is None
            asked.rows()
            asked.clock.now += 0.03
        asked.clock.now += 1
        assert asked.press("y") == ONCE

    @pytest.mark.parametrize("between", ["down", "v", "pagedown", "x"])
    def test_other_keys_in_between(self, between: str) -> None:
        asked = Asked(EDIT)
        asked.press("y", between)
        asked.press(*(["q"] if between == "v" else []))
        assert asked.press("y") == (ONCE if between == "x" else None)

    def test_a_yes_for_longer_is_another_yes(self) -> None:
        asked = Asked(replace(EDIT, always="allow replace", scopes=tuple(Scope)))
        assert asked.press("y") is None
        assert asked.press("s") is None
        assert asked.press("s") == ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)

    @pytest.mark.parametrize("look", [" ", "v"])
    def test_one_yes_after_all_of_it_was_on_the_screen(self, look: str) -> None:
        asked = Asked(EDIT)
        asked.press(look)
        for _ in range(10):
            asked.press(" ")
        if look == "v":
            asked.press("q")
        assert asked.press("y") == ONCE

    def test_space_goes_on_with_the_first_hidden_line(self) -> None:
        asked = Asked(EDIT)
        rows = asked.rows()
        last = max(at for at, row in enumerate(rows) if "more lines (+" in row) - 1
        asked.press(" ")
        assert rows[last] not in asked.rows()
        before, number = rows[last].split()[-2:]
        expected = f"new {number}" if before == "old" else f"old {int(number) + 2}"
        assert asked.rows()[1].endswith(expected)

    def test_back_at_the_top_it_is_an_excerpt_again(self) -> None:
        asked = Asked(EDIT)
        first = asked.rows()
        asked.press(" ", "end", "home", "home")
        assert asked.rows() == first

    def test_end_skips_lines_and_says_so(self) -> None:
        asked = Asked(EDIT)
        asked.press("end")
        assert asked.press("y") is None
        assert " of 38 changed lines not shown." in " ".join(asked.rows())

    def test_a_change_that_fits_needs_one_yes(self) -> None:
        assert Asked(EDIT, height=60).press("y") == ONCE

    @pytest.mark.parametrize(
        ("old", "new", "heading", "note"),
        [
            ("x", "x", "Edit /w/a", "The file already has this content."),
            (None, "", "Create /w/a", "The new file is empty."),
        ],
    )
    def test_a_change_of_no_line_says_so(self, old: str | None, new: str, heading: str, note: str) -> None:
        asked = Asked(replace(EDIT, confirmation=EditConfirmation("T", "a", "/w/a", "Index: a\n", old, new)))
        assert asked.rows()[:2] == [heading, note]
        assert asked.press("y") == ONCE

    def test_a_change_that_is_too_large_to_show(self) -> None:
        diff = f"Index: a\n{'=' * 67}\n--- a\n+++ a\n[The diff is too large to show: 9 lines removed, 7 lines added]\n"
        asked = Asked(replace(EDIT, confirmation=EditConfirmation("T", "a", "/w/a", diff, None, None)))
        assert asked.press("y") is None
        assert "The changed lines are not shown. y again to approve anyway." in asked.rows()
        assert asked.press("y") == ONCE

    def test_a_rewrite_and_a_no_need_nothing_to_be_seen(self) -> None:
        assert Asked(EDIT).press("e") is DialogAction.MODIFY
        assert Asked(EDIT).press("n") == NO


class TestViews:
    def test_q_and_escape_close_a_view_and_do_not_stop_the_turn(self) -> None:
        for opened in ("v", "m"):
            for key in ("q", "Q", "escape"):
                asked = Asked(EDIT)
                asked.press(opened)
                assert not any(row.startswith("❯") for row in asked.rows())
                assert asked.press(key) is None
                assert any(row.startswith("❯") for row in asked.rows())

    def test_a_second_q_at_once_does_not_stop_the_turn(self) -> None:
        asked = Asked(EDIT)
        asked.press("v")
        assert asked.dialog.press("q") is None
        asked.rows()
        assert asked.dialog.press("q") is None
        asked.clock.now += 1
        assert asked.press("q") == STOP

    def test_no_answer_is_given_from_a_view(self) -> None:
        asked = Asked(EDIT)
        assert asked.press("v", "y", "enter", "1", "n", "t", "s", "e") is None
        assert asked.press("c-c") == STOP

    def test_the_terminal_goes_away_in_a_view(self) -> None:
        asked = Asked(EDIT)
        asked.press("v")
        assert asked.dialog.press("escape") is None
        assert asked.press("c-c") == STOP

    def test_the_changes_alone_and_with_all_the_rest(self) -> None:
        asked = Asked(EDIT, height=60)
        assert "m whole file" in asked.rows()[-1]
        assert not any(row.endswith("line 1") for row in asked.rows())
        asked.press("m")
        assert any(row.endswith("  line 1") for row in asked.rows())
        assert "m changes only" in asked.rows()[-1]
        asked.press("m")
        assert not any(row.endswith("line 1") for row in asked.rows())

    def test_the_view_names_the_whole_path(self) -> None:
        asked = Asked(replace(EDIT, directory="/w"))
        assert asked.rows()[0] == "Edit a +19 -19"
        asked.press("v")
        assert asked.rows()[:2] == ["Edit a +19 -19", "File: /w/a"]

    def test_no_whole_file_where_the_diff_has_all_of_it(self) -> None:
        patch = f"Index: a\n{'=' * 67}\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        asked = Asked(replace(EDIT, confirmation=EditConfirmation("T", "a", "/w/a", patch, "one\ntwo\n", "x")))
        assert "m whole file" not in asked.rows()[-1]
        before = asked.rows()
        asked.press("m")
        assert asked.rows() == before


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
        origin=ToolOrigin(ToolSource.MCP, HOSTILE),
        risks=tuple(Risk),
        directory=HOSTILE,
        always_server=HOSTILE,
    )
    asked = Asked(question, width=size[0], height=size[1])
    for key in ("end", "t", "\x1b", "x", "escape", "m", "q", "v", "m", "q", "y"):
        asked.press(key)
        assert all(strip_hidden(row) == row for row in asked.rows())
    assert asked.press("c-c") == STOP
