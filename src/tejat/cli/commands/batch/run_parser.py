"""The flags of `tejat batch run`."""

import argparse

from tejat.batch.engines.registry import ENGINES
from tejat.batch.rates import parse_rate
from tejat.cli.command_parser import CommandParser
from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import _

SANDBOXES = ("required", "auto", "off", "docker", "podman", "runsc")


def make_parser() -> CommandParser:
    """The parser of `tejat batch run`."""
    parser = CommandParser(
        "tejat batch run",
        _(
            "Run every task without a terminal, in its own copy of the repository and in a sandbox. Results go to "
            "DIR/results.jsonl, patches and transcripts to DIR/tasks. Run the same command again to continue a batch "
            "that was stopped. Your repositories are only read."
        ),
        usages=(
            "tejat batch run TASKS --out DIR [options]",
            "tejat batch run --each GLOB -p PROMPT --out DIR [options]",
        ),
        notes=_(
            "TASKS is a .jsonl, .toml or .csv file with one task per line or table: id, repo, prompt, and optionally "
            "commit, model, check, timeout, max_cost, max_tokens, max_turns, allowed_tools, vars and more. Flags are "
            "defaults for tasks that do not say otherwise. {placeholder} in a prompt or check is replaced by a "
            "variable.",
            placeholder="{{name}}",
        ),
        examples=(
            ("tejat batch run tasks.jsonl --out out --jobs 4 --max-cost 20", ""),
            ("tejat batch run --each 'src/*' -p 'Port {{name}} to pytest.' --check 'pytest -q' --out out", ""),
            ("tejat batch run tasks.jsonl --out out --redo error", _("run the tasks with errors again")),
        ),
        exit_codes=(
            ("0", _("all tasks passed")),
            ("1", _("at least one task failed or had an error, or the batch could not go on")),
            ("2", _("bad usage")),
            ("42", _("the tasks, the directory or the engine cannot be used")),
            ("53", _("a limit of the batch was reached")),
            ("130", _("interrupted; run the same command to continue")),
        ),
    )
    parser.add_argument("tasks", nargs="?", metavar="TASKS", help=_("the task file"))
    parser.add_argument(
        "--out", required=True, metavar="DIR", help=_("the directory of the batch; new, or one to continue")
    )
    _add_task_flags(parser)
    _add_batch_flags(parser)
    return parser


def _add_task_flags(parser: CommandParser) -> None:
    """Flags that are defaults of tasks."""
    add = parser.add_argument
    add("--each", metavar="GLOB", help=_("run one prompt in every git repository that matches"))
    add("-p", "--prompt", default="", metavar="TEXT", help=_("the prompt of tasks without one; may contain variables"))
    add("-m", "--model", metavar="NAME", help=_("the model"))
    add("--commit", default="", metavar="COMMIT", help=_("the commit, branch or tag (default: HEAD)"))
    add("--check", default="", metavar="COMMAND", help=_("the command that decides success, run in the sandbox"))
    add("--check-timeout", type=_positive, default=600.0, metavar="SECONDS", help=_("its time limit (default: 600)"))
    add("--task-timeout", type=_positive, metavar="SECONDS", help=_("time limit of each run"))
    add("--task-max-cost", type=_positive, metavar="DOLLARS", help=_("cost limit of each task"))
    add("--task-max-tokens", type=_positive_int, metavar="N", help=_("token limit of each task"))
    add("--task-max-turns", type=_positive_int, metavar="N", help=_("turn limit of each task"))
    add("--allowed-tools", action="append", default=[], metavar="LIST", help=_("tools that need no approval"))
    add("--exclude-tools", action="append", default=[], metavar="LIST", help=_("tools to disable"))
    add(
        "--approval-mode",
        choices=[mode.value for mode in ApprovalMode],
        default=ApprovalMode.AUTO_EDIT.value,
        metavar="MODE",
        help=_("default, auto_edit, yolo or plan (default: auto_edit)"),
    )
    add(
        "--sandbox",
        choices=SANDBOXES,
        default="required",
        metavar="WORD",
        help=_("required, auto, off, docker, podman or runsc (default: required)"),
    )
    add("--trust", action="store_true", help=_("use the configuration in the repositories"))
    add("--allow-dirty", action="store_true", help=_("run on the last commit of repositories with uncommitted changes"))
    add("--allow-no-changes", action="store_true", help=_("let a task without a check pass if it changed nothing"))


