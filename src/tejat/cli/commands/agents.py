"""`tejat agents`: the sub-agents of sessions in this directory."""

import argparse
import os
from collections.abc import Sequence

from tejat.app.inspection.subagents import SubagentSummary, inspect_subagents, validate_agent_file
from tejat.app.run_config import load_run_config
from tejat.app.tools.listed_tools import builtin_registry
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_errors
from tejat.config.agents.entries import SubagentEntry, SubagentState
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.json_text import dump_json
from tejat.ui.plain.table import print_table
from tejat.ui.shared.exit_status import classify_error


def run(words: list[str]) -> int:
    """Run `tejat agents` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    try:
        match options.words:
            case [] | ["list"]:
                return _list(options)
            case ["validate", path]:
                return _validate(path, plays=options.run)
            case given:
                return parser.reject_words(given)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]


def make_parser() -> CommandParser:
    """The parser of `tejat agents`."""
    parser = CommandParser(
        "tejat agents",
        _(
            "List the sub-agents that the model can call here, and check agent files. With --run, the examples of an "
            "agent are played in a temporary project. No program is started."
        ),
        usages=("tejat agents [list] [-o json] [--tokens]", "tejat agents validate PATH [--run]"),
        actions=(
            ("list", _("list the agents: built-in, of this project, your own, and of extensions")),
            ("validate", _("check an agent file, or all agent files of a directory")),
        ),
        examples=(("tejat agents list", ""), ("tejat agents validate .gemini/agents/reviewer.md", "")),
        exit_codes=(
            ("0", _("listed, or no problems found")),
            ("1", _("an agent file cannot be used, or an example failed")),
            ("2", _("bad usage")),
            ("52", _("the settings have errors")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument(
        "-o",
        "--output-format",
        choices=("text", "json"),
        default="text",
        help=_("print a table (the default), or a JSON array"),
    )
    parser.add_argument("--tokens", action="store_true", help=_("show the tokens of each agent"))
    parser.add_argument(
        "--run", action="store_true", help=_("with validate: play the examples (tests/NAME.toml beside the file)")
    )
    return parser


def _list(options: argparse.Namespace) -> int:
    found, problems = inspect_subagents(load_run_config(["."]), builtin_registry())
    if options.output_format == "json":
        print(dump_json([each.to_json() for each in found], indent=2))
    elif found:
        print_table(
            [_headings(with_tokens=options.tokens), *(_row(each, with_tokens=options.tokens) for each in found)],
            numeric=(1, 2) if options.tokens else (),
        )
        if options.tokens:
            total = sum(each.catalogue_tokens for each in found)
            print("\n" + _("Together about {count} tokens in every request.", count=f"{total:,}"))
    else:
        print(_("Sub-agents are turned off in the settings (experimental.enableAgents)."))
    print_errors(problems)
    return EXIT_OK


def _headings(*, with_tokens: bool) -> tuple[str, ...]:
    tokens = (_("CATALOGUE"), _("PROMPT")) if with_tokens else ()
    return (_("NAME"), *tokens, _("FROM"), _("STATE"), _("MODEL"), _("TOOLS"), _("LIMITS"), _("SOURCE"))


def _row(each: SubagentSummary, *, with_tokens: bool) -> tuple[str, ...]:
    tokens = (f"{each.catalogue_tokens:,}", f"{each.prompt_tokens:,}") if with_tokens else ()
    provenance = each.entry.provenance
    name = each.entry.qualified_name if each.entry.state is SubagentState.HIDDEN else each.entry.name
    return (name, *tokens, provenance.label, each.state, each.model, each.tool_label, each.limits, provenance.path)


def _validate(path: str, *, plays: bool) -> int:
    entries = validate_agent_file(load_run_config(["."]), builtin_registry(), os.path.abspath(path))
    code = EXIT_OK
    for entry in entries:
        if entry.state is SubagentState.AVAILABLE:
            print(_("{path}: agent {name} is valid.", path=entry.provenance.path, name=entry.name))
        else:
            code = EXIT_FAILED
            print(f"{entry.provenance.path}: {translate(entry.reason)}.")
        for note in entry.notes:
            print(f"{entry.provenance.path}: {translate(note)}.")
    if not entries:
        print(_("No agent files found in {path}.", path=path))
        return EXIT_FAILED
    return max(code, _play_examples(entries)) if plays else code


def _play_examples(entries: Sequence[SubagentEntry]) -> int:
    # Imported late: the checks need no session.
    from tejat.app.inspection.examples.player import play_agent_examples
    from tejat.cli.example_output import print_examples

    files = [(entry.name, entry.provenance.path) for entry in entries if entry.state is SubagentState.AVAILABLE]
    examples = [example for name, file in files for example in play_agent_examples(name, file)]
    if files:
        print_examples(examples, os.path.dirname(files[0][1]))
    return EXIT_OK if examples and all(example.passed for example in examples) else EXIT_FAILED
