"""`tejat skills validate`."""

import os
from typing import TYPE_CHECKING

from tejat.app.skills.validation import SkillCheck, validate_skill
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import one_line
from tejat.cli.skills.runtime import exit_codes
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject

if TYPE_CHECKING:
    from tejat.app.inspection.examples.player import ExampleResult


def run(command: str, words: list[str]) -> int:
    """Check a skill and return the exit code."""
    options = make_parser(command).parse_args(words)
    check = validate_skill(os.path.abspath(os.path.expanduser(options.path)))
    examples = _play_examples(check) if options.run else []
    if options.output_format == "json":
        played = {"examples": [each.to_json() for each in examples]} if options.run else {}
        print(dump_json({**_to_json(check), **played}, indent=2))
    else:
        _print(check)
        if options.run and check.fields is not None:
            from tejat.cli.example_output import print_examples

            print_examples(examples, check.directory)
    is_played = bool(examples) and all(each.passed for each in examples)
    return EXIT_FAILED if check.errors or (options.run and not is_played) else EXIT_OK


def _play_examples(check: SkillCheck) -> "list[ExampleResult]":
    # Imported late: the checks need no session.
    from tejat.app.inspection.examples.player import play_skill_examples

    return [] if check.fields is None else play_skill_examples(check.fields.name, check.directory)


def _print(check: SkillCheck) -> None:
    for label, texts in ((_("error"), check.errors), (_("warning"), check.warnings)):
        for text in texts:
            print(f"{label}: {one_line(text)}")
    if not check.errors:
        tokens = 0 if check.fields is None else check.fields.body_tokens
        print(
            _(
                "Skill {path} has been successfully validated (about {tokens} tokens).",
                path=one_line(check.directory),
                tokens=f"{tokens:,}",
            )
        )


def _to_json(check: SkillCheck) -> JsonObject:
    return {
        "path": check.directory,
        "name": None if check.fields is None else check.fields.name,
        "errors": check.errors,
        "warnings": check.warnings,
    }


def make_parser(command: str) -> CommandParser:
    """The parser of `tejat skills validate`."""
    parser = CommandParser(
        f"tejat skills {command}",
        _(
            "Check a skill for mistakes: front matter, names, references, scripts, keys, tokens. With --run, its "
            "examples are played in a temporary project. No program of it is run."
        ),
        usages=("tejat skills validate PATH [--run] [-o json]",),
        exit_codes=(("0", _("no errors")), ("1", _("errors, or an example failed")), *exit_codes()[2:]),
    )
    parser.add_argument("path", metavar="PATH", help=_("the directory of a skill, or its SKILL.md"))
    parser.add_argument("--run", action="store_true", help=_("play the examples of the skill (tests/*.toml)"))
    parser.add_argument(
        "-o", "--output-format", choices=["text", "json"], default="text", help=_("format of the output")
    )
    return parser
