"""The title of the window: what it says, and that the old one comes back."""

from tejat.core.ui.status import TitleOptions
from tejat.ui.terminal.window_title import TitleState, WindowTitle

PUSH, POP = "\x1b[22;2t", "\x1b[23;2t"


def opened(options: TitleOptions | None = None, *, name: str = "project") -> tuple[WindowTitle, list[str]]:
    written: list[str] = []
    title = WindowTitle(written.append, name, is_ascii=False)
    title.apply(options or TitleOptions())
    return title, written


def text(title: str) -> str:
    return f"\x1b]2;{title}\x07"


def test_the_state_is_shown_and_the_old_title_comes_back() -> None:
    title, written = opened()
    assert title.set_state(TitleState.WORKING) is TitleState.READY
    before = title.set_state(TitleState.ASKING)
    title.set_state(before)
    title.set_state(TitleState.READY)
    title.close()
    title.close()
    assert written == [
        PUSH,
        text("◇ Ready (project)"),
        text("✦ Working (project)"),
        text("✋ Action required (project)"),
        text("✦ Working (project)"),
        text("◇ Ready (project)"),
        POP,
    ]


def test_nothing_is_written_while_nothing_changes() -> None:
    title, written = opened(TitleOptions(is_dynamic=False))
    title.set_state(TitleState.WORKING)
    title.apply(TitleOptions(is_dynamic=False))
    assert written == [PUSH, text("project")]


def test_none_at_all() -> None:
    title, written = opened(TitleOptions(is_hidden=True))
    title.set_state(TitleState.WORKING)
    title.close()
    assert written == []


def test_it_can_be_hidden_later() -> None:
    title, written = opened()
    title.apply(TitleOptions(is_hidden=True))
    title.set_state(TitleState.WORKING)
    assert written == [PUSH, text("◇ Ready (project)"), POP]


def test_thoughts_where_they_are_wanted() -> None:
    title, written = opened(TitleOptions(shows_thoughts=True))
    title.set_state(TitleState.WORKING)
    title.set_subject("Reading")
    title.set_state(TitleState.READY)
    assert written[2:] == [text("✦ Working (project)"), text("✦ Reading (project)"), text("◇ Ready (project)")]
    other, plain = opened()
    other.set_subject("Reading")
    assert plain == [PUSH, text("◇ Ready (project)")]


def test_hostile_and_long_names_cannot_end_the_title() -> None:
    _, written = opened(name="a\x07b\x1b]2;c\x9c" + "x" * 100)
    shown = written[1].removeprefix("\x1b]2;").removesuffix("\x07")
    assert shown.startswith("◇ Ready (a<U+0007>b<U+001B>]2;c")
    assert len(shown) < 60
    assert all(" " <= character != "\x9c" for character in shown)


def test_without_signs() -> None:
    written: list[str] = []
    WindowTitle(written.append, "p", is_ascii=True).apply(TitleOptions())
    assert written[1] == text("Ready (p)")
