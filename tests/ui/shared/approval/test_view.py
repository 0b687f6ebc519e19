"""A question as values: heading, warnings, everything out of the ordinary, and the whole action."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    Risk,
    ToolOrigin,
    TrialConfirmation,
)
from tejat.core.provenance import ToolSource
from tejat.core.sanitize import sanitize_text, strip_hidden
from tejat.core.tools.display import DiffStat
from tejat.ui.shared.approval.display_lines import DisplayLineKind
from tejat.ui.shared.approval.view import ApprovalView, FactKind, build_approval_view, risk_label

HOSTILE = "a\x1b[2J\x1b]52;c;eA==\x07\r\u202e\u200b\U000e0041\udcff\nb"
SHOWN = "a<U+001B>[2J<U+001B>]52;c;eA==<U+0007><U+000D><U+202E><U+200B><U+E0041><U+DCFF><U+000A>b"


def build_view(confirmation: Confirmation, **fields: object) -> ApprovalView:
    return build_approval_view(ApprovalRequest(confirmation, "tool", **fields), confirmation)  # pyright: ignore[reportArgumentType]


def facts(confirmation: Confirmation, **fields: object) -> list[str]:
    return [fact.text for fact in build_view(confirmation, **fields).facts]


def edit(
    patch: str, *, old: str | None = None, new: str | None = None, stat: DiffStat | None = None
) -> EditConfirmation:
    return EditConfirmation("Confirm", "a", "/w/a", patch, old, new, stat)


def shell(command: str) -> ExecConfirmation:
    return ExecConfirmation("Confirm", command, "/w")


class TestHeadings:
    @pytest.mark.parametrize(
        ("confirmation", "heading"),
        [
            (edit("@@ -1,1 +1,2 @@\n-a\n+b\n+c\n", old="a\n", new="b\nc\n"), "Edit a +2 -1"),
            (edit("@@ -0,0 +1,2 @@\n+b\n+c\n", new="b\nc\n"), "Create a +2"),
            (shell("ls"), "Run a command"),
            (ExecConfirmation("T", "ls", "/w/sub"), "Run a command in sub"),
            (ExecConfirmation("T", "ls", "/x"), "Run a command in /x"),
            (ExecConfirmation("T", "ls", HOSTILE), f"Run a command in {SHOWN}"),
            (ExecConfirmation("T", "ls", ""), "Run a command"),
            (McpConfirmation("T", HOSTILE, "t", "T"), f"Call t on server {SHOWN}"),
            (InfoConfirmation(HOSTILE, "x"), SHOWN),
            (InfoConfirmation("T", "x", ("https://a/",)), "Fetch 1 web page"),
            (InfoConfirmation("T", "x", ("https://a/", "https://b/")), "Fetch 2 web pages"),
        ],
    )
    def test_the_verb_and_what_it_is_about(self, confirmation: Confirmation, heading: str) -> None:
        view = build_view(confirmation, directory="/w")
        assert " ".join((view.heading, *view.counts)) == heading

    @pytest.mark.parametrize(
        ("confirmation", "asked"),
        [
            (edit("", old="x"), "Apply this change?"),
            (shell("x"), "Run this command?"),
            (McpConfirmation("T", "s\x1b", "t", "T"), "Call this tool?"),
            (InfoConfirmation("T", "x"), "Continue?"),
            (InfoConfirmation("T", "x", ("https://a/",)), "Fetch this page?"),
            (InfoConfirmation("T", "x", ("https://a/", "https://b/")), "Fetch these pages?"),
            (ModelChangeConfirmation("T", "a", "b", "Busy."), "Switch to b for this session?"),
        ],
    )
    def test_the_question_itself(self, confirmation: Confirmation, asked: str) -> None:
        assert build_view(confirmation).prompt == asked

    @pytest.mark.parametrize(("place", "total", "position"), [(1, 1, ""), (1, 2, "1 of 2"), (3, 3, "3 of 3")])
    def test_the_place_among_several_questions(self, place: int, total: int, position: str) -> None:
        assert build_view(shell("ls"), place=place, total=total).position == position


class TestFacts:
    def test_nothing_is_said_about_the_ordinary_case(self) -> None:
        edited = edit("@@ -1,1 +1,1 @@\n-a\n+b\n", old="a\n", new="b\n")
        fetched = InfoConfirmation("T", "x", ("https://a/",))
        for confirmation in (edited, shell("ls"), fetched, McpConfirmation("T", "s", "t", "t", {"a": 1})):
            origin = ToolOrigin()
            if isinstance(confirmation, McpConfirmation):
                origin = ToolOrigin(ToolSource.MCP, "s")
            assert facts(confirmation, directory="/w", origin=origin) == []

    def test_what_matters_most_comes_first(self) -> None:
        shown = build_view(
            ExecConfirmation("T", "\u0430pt x", "/w/sub", ("\u0430pt",), "Do it", ("It may use the network.",)),
            reason="The rule asks.",
            note="Changed.",
            risks=(Risk.DELETES, Risk.ELEVATED),
            directory="/w",
            origin=ToolOrigin(ToolSource.PYTHON, "x.py"),
        )
        assert [(fact.kind, fact.text) for fact in shown.facts] == [
            (FactKind.WARNING, "Risk: deletes or overwrites files; runs with elevated privileges"),
            (FactKind.WARNING, "Mixed alphabets: \u0430pt = <U+0430>pt"),
            (FactKind.NOTE, "Changed."),
            (FactKind.PLAIN, "Reason: The rule asks."),
            (FactKind.PLAIN, "Tool: tool, from the plug-in x.py"),
            (FactKind.NOTE, "It may use the network."),
            (FactKind.PLAIN, "The model says: Do it"),
        ]

    @pytest.mark.parametrize(
        ("origin", "told"),
        [
            (ToolOrigin(), []),
            (
                ToolOrigin(ToolSource.DISCOVERED, HOSTILE),
                [f"Tool: tool, from the discovery command {SHOWN}"],
            ),
            (ToolOrigin(ToolSource.MCP, "srv"), ["Tool: tool, from the MCP server srv"]),
            (ToolOrigin(ToolSource.PYTHON, "x.py"), ["Tool: tool, from the plug-in x.py"]),
            (ToolOrigin(ToolSource.PYTHON), ["Tool: tool, from the calling program"]),
        ],
    )
    def test_a_tool_that_is_not_built_in(self, origin: ToolOrigin, told: list[str]) -> None:
        assert facts(InfoConfirmation("T", "x"), origin=origin, directory="/w") == told

    def test_the_programs_of_a_long_command(self) -> None:
        programs = tuple(f"program-{number}" for number in range(9))
        assert facts(ExecConfirmation("T", "x", "", programs)) == []
        for command in ("x\ny", "x" * 200):
            assert facts(ExecConfirmation("T", command, "", programs)) == [f"Programs: {', '.join(programs)}"]

    def test_another_folder_of_a_trial(self) -> None:
        trial = TrialConfirmation("T", "make", "/w/sub", (), "", "", 0)
        assert facts(trial, directory="/w") == ["Exit code: 0", "Folder: sub"]
        assert facts(trial, directory="/w/sub") == ["Exit code: 0"]

    def test_every_risk_has_words_of_its_own(self) -> None:
        assert len({risk_label(risk) for risk in Risk}) == len(Risk)

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            ("\u0430pt install", ["\u0430pt = <U+0430>pt"]),
            ("curl p\u0430yp\u0430l.com", ["p\u0430yp\u0430l = p<U+0430>yp<U+0430>l"]),
            ("echo Привет мир", []),
            ("echo Δt μs naïve 日本", []),
        ],
    )
    def test_letters_of_another_alphabet_are_told(self, command: str, told: list[str]) -> None:
        warned = [f"Mixed alphabets: {word}" for word in told]
        assert facts(shell(command)) == warned
        noted = facts(ExecConfirmation("Confirm", "ls", "/w", notes=(command,)))
        assert noted[: len(warned)] == warned

    def test_many_such_words_are_counted(self) -> None:
        told = facts(shell(" ".join(f"\u0430{letter}" for letter in "abcdefgh")))
        assert (len(told), told[5]) == (5 + 1, "3 more words like this")

    def test_only_what_is_added_is_searched_for_other_alphabets(self) -> None:
        assert facts(edit(" \u0430b\n-\u0430b\n+x\n")) == []
        assert facts(edit("+\u0430b\n"))[0] == "Mixed alphabets: \u0430b = <U+0430>b"


class TestBodies:
    @pytest.mark.parametrize(
        ("prompt", "urls", "shown"),
        [
            ("Do it?\n  1 [y] Yes", (), ["> Do it?", ">   1 [y] Yes"]),
            ("https://a/", ("https://a/",), ["> https://a/"]),
            ("Read https://a/", ("https://a/",), ["> Read https://a/", "URLs to fetch:", "> https://a/"]),
            ("x", ("https://a\n/", "b"), ["> x", "URLs to fetch:", "> https://a<U+000A>/", "> b"]),
        ],
    )
    def test_words_and_addresses(self, prompt: str, urls: tuple[str, ...], shown: list[str]) -> None:
        body = build_view(InfoConfirmation("Title", prompt, urls)).body
        assert [f"{line.prefix}{line.text}" for line in body] == shown

    def test_a_command_line_by_line(self) -> None:
        assert [(line.kind, line.text) for line in build_view(shell("a\nb\r\n")).body] == [
            (DisplayLineKind.COMMAND, "a"),
            (DisplayLineKind.COMMAND_CONTINUATION, "b<U+000D>"),
            (DisplayLineKind.COMMAND_CONTINUATION, ""),
        ]

    def test_blank_context_at_the_ends_of_a_change_is_left_out(self) -> None:
        view = build_view(edit("@@ -1,7 +1,7 @@\n \n \n def\n-a\n+b\n \n end\n  \n", old="x"))
        assert [row.text for row in view.diff] == ["def", "a", "b", "", "end"]
        assert build_view(edit("@@ -1,2 +1,2 @@\n \n \n", old="x")).diff == ()

    def test_what_has_to_be_seen(self) -> None:
        asked = [shell("x"), McpConfirmation("T", "s", "t", "t"), InfoConfirmation("T", "x"), edit("")]
        assert [build_view(each).must_be_viewed for each in asked] == [True, True, True, False]

    @given(st.text(max_size=80))
    @settings(max_examples=200)
    def test_no_line_of_any_text_holds_what_a_terminal_obeys(self, text: str) -> None:
        for confirmation in (
            edit(text, old=text, new=text),
            ExecConfirmation(text, text, text, (text,), text, (text,)),
            McpConfirmation(text, text, text, text, {text: text}, text, {"properties": {text: text}}),
            InfoConfirmation(text, text, (text, text)),
        ):
            shown = build_view(
                confirmation, reason=text, note=text, directory=text, origin=ToolOrigin(ToolSource.PYTHON, text)
            )
            lines = [line.text for line in (*shown.body, *shown.diff, *shown.server_notes)]
            for line in (shown.heading, shown.prompt, *(fact.text for fact in shown.facts), *lines):
                assert "\n" not in line
                assert strip_hidden(line) == line

    @given(st.text(max_size=200))
    @settings(max_examples=200)
    def test_a_command_can_be_read_back(self, command: str) -> None:
        shown = "\n".join(line.text for line in build_view(shell(command)).body)
        assert read_back(shown) == read_back(sanitize_text(command))


def read_back(shown: str) -> str:
    return re.sub("<U\\+([0-9A-F]{4,6})>", lambda found: chr(int(found[1], 16)), shown)


class TestAgents:
    def test_the_question_names_the_agent_and_its_task(self) -> None:
        told = facts(shell("rm x"), agent="reviewer#1", agent_task="Review the change.", risks=(Risk.DELETES,))
        assert told[0] == "Asked by the agent reviewer#1: Review the change."
        assert told[1].startswith("Risk: ")

    def test_a_task_is_one_safe_line(self) -> None:
        told = facts(shell("ls"), agent="reviewer#1", agent_task=f"{HOSTILE}{'x' * 500}")
        assert "\x1b" not in told[0]
        assert len(told[0]) < 200
        assert facts(shell("ls"), agent="reviewer#1")[0] == "Asked by the agent reviewer#1"

    def test_the_session_itself_is_not_named(self) -> None:
        assert not any("agent" in fact for fact in facts(shell("ls")))
