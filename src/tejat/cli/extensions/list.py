"""`tejat extensions list`: the installed extensions with their state."""

from tejat.app.extensions.inventory import listing_json, listing_report
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """List the extensions and return the exit code."""
    options = make_parser().parse_args(words)

    async def work(runtime: ExtensionRuntime) -> str:
        if options.output_format == "json":
            print(dump_json(listing_json(runtime.environment), indent=2))
        else:
            runtime.dialog.user.show(listing_report(runtime.environment, with_tokens=options.tokens))
        return ""

    return run_command(work)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions list`."""
    parser = CommandParser(
        "tejat extensions list",
        _("List the extensions with their state, source, contents, settings and tokens per request."),
        usages=("tejat extensions list [-o json] [--tokens]",),
        notes=_(
            "States: enabled, disabled, changed (not as agreed: run `tejat extensions review`), new (not agreed to "
            "yet), blocked (by a setting), broken (with the reason)."
        ),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    parser.add_argument("--tokens", action="store_true", help=_("show the tokens of each file, skill and agent"))
    return parser
