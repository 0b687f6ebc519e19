"""`tejat extensions preview`: what an extension would change, without installing it."""

import argparse

from tejat.app.extensions.description.effect import describe_effect
from tejat.app.extensions.description.server_tools import ProbedServer, tools_section
from tejat.app.extensions.errors import NotConfirmed
from tejat.app.extensions.probe import probe_servers, starts_programs
from tejat.app.extensions.staged import StagedExtension, prepare_package
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import ExtensionRuntime, exit_codes, run_command
from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.ui.report import Tone, text_report


def run(words: list[str]) -> int:
    """Show the effect of an extension and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(words)
    if options.yes and not options.probe:
        parser.error(_("Use --yes with --probe."))
    return run_command(lambda runtime: _preview(runtime, options), agrees=options.yes)


async def _preview(runtime: ExtensionRuntime, options: argparse.Namespace) -> str:
    environment, installer = runtime.environment, runtime.installer
    source = installer.parse(options.source)
    installer.check_source(source)
    async with installer.fetched(source, ref=options.ref, pre_release=options.pre_release) as fetched:
        record = InstallRecord(source.written, InstallType(fetched.type.value), options.ref, fetched.release_tag)
        staged = prepare_package(environment, fetched, record)
        probed = await _probe(runtime, staged, options) if options.probe else ()
    effect = describe_effect(environment, staged.contents, probed=probed)
    section = tools_section(probed)
    if options.output_format == "json":
        tools = {"probe": [server.to_json() for server in probed]} if options.probe else {}
        print(dump_json({**staged.summary.to_json(), **tools, "effect": effect.to_json()}, indent=2))
        return ""
    if probed and not options.yes:  # the rest was shown before the question
        await runtime.dialog.show([section.report(), effect.report()])
    else:
        sections = (*staged.summary.sections, section) if probed else staged.summary.sections
        await runtime.dialog.show([replace(staged.summary, sections=sections).report(), effect.report()])
    return _("It has no MCP servers to start.") if options.probe and not probed else ""


async def _probe(
    runtime: ExtensionRuntime, staged: StagedExtension, options: argparse.Namespace
) -> tuple[ProbedServer, ...]:
    """Start the servers after a yes. Raises NotConfirmed without one, UsageError and OSError."""
    if starts_programs(staged) and not options.yes:
        if options.output_format == "json":
            raise NotConfirmed(_("With -o json no question is asked. Add --yes to start the MCP servers."))
        reports = [staged.summary.report(), describe_effect(runtime.environment, staged.contents).report()]
        question = _("Start its MCP servers once, in the sandbox and without network, to list their tools?")
        await runtime.dialog.confirm(reports, question=question, directory=staged.tree)
    if options.output_format == "text" and starts_programs(staged):
        runtime.dialog.user.show(text_report(_("Starting the MCP servers..."), Tone.QUIET))
    return await probe_servers(runtime.environment, staged)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions preview`."""
    parser = CommandParser(
        "tejat extensions preview",
        _(
            "Show what an extension runs, reaches, gets and tells the model, and what a session here would get, "
            "compared with what it has now. Nothing is installed. Nothing of the extension is run without --probe."
        ),
        usages=("tejat extensions preview SOURCE [options]",),
        exit_codes=exit_codes(),
    )
    parser.add_argument("source", metavar="SOURCE", help=_("as for `tejat extensions install`"))
    parser.add_argument("--ref", default="", metavar="REF", help=_("branch, tag or commit"))
    parser.add_argument("--pre-release", action="store_true", help=_("use the newest release, even a pre-release"))
    parser.add_argument(
        "--probe",
        action="store_true",
        help=_("start its MCP servers once, in the sandbox and without network, to list their tools"),
    )
    help_text = _("start them without a question")
    parser.add_argument("-y", "--yes", action="store_true", help=help_text)
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    return parser