def _add_batch_flags(parser: CommandParser) -> None:
    """Flags of the batch as a whole."""
    add = parser.add_argument
    add("-j", "--jobs", type=_positive_int, metavar="N", help=_("tasks at once (default: one per processor)"))
    add("--max-cost", type=_positive, metavar="DOLLARS", help=_("cost limit of the batch"))
    add("--max-tokens", type=_positive_int, metavar="N", help=_("token limit of the batch"))
    add("--max-time", type=_positive, metavar="SECONDS", help=_("time limit of the batch"))
    add("--max-failures", type=_positive_int, metavar="N", help=_("stop after N tasks in a row that did not pass"))
    add(
        "--rate",
        type=_rate,
        action="append",
        default=[],
        metavar="SERVICE=N/min",
        help=_("requests to a service, shared by all tasks; repeatable"),
    )
    add("--retries", type=_count, default=2, metavar="N", help=_("retries after failures of a service (default: 2)"))
    add("--redo", action="append", default=[], metavar="WHAT", help=_("run again: failed, error, all, or ids of tasks"))
    add("--shard", type=_shard, metavar="I/N", help=_("run only the tasks of shard I of N, counted from 0"))
    add("--keep-trees", action="store_true", help=_("keep the working copies"))
    add("--engine", choices=tuple(ENGINES), default="local", metavar="NAME", help=_("local (default) or ray"))
    add("--address", default="", metavar="ADDRESS", help=_("the address of a Ray cluster"))
    add(
        "--resource",
        type=_resource,
        action="append",
        default=[],
        metavar="NAME=N",
        help=_("what a task needs of a Ray node, such as CPU=2; repeatable"),
    )
    add(
        "--pass-env",
        action="append",
        default=[],
        metavar="NAME",
        help=_("a variable that Ray nodes get too, besides the keys of model services; repeatable"),
    )
    add("--shared", action="store_true", help=_("all nodes of the cluster see DIR under the same path"))
    add(
        *("-o", "--output-format"),
        choices=("text", "stream-json"),
        default="text",
        metavar="FORMAT",
        help=_("text or stream-json: one JSON object per event on standard output"),
    )


def _positive(text: str) -> float:
    """Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(_("give a number above 0, not {word!r}", word=text))
    return value


def _positive_int(text: str) -> int:
    """Raises ArgumentTypeError."""
    value = _count(text)
    if value == 0:
        raise argparse.ArgumentTypeError(_("give a whole number above 0, not {word!r}", word=text))
    return value


def _count(text: str) -> int:
    """Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise argparse.ArgumentTypeError(_("give a whole number, not {word!r}", word=text))
    return int(text)


def _shard(text: str) -> tuple[int, int]:
    """Raises ArgumentTypeError."""
    index, slash, count = text.partition("/")
    is_number = index.isascii() and index.isdigit() and count.isascii() and count.isdigit()
    if not slash or not is_number or not int(index) < int(count):
        raise argparse.ArgumentTypeError(_("give I/N with I from 0 to N-1, such as 0/4, not {word!r}", word=text))
    return int(index), int(count)


def _resource(text: str) -> tuple[str, float]:
    """Raises ArgumentTypeError."""
    name, _equals, amount = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError(_("give NAME=N, such as CPU=2, not {word!r}", word=text))
    return name, _positive(amount)


def _rate(text: str) -> tuple[str, float]:
    """Raises ArgumentTypeError."""
    try:
        return parse_rate(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
