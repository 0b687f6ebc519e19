"""The flags of a run with a model, read and checked against each other."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from tejat.cli.policy_flags import MODES, add_sandbox_flag
from tejat.core.agent_options import AgentOptions
from tejat.core.errors import UsageError

FORMATS = ("text", "json", "stream-json")


class BadArguments(UsageError):
    """The words on the command line cannot be meant, or not together."""


def read_options(words: Sequence[str]) -> argparse.Namespace:
    """Raises BadArguments."""
    options = _parser().parse_args(list(words))
    if options.prompt is not None and options.prompt_interactive is not None:
        raise BadArguments("Cannot use both --prompt (-p) and --prompt-interactive (-i) together")
    if options.words and (options.prompt is not None or options.prompt_interactive is not None):
        flag = "--prompt (-p)" if options.prompt is not None else "--prompt-interactive (-i)"
        raise BadArguments(f"Cannot use both a positional prompt and the {flag} flag together")
    if options.yolo and options.approval_mode:
        raise BadArguments(
            "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead."
        )
    if options.record and options.replay:
        raise BadArguments("Cannot use both --record and --replay together")
    if options.words:
        options.prompt = " ".join(options.words)
    return options


def agent_options(options: argparse.Namespace) -> AgentOptions:
    included = _split(options.include_directories)
    return AgentOptions(
        directories=(".", *included),
        model=options.model,
        mode="yolo" if options.yolo else options.approval_mode,
        allowed_tools=tuple(options.allowed_tools),
        excluded_tools=tuple(_split(options.exclude_tools)),
        sandbox=options.sandbox,
        trusts_folder=options.trust,
        resume=options.resume,
        session_id=options.session_id,
        max_turns=options.max_turns,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
        timeout=options.timeout,
        record=options.record,
        replay=options.replay,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadArguments(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tejat", add_help=False, allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-p", "--prompt")
    parser.add_argument("-i", "--prompt-interactive")
    parser.add_argument("-m", "--model")
    parser.add_argument("-o", "--output-format", choices=FORMATS, default="text")
    _add_permissions(parser)
    _add_limits(parser)
    parser.add_argument("--include-directories", action="append", default=[])
    parser.add_argument("-r", "--resume", nargs="?", const="latest")
    parser.add_argument("--session-id")
    parser.add_argument("--list-sessions", action="store_true")
    parser.add_argument("--delete-session")
    parser.add_argument("--record")
    parser.add_argument("--replay")
    parser.add_argument("-d", "--debug", action="store_true")
    return parser


def _add_permissions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yolo", action="store_true")
    parser.add_argument("--approval-mode", choices=MODES)
    parser.add_argument("--allowed-tools", action="append", default=[])
    parser.add_argument("--exclude-tools", action="append", default=[])
    parser.add_argument("-s", dest="sandbox", action="store_const", const="required")
    add_sandbox_flag(parser)
    parser.add_argument("--trust", "--skip-trust", action="store_true")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-turns", type=_whole_number)
    parser.add_argument("--max-tokens", type=_whole_number)
    parser.add_argument("--max-cost", type=_amount)
    parser.add_argument("--timeout", type=_amount)


def _whole_number(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, but is {word!r}")
    return number


def _amount(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, but is {word!r}")
    return number


def _split(values: Sequence[str]) -> list[str]:
    """Comma lists and repeated flags alike."""
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]
