"""The first screen."""

from collections.abc import Sequence

import pytest
from rich.console import Group, RenderableType
from rich.text import Text

from tejat.core.frozen import replace
from tejat.core.ui.status import SandboxState, Status, WelcomeOptions
from tejat.ui.terminal.render.rich_output import render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme
from tejat.ui.terminal.views.welcome import WelcomeScreen, WelcomeView

STATUS = Status(
    model="gemini-2.5-pro",
    mode="default",
    folder="~/shop",
    branch="main",
    sandbox=SandboxState.FILES_AND_NETWORK,
    version="1.2.3",
)
TIPS = [
    "  Shift-Tab to switch modes: ask first, auto-edit, plan",
    "  /init to describe this project for the model in GEMINI.md",
    "  Esc to stop, /undo to revert changes, /resume to continue later",
]


def shown(
    status: Status = STATUS,
    *,
    width: int = 80,
    theme: Theme | None = None,
    options: WelcomeOptions | None = None,
    resumed_id: str = "",
    warnings: Sequence[str] = (),
) -> list[str]:
    used = theme or Theme()
    view = WelcomeView(status, used, options=options, resumed_id=resumed_id, warnings=warnings)
    rows = render_rows(view, used, width=width)
    assert all(sum(cell.width for cell in row) <= width for row in rows)
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def test_all_of_it() -> None:
    assert shown() == [
        "✦ Tejat 1.2.3 · gemini-2.5-pro",
        "  ~/shop (main) · asks before changes · sandbox: files and network",
        "",
        *TIPS,
    ]


def test_narrow() -> None:
    assert shown(width=40) == [
        "✦ Tejat 1.2.3 · gemini-2.5-pro",
        "  ~/shop (main) · asks before changes",
        "  sandbox: files and network",
        "  Shift-Tab to switch modes",
        "  /init to describe this project",
        "  Esc to stop, /undo to revert",
    ]


def test_ascii() -> None:
    rows = shown(theme=Theme(glyphs=ASCII_GLYPHS))
    assert rows[0] == "* Tejat 1.2.3 | gemini-2.5-pro"
    assert all(row.isascii() for row in rows)


@pytest.mark.parametrize("width", [100, 80, 60, 40, 20, 10, 3])
def test_never_more_than_six_rows(width: int) -> None:
    long = replace(STATUS, folder="~/a/" + "deep/" * 30, branch="topic/" + "x" * 60, model="m" * 90)
    assert len(shown(long, width=width)) <= 6
    assert len(shown(width=width)) <= 6


def test_the_sandbox_appears_when_it_is_known() -> None:
    assert shown(replace(STATUS, sandbox=SandboxState.UNKNOWN))[1] == "  ~/shop (main) · asks before changes"
    assert shown(replace(STATUS, sandbox=SandboxState.NONE))[1].endswith(" · no sandbox")
    assert shown(replace(STATUS, sandbox=SandboxState.FILES))[1].endswith(" · sandbox: files only")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("plan", "plan: read-only"),
        ("auto_edit", " · auto-edit · "),
        ("yolo", "YOLO: no approvals"),
    ],
)
def test_modes(mode: str, words: str) -> None:
    assert words in " ".join(shown(replace(STATUS, mode=mode), width=120))


def test_parts_that_are_hidden() -> None:
    assert shown(options=WelcomeOptions(hides_tips=True)) == shown()[:2]
    assert shown(options=WelcomeOptions(hides_banner=True)) == TIPS
    assert shown(options=WelcomeOptions(hides_banner=True, hides_tips=True)) == []
    both = WelcomeView(STATUS, Theme(), options=WelcomeOptions(hides_banner=True, hides_tips=True))
    assert both.is_empty
    assert not WelcomeView(STATUS, Theme()).is_empty


def test_a_resumed_session_is_named_and_needs_no_tips() -> None:
    assert shown(resumed_id="1a2b3c4d") == [
        "✦ Tejat 1.2.3 · gemini-2.5-pro",
        "  ~/shop (main) · asks before changes · sandbox: files and network",
        "  resumed session 1a2b3c4d",
    ]


def test_an_untrusted_folder_has_no_tip_for_modes_that_need_trust() -> None:
    assert shown(replace(STATUS, is_trusted=False))[3] == "  Shift-Tab to switch modes: ask first, plan"


def test_warnings_are_below() -> None:
    assert shown(warnings=["Running as root.", "One setting is unknown."])[6:] == [
        "▲ Running as root.",
        "▲ One setting is unknown.",
    ]


def test_hostile_names() -> None:
    hostile = replace(STATUS, model="a\x1b]0;x\x07\n", folder="\u202eb" + "長" * 90, branch="c\x9b2J")
    assert all(row.isprintable() for row in shown(hostile, warnings=["d\x1b[2J"]))


class FakeScreen:
    def __init__(self) -> None:
        self.theme = Theme()
        self.height = 24
        self.printed: list[RenderableType] = []
        self.live: RenderableType | None = None
        self.hints: list[str] = []

    def print(self, *renderables: RenderableType) -> None:
        self.printed += renderables

    def set_live(self, renderable: RenderableType | None, /) -> None:
        self.live = renderable

    def show_hint(self, text: str) -> None:
        self.hints.append(text)


class TestScreen:
    def test_it_is_drawn_until_it_is_complete_and_printed_once(self) -> None:
        screen = FakeScreen()
        welcome = WelcomeScreen(screen)
        welcome.hold("first")
        assert (screen.live, screen.printed, welcome.is_held) == ("first", [], True)
        welcome.set_live(None)
        welcome.hold("better")
        welcome.release()
        welcome.release()
        assert (screen.live, screen.printed, welcome.is_held) == (None, ["better"], False)

    def test_it_comes_before_anything_else(self) -> None:
        screen = FakeScreen()
        welcome = WelcomeScreen(screen)
        welcome.hold("first")
        welcome.print("a", "b")
        welcome.print("c")
        assert screen.printed == ["first", Text(""), "a", "b", "c"]
        welcome.hold("second")
        welcome.print(Text(""), "d")
        assert screen.printed[-2:] == [Text(""), "d"]
        assert len(screen.printed) == 8

    def test_it_is_set_off_from_questions_before_it(self) -> None:
        screen = FakeScreen()
        welcome = WelcomeScreen(screen)
        welcome.print("question")
        welcome.hold("first")
        welcome.print("a")
        before, held, gap, after = screen.printed
        assert isinstance(held, Group)
        assert (before, held.renderables, gap, after) == ("question", [Text(""), "first"], Text(""), "a")

    def test_what_happens_is_drawn_instead(self) -> None:
        screen = FakeScreen()
        welcome = WelcomeScreen(screen)
        welcome.hold("first")
        welcome.set_live("working")
        assert (screen.live, screen.printed) == ("working", ["first"])

    def test_without_it_nothing_is_added(self) -> None:
        screen = FakeScreen()
        welcome = WelcomeScreen(screen)
        welcome.set_live("working")
        welcome.print("a")
        welcome.show_hint("b")
        assert (screen.live, screen.printed, screen.hints) == ("working", ["a"], ["b"])
