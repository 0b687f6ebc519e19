"""A preview is redrawn while the selection moves."""

from support.terminal.dialogs import UNICODE, draw, press_keys
from tejat.core.frozen import replace
from tejat.core.ui.prompter import Choice, ChoicePreview, Option
from tejat.core.ui.report import DiffBlock, Paragraph, Report
from tejat.core.ui.status import Preferences
from tejat.ui.terminal.dialogs.choice import ChoiceDialog
from tejat.ui.terminal.dialogs.preview import PreviewDialog
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.theme import ColourDepth, Theme

CHOICE = Choice("Which?", (Option("one"), Option("two")))
COLOURED = Theme(colour_depth=ColourDepth.TRUE_COLOUR)


def preview(index: int) -> ChoicePreview:
    sample = Report("", (Paragraph(f"sample {index}"), DiffBlock("@@ -1 +1 @@\n-a\n+b\n")))
    return ChoicePreview(sample, Preferences(shows_line_numbers=not index))


def dialog(theme: Theme = UNICODE) -> PreviewDialog:
    def theme_for(preferences: Preferences) -> Theme:
        return replace(theme, is_dark=preferences.shows_line_numbers)

    return PreviewDialog(ChoiceDialog(CHOICE, theme), preview, theme_for)


def test_the_sample_follows_the_selection() -> None:
    shown = dialog()
    assert draw(shown)[-3:] == ["sample 0", "1 - a", "1 + b"]
    shown.press("down")
    assert draw(shown)[-3:] == ["sample 1", "1 - a", "1 + b"]
    assert draw(shown)[2] == "❯ 2 two"


def test_the_whole_dialog_is_drawn_in_the_theme_of_the_selection() -> None:
    shown = dialog(COLOURED)
    dark = render_ansi(shown.view(width=60, height=20), COLOURED, width=60)
    shown.press("down")
    light = render_ansi(shown.view(width=60, height=20), COLOURED, width=60)
    assert "48;2;23;54;31" in dark
    assert "48;2;218;251;225" in light


def test_a_low_screen_shows_the_list_rather_than_the_sample() -> None:
    assert len(draw(dialog(), height=8)) <= 8
    assert "❯ 1 one" in draw(dialog(), height=6)


def test_keys() -> None:
    assert press_keys(dialog(), ["down", "enter"]) == 1
    assert press_keys(dialog(), ["escape"]) is None
