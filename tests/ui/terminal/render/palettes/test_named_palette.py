"""Named themes have their colours, and stay readable with fewer of them."""

import pytest
from rich.color import Color

from tejat.config.settings.themes.catalogue import load_themes
from tejat.core.ui.theme_colours import ThemeColours
from tejat.ui.shared.diff.rows import build_diff_rows
from tejat.ui.terminal.render.diff import DiffLayout
from tejat.ui.terminal.render.palettes.colours import MIN_CONTRAST, contrast
from tejat.ui.terminal.render.palettes.named_palette import build_palette
from tejat.ui.terminal.render.rich_output import color_system
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme

THEMES = list(load_themes().values())
DIFF = '@@ -1,2 +1,2 @@\n-x: int = len("a") + 17  # old\n-@call\n+x: int = len("b") + 18  # new\n+@call()\n'


def test_roles_have_the_colours_of_the_theme() -> None:
    dracula = load_themes()["Dracula"]
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR, palette=build_palette(dracula, is_dark=True))
    assert theme.style(StyleRole.KEYWORD).color == Color.parse("#8be9fd")
    assert theme.style(StyleRole.BAD).color == Color.parse("#ff5555")
    assert theme.style(StyleRole.BAD).bold
    assert theme.style(StyleRole.ADDED_LINE).bgcolor == Color.parse("#11431d")


def test_what_a_theme_leaves_out_is_the_default() -> None:
    palette = build_palette(ThemeColours("Mine", None, link="#123456"), is_dark=False)
    default = Theme(colour_depth=ColourDepth.TRUE_COLOUR, is_dark=False)
    assert palette.full[StyleRole.LINK].color == Color.parse("#123456")
    assert palette.full[StyleRole.GOOD] == default.style(StyleRole.GOOD)
    assert palette.full[StyleRole.ADDED_LINE] == default.style(StyleRole.ADDED_LINE)


@pytest.mark.parametrize("depth", [ColourDepth.ANSI_256, ColourDepth.TRUE_COLOUR])
@pytest.mark.parametrize("colours", THEMES, ids=lambda colours: colours.name)
def test_diffs_are_readable_in_every_theme(colours: ThemeColours, depth: ColourDepth) -> None:
    is_dark = colours.is_dark is not False
    theme = Theme(colour_depth=depth, is_dark=is_dark, palette=build_palette(colours, is_dark=is_dark))
    rows = build_diff_rows(DIFF)
    system = color_system(depth)
    words = {theme.style(role).bgcolor for role in (StyleRole.ADDED_WORD, StyleRole.ADDED_LINE)}
    assert len({each.downgrade(system) for each in words if each is not None}) == 2
    for line in DiffLayout(rows, theme, file_name="a.py").lines(rows, width=60):
        for text, style in line:
            if text.strip():
                assert style.color is not None
                assert style.bgcolor is not None
                pair = (each.downgrade(system).get_truecolor() for each in (style.color, style.bgcolor))
                assert contrast(*pair) >= MIN_CONTRAST


@pytest.mark.parametrize("colours", THEMES, ids=lambda colours: colours.name)
def test_basic_colours_come_from_the_hue(colours: ThemeColours) -> None:
    palette = build_palette(colours, is_dark=colours.is_dark is not False)
    for role in StyleRole:
        style = palette.basic[role]
        assert style.bgcolor is None
        # Neither black nor white: on one of the backgrounds it would not be seen.
        assert style.color is None or style.color.name not in ("black", "bright_white")


def test_greys_of_a_theme_can_be_read() -> None:
    ayu = load_themes()["Ayu"]
    quiet = build_palette(ayu, is_dark=True).full[StyleRole.QUIET].color
    assert quiet is not None
    assert contrast(quiet.get_truecolor(), Color.parse(ayu.background).get_truecolor()) >= 3
