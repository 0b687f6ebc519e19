"""The menu shows what fits, and marks what Enter would take."""

from tejat.core.ui.commands import CompletionItem
from tejat.ui.terminal.editor.completion_menu import CompletionMenu
from tejat.ui.terminal.render.cells import row_width
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme


def drawn(menu: CompletionMenu, *, width: int = 40, height: int = 20, theme: Theme | None = None) -> list[str]:
    rows = menu.rows(theme or Theme(), width=width, height=height)
    assert all(row_width(row) <= width for row in rows)
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def entries(*names: str, replaces: int = 1) -> list[CompletionItem]:
    return [CompletionItem(name, replaces) for name in names]


def test_labels_and_details_stand_in_columns() -> None:
    menu = CompletionMenu()
    menu.show(
        [
            CompletionItem("/a ", 2, "/a", "first\x1b[31m"),
            CompletionItem("/日本", 2, "/日本", "second that is long enough to be cut"),
        ],
        typed="/a",
    )
    assert drawn(menu) == ["❯ /a     first<U+001B>[31m", "  /日本  second that is long enough to …"]
    assert drawn(menu, width=12) == ["❯ /a", "  /日本"]
    assert drawn(menu, width=3) == []
    assert drawn(menu, theme=Theme(glyphs=ASCII_GLYPHS), height=1) == ["> /a  first<U+001B>[31m"]


def test_of_a_path_the_end_is_shown() -> None:
    menu = CompletionMenu()
    menu.show([CompletionItem("@x", 1, "src/deep/directory/文件.py")], typed="@x")
    assert drawn(menu, width=16) == ["❯ …ctory/文件.py"]


def test_eight_rows_are_in_view_around_the_mark() -> None:
    menu = CompletionMenu()
    menu.show(entries(*(f"n{number}" for number in range(12))), typed="n")
    assert drawn(menu) == ["❯ n0", *(f"  n{number}" for number in range(1, 7)), "… n7", "  1 of 12"]
    menu.move(-1)
    assert drawn(menu) == ["… n4", *(f"  n{number}" for number in range(5, 11)), "❯ n11", "  12 of 12"]
    menu.move(-3)
    assert drawn(menu)[4] == "❯ n8"
    menu.move(4)
    assert drawn(menu, height=2) == ["❯ n0", "… n1"]
    assert drawn(menu, height=3) == ["❯ n0", "… n1", "  1 of 12"]


def test_the_number_of_entries_is_shown_when_not_all_are() -> None:
    menu = CompletionMenu()
    menu.show(entries(*(f"/{number}" for number in range(41))), typed="/")
    assert drawn(menu)[-1] == "  41 commands"
    menu.move(1)
    assert drawn(menu)[-1] == "  1 of 41"
    menu.show(entries("/a", "/b"), typed="/")
    assert len(drawn(menu)) == 2
    menu.show(entries(*(f"@{number}" for number in range(41))), typed="@")
    menu.close()
    menu.show(entries(*(f"@{number}" for number in range(41))), typed="@")
    assert drawn(menu)[-1] == "  41 entries"


def test_the_mark_stands_on_what_was_typed_or_the_best_and_stays() -> None:
    menu = CompletionMenu()
    menu.show(entries("/help", "/he", replaces=3), typed="/he")
    assert menu.selected == CompletionItem("/he", 3)
    menu.show(entries("/help", "/hello", replaces=3), typed="/he")
    assert menu.selected == CompletionItem("/help", 3)
    menu.show(entries("/heap", "/help", replaces=3), typed="/he")
    assert menu.selected == CompletionItem("/heap", 3)
    menu.show(entries("/help", "/hello", replaces=3), typed="/he")
    menu.move(1)
    menu.show(entries("/heap", "/hello", replaces=3), typed="/he")
    assert menu.selected == CompletionItem("/hello", 3)


def test_nothing_is_marked_before_something_is_typed() -> None:
    menu = CompletionMenu()
    for typed, replaces in (("/", 1), ("see @", 1), ('see @"', 2), ("/chat ", 0)):
        menu.close()
        menu.show(entries("x", "y", replaces=replaces), typed=typed)
        assert (menu.selected, menu.is_open) == (None, True)
    menu.move(-1)
    assert menu.selected == CompletionItem("y", 0)
    menu.show([], typed="/z")
    assert (menu.selected, menu.is_open, drawn(menu)) == (None, False, [])
