"""`tejat extensions preview`: what an extension would change, without installing it."""

import argparse

from tejat.app.extensions.description.effect import describe_effect
from tejat.app.extensions.staged import prepare_package
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Show the effect of an extension and return the exit code."""
    options = make_parser().parse_args(words)
    return run_command(lambda runtime: _preview(runtime, options))


async def _preview(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    environment, installer = runtime.environment, runtime.installer
    source = installer.parse(options.source)
    installer.check_source(source)
    async with installer.fetched(source, ref=options.ref, pre_release=options.pre_release) as fetched:
        record = InstallRecord(source.written, InstallType(fetched.type.value), options.ref, fetched.release_tag)
        staged = prepare_package(environment, fetched, record)
    effect = describe_effect(environment, staged.contents)
    if options.output_format == "json":
        print(dump_json({**staged.summary.to_json(), "effect": effect.to_json()}, indent=2))
        return ""
    runtime.dialog.user.show(staged.summary.report())
    runtime.dialog.user.show(effect.report())
    return ""


def make_parser() -> CommandParser:
    """The parser of `tejat extensions preview`."""
    parser = CommandParser(
        "tejat extensions preview",
        _(
            "Show what an extension runs, reaches, gets and tells the model, and what a session here would get, "
            "compared with what it has now. Nothing is installed and nothing of the extension is run."
        ),
        usages=("tejat extensions preview SOURCE [options]",),
        exit_codes=exit_codes(asks=False),
    )
    parser.add_argument("source", metavar="SOURCE", help=_("as for `tejat extensions install`"))
    parser.add_argument("--ref", default="", metavar="REF", help=_("branch, tag or commit"))
    parser.add_argument("--pre-release", action="store_true", help=_("use the newest release, even a pre-release"))
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    return parser
