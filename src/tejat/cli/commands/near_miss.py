"""The question about a prompt that looks like a misspelled subcommand."""

import sys
from collections.abc import Sequence

from tejat.cli.main import dispatch
from tejat.cli.run import report_input_error
from tejat.cli.subcommands import is_action, prompt_command
from tejat.core.exit_codes import EXIT_INPUT
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line


def ask_or_refuse(commands: Sequence[str], prompt: Sequence[str], words: Sequence[str]) -> int | None:
    """Ask at a terminal, else refuse. Return the exit code, None if the prompt is to be sent.

    `commands` are the subcommands that may be meant, `words` the whole command line.
    """
    if sys.stdin.isatty() and sys.stderr.isatty():
        return _ask(commands, prompt)
    names = _(" or ").join(f'"{command}"' for command in commands)
    message = _('"{word}" is close to the command {names}.', word=prompt[0], names=names)
    if prompt[0] in commands:
        message = _('"{word}" is a command only as the first word.', word=prompt[0])
    hint = _("To send it to the model: {command}", command=prompt_command(prompt))
    return report_input_error(f"{message} {hint}", words)


def _ask(commands: Sequence[str], prompt: Sequence[str]) -> int | None:
    """Offer to run a subcommand, to send the prompt or to quit."""
    rest = list(prompt[1:])
    is_clear = len(commands) == 1 and (not rest or is_action(commands[0], rest[0]))
    options = [_("run: {command}", command=sanitize_line(" ".join(["tejat", each, *rest]))) for each in commands]
    options += [_("send it as a prompt"), _("quit")]
    print(_('"{word}" looks like a command.', word=prompt[0]), file=sys.stderr)
    for number, option in enumerate(options, 1):
        print(f"  {number} {option}", file=sys.stderr)
    question = _("Your choice, 1 to {most}", most=len(options)) + (" [1]: " if is_clear else ": ")
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        answer = line.strip() or ("1" if is_clear and line else "")
        if not line:
            print(file=sys.stderr)
            return EXIT_INPUT
        if answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= len(options):
            break
        print(_("Type a number from 1 to {most}.", most=len(options)), file=sys.stderr)
    chosen = int(answer) - 1
    if chosen < len(commands):
        return dispatch([commands[chosen], *rest])
    return None if chosen == len(commands) else EXIT_INPUT
