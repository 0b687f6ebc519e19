"""`tejat policy`: explain decisions, list, revoke and test rules."""

import argparse
import sys
from collections.abc import Callable, Sequence

from tejat.app.inspection.openers import open_policy
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import one_line, print_errors, print_usage_error
from tejat.cli.policy_flags import add_policy_flags, policy_flags
from tejat.cli.tools.arguments import parse_arguments
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.policy_report import PolicyCaseResult, RuleListing, describe_mode
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _, translate
from tejat.core.json_text import dump_json
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.style import Style


def run(words: list[str]) -> int:
    """Run `tejat policy` and return the exit code."""
    match words:
        case [("explain" | "list" | "revoke" | "test") as command, *rest]:
            parser, act = _COMMANDS[command]
            options = parser().parse_intermixed_args(rest)
            try:
                return act(options)
            except UsageError as error:
                return print_usage_error(error)
        case _:
            parser = make_parser()
            return parser.reject_words(parser.parse_args(words).words)


def make_parser() -> CommandParser:
    """The parser of `tejat policy`."""
    parser = CommandParser(
        "tejat policy",
        _(
            "Explain what would happen to a tool call, list the rules, revoke saved ones, and test them. "
            "`tejat policy COMMAND --help` shows the options of a command."
        ),
        usages=(
            "tejat policy explain TOOL [JSON | KEY=VALUE ...] [--subagent NAME] [--json]",
            "tejat policy list [--json]",
            "tejat policy revoke ID | --all",
            "tejat policy test FILE",
        ),
        actions=(
            ("explain", _("explain whether a call is allowed, denied or asked about")),
            ("list", _("list every rule and its source")),
            ("revoke", _("revoke saved rules")),
            ("test", _("check the rules against a file of cases")),
        ),
        examples=(("tejat policy explain run_shell_command command='git push'", ""),),
    )
    parser.add_argument("words", nargs="*")
    return parser


def make_action_parsers() -> dict[str, CommandParser]:
    """The parsers of the commands of `tejat policy`."""
    return {name: make() for name, (make, _act) in _COMMANDS.items()}


def _explain(options: argparse.Namespace) -> int:
    with open_policy(policy_flags(options)) as policy:
        arguments = parse_arguments(options.arguments, lambda name: policy.argument_type(options.tool, name))
        explanation = policy.decide(options.tool, arguments, subagent=options.subagent or "")
    if options.json:
        print(dump_json(explanation.to_json()))
        return EXIT_OK
    print(f"{Style(sys.stdout).bold(explanation.decision)}: {one_line(explanation.reason)}")
    rule = explanation.rule or _("none matches")
    print(_("  rule:   {rule}", rule=one_line(rule)))
    print(_("  source: {source}", source=one_line(explanation.source)))
    print(_("  mode:   {mode}", mode=one_line(describe_mode(explanation.mode, explanation.mode_source))))
    _print_tree(_("commands in the line:"), explanation.commands)
    _print_tree(_("scripts of skills in the line:"), explanation.scripts)
    _print_tree(_("not a plain command line:"), explanation.doubts)
    return EXIT_OK


def _list(options: argparse.Namespace) -> int:
    with open_policy(policy_flags(options)) as policy:
        rules, problems, (mode, mode_source) = policy.rules(), policy.problems(), policy.mode
    if options.json:
        listed = [rule.to_json() for rule in rules]
        print(dump_json({"mode": mode, "mode_source": mode_source, "rules": listed, "problems": problems}, indent=2))
        return EXIT_OK
    print(_("mode: {mode}", mode=one_line(describe_mode(mode, mode_source))))
    for tier in dict.fromkeys(rule.tier for rule in rules):
        _print_rules(tier, [rule for rule in rules if rule.tier == tier])
    print_errors(problems)
    return EXIT_OK


def _revoke(options: argparse.Namespace) -> int:
    if options.all == (options.id is not None):
        raise UsageError(_("Give the id of a saved rule, or --all. List the ids with `tejat policy list`."))
    with open_policy(PolicyOptions()) as policy:
        revoked = policy.revoke_all() if options.all else [policy.revoke(options.id)]
    for text in revoked:
        print(_("revoked: {rule}", rule=sanitize_text(text)))
    if not revoked:
        print(_("Nothing to revoke."))
    return EXIT_OK


