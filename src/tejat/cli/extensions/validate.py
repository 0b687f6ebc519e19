"""`tejat extensions validate`: mistakes in an extension, without running it."""

from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.validation import ValidationResult, validate_extension
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.cli.messages import one_line
from tejat.core.i18n import _, ngettext
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Check an extension and return the exit code."""
    options = make_parser().parse_args(words)

    async def work(runtime: ExtensionRuntime) -> str:
        result = validate_extension(runtime.environment, options.path)
        if options.output_format == "json":
            print(dump_json(result.to_json(), indent=2))
        else:
            _print(result)
        if result.errors:
            count = len(result.errors)
            raise ExtensionFailure(ngettext("{count} error found.", "{count} errors found.", count))
        return "" if options.output_format == "json" else _success(result)

    return run_command(work)


def _print(result: ValidationResult) -> None:
    for label, texts in ((_("error"), result.errors), (_("warning"), result.warnings)):
        for text in texts:
            print(f"{label}: {one_line(text)}")
    contents = result.contents
    if contents is not None:
        message = _(
            "Tokens per request: {context} for context files, {skills} for skills, {agents} for agents.",
            context=f"{contents.context_tokens:,}",
            skills=f"{contents.skill_tokens:,}",
            agents=f"{contents.agent_tokens:,}",
        )
        print(message)


def _success(result: ValidationResult) -> str:
    return _("Extension {path} has been successfully validated.", path=result.path)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions validate`."""
    parser = CommandParser(
        "tejat extensions validate",
        _("Check an extension: manifest, hooks, skills, agents, rules, programs, and secrets left in files."),
        usages=("tejat extensions validate PATH [-o json]",),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument("path", metavar="PATH", help=_("the directory with the extension"))
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    return parser
