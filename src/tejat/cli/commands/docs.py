"""`tejat docs`: list and read the documentation."""

import asyncio
import os
import sys

from tejat.app.inspection.documentation import DOCUMENTATION_DIRECTORY, find_page, list_pages, read_page
from tejat.cli.command_parser import CommandParser
from tejat.cli.help.page import MAX_WIDTH, terminal_width
from tejat.cli.messages import print_usage_error
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.ui.plain.table import print_table


def run(words: list[str]) -> int:
    """Run `tejat docs` and return the exit code."""
    options = make_parser().parse_args(words)
    try:
        if options.path:
            print(DOCUMENTATION_DIRECTORY if options.page is None else find_page(options.page).path)
        elif options.page is None:
            _list(as_json=options.json)
        else:
            _show(read_page(options.page))
    except UsageError as error:
        return print_usage_error(error)
    return EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat docs`."""
    parser = CommandParser(
        "tejat docs",
        _("Read the documentation that is installed with tejat. Without PAGE, list the pages."),
        usages=("tejat docs [--json]", "tejat docs PAGE", "tejat docs [PAGE] --path"),
        examples=(
            ("tejat docs start", _("the first ten minutes")),
            ("tejat docs settings | grep theme", _("search a page")),
        ),
        exit_codes=(("0", _("done")), ("2", _("bad usage, or no such page"))),
    )
    parser.add_argument("page", nargs="?", metavar="PAGE", help=_("the name of a page"))
    parser.add_argument("--path", action="store_true", help=_("print the path of the Markdown file or directory"))
    parser.add_argument("--json", action="store_true", help=_("list the pages as a JSON array"))
    return parser


def _list(*, as_json: bool) -> None:
    pages = list_pages()
    if as_json:
        print(dump_json([{"name": page.name, "title": page.title, "path": page.path} for page in pages], indent=2))
        return
    print_table([(_("PAGE"), _("TITLE")), *((page.name, page.title) for page in pages)])


def _show(text: str) -> None:
    """Print a page; at a terminal rendered and in the user's pager."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        from tejat.ui.shared.external.pager import Pager
        from tejat.ui.terminal.render.markdown.stream import render_markdown
        from tejat.ui.terminal.render.rich_output import render_ansi
        from tejat.ui.terminal.render.theme import detect_theme

        theme = detect_theme(os.environ, encoding=sys.stdout.encoding)
        styled = render_ansi(render_markdown(text, theme), theme, width=min(terminal_width(), MAX_WIDTH))
        try:
            asyncio.run(Pager((os.path.realpath("."),)).show(text, styled=styled))
        except UsageError:
            print(styled, end="")
        return
    print(text, end="")