def _test(options: argparse.Namespace) -> int:
    try:
        text = read_config_file(options.file, writers=AllowedWriters.ANYONE)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None
    if text is None:
        raise UsageError(_("File not found: {file}", file=options.file))
    with open_policy(policy_flags(options)) as policy:
        cases = policy.check(text, options.file)
    if not cases:
        raise UsageError(_("{file} has no [[case]] table. Nothing to test.", file=options.file))
    failed = [case for case in cases if not case.passed]
    for case in failed:
        _print_failure(case)
    print(_("{passed} of {all} cases passed", passed=len(cases) - len(failed), all=len(cases)))
    return EXIT_FAILED if failed else EXIT_OK


def _print_rules(tier: str, rules: Sequence[RuleListing]) -> None:
    print(Style(sys.stdout).bold(translate(tier)))
    width = max(len(one_line(rule.text)) for rule in rules)
    for rule in rules:
        text = one_line(rule.text).ljust(min(width, _TEXT_WIDTH))
        print(f"  {rule.id or '':8}  {text}  {one_line(rule.source)}")
        for text in filter(None, (rule.description, rule.remark)):
            print(f"  {'':8}  └─ {one_line(text)}")


def _print_failure(case: PolicyCaseResult) -> None:
    label, found = Style(sys.stdout).bold(_("failed")), case.actual
    print(f"{label}: {one_line(case.source)}: {one_line(case.call)}")
    by = _("by {rule} ({source})", rule=found.rule or _("no rule"), source=found.source)
    _print_tree("", (case.expected, by, *found.doubts))


def _print_tree(title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        print(f"  {title}")
    for number, line in enumerate(lines, 1):
        branch, stem = ("└─", "  ") if number == len(lines) else ("├─", "│ ")
        first, *rest = sanitize_text(translate(line)).split("\n")
        print(f"  {branch} {first}")
        for further in rest:
            print(f"  {stem} {further}")


def _explain_parser() -> CommandParser:
    parser = CommandParser(
        "tejat policy explain",
        _("Explain whether a tool call would be allowed, denied or asked about, by which rule and why."),
        examples=(("tejat policy explain run_shell_command command='git push'", ""),),
    )
    parser.add_argument("tool", metavar="TOOL", help=_("the tool"))
    parser.add_argument("arguments", nargs="*", metavar="JSON | KEY=VALUE", help=_("its arguments"))
    parser.add_argument("--subagent", metavar="NAME", help=_("decide the call as one of this sub-agent"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON object"))
    add_policy_flags(parser)
    return parser


def _list_parser() -> CommandParser:
    parser = CommandParser(
        "tejat policy list", _("List every rule with its source, and saved rules with the id to revoke them.")
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON object"))
    add_policy_flags(parser)
    return parser


def _revoke_parser() -> CommandParser:
    parser = CommandParser("tejat policy revoke", _('Revoke rules that were saved when you answered "always".'))
    parser.add_argument("id", nargs="?", metavar="ID", help=_("the id that `tejat policy list` shows"))
    parser.add_argument("--all", action="store_true", help=_("revoke all of them"))
    return parser


def _test_parser() -> CommandParser:
    parser = CommandParser(
        "tejat policy test",
        _("Check the rules against a file of cases:")
        + '\n\n  [[case]]\n  tool = "run_shell_command"\n  command = "git push"\n  expect = "deny"',
        exit_codes=(
            ("0", _("all cases passed")),
            ("1", _("some cases failed")),
            ("2", _("bad usage")),
            ("52", _("a policy or settings file has errors")),
        ),
    )
    parser.add_argument("file", metavar="FILE", help=_("a TOML file"))
    add_policy_flags(parser)
    return parser


_TEXT_WIDTH = 60
_COMMANDS: dict[str, tuple[Callable[[], CommandParser], Callable[[argparse.Namespace], int]]] = {
    "explain": (_explain_parser, _explain),
    "list": (_list_parser, _list),
    "revoke": (_revoke_parser, _revoke),
    "test": (_test_parser, _test),
}
