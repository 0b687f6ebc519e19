"""Argument parser of the subcommands."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tejat import __version__
from tejat.cli.help.page import HelpPage, HelpRow, HelpSection, format_page, format_usage, terminal_width
from tejat.cli.help.suggestions import did_you_mean
from tejat.cli.messages import print_error
from tejat.core.exit_codes import EXIT_USAGE
from tejat.core.i18n import _

Rows = Sequence[tuple[str, str]]


class CommandParser(argparse.ArgumentParser):
    """Parser of one subcommand, with `--help`, `--debug` and `--version`.

    `description` and `notes` are paragraphs. `actions` are the words that may follow the subcommand, `examples` are
    command lines and `exit_codes` numbers, each with its meaning. An unknown flag, action or value is an error that
    suggests the closest known one; the program ends with exit code 2.
    """

    def __init__(
        self,
        prog: str,
        description: str,
        *,
        usages: Sequence[str] = (),
        actions: Rows = (),
        notes: str = "",
        examples: Rows = (),
        exit_codes: Rows = (),
    ) -> None:
        super().__init__(prog=prog, description=description, add_help=False, allow_abbrev=False)
        self._usages = tuple(usages)
        self.action_rows = tuple(HelpRow(*row) for row in actions)
        self._notes = notes
        self._examples = tuple(HelpRow(*row) for row in examples)
        self._exit_codes = tuple(HelpRow(*row) for row in exit_codes)
        debug_help = _("write details to the log, and show tracebacks of internal errors")
        self._common = (
            self.add_argument("-d", "--debug", action=_EnableDebug, help=debug_help),
            self.add_argument("-h", "--help", action="help", help=_("show this help")),
            self.add_argument(
                "-v", "-V", "--version", action="version", version=f"tejat {__version__}", help=_("show the version")
            ),
        )

    @property
    def flag_actions(self) -> list[argparse.Action]:
        """The flags, the common ones last."""
        own = [action for action in self._actions if action not in self._common]
        return [action for action in (*own, *self._common) if action.option_strings and _is_shown(action)]

    def page(self) -> HelpPage:
        """The help of this subcommand."""
        arguments = [_to_row(action) for action in self._actions if not action.option_strings and _is_shown(action)]
        sections = (
            HelpSection(_("commands"), self.action_rows),
            HelpSection(_("arguments"), tuple(arguments)),
            HelpSection(_("options"), tuple(map(_to_row, self.flag_actions))),
        )
        return HelpPage(
            self.prog,
            self._usages or (self._default_usage(),),
            self.description or "",
            tuple(section for section in sections if section.rows),
            self._notes,
            self._examples,
            self._exit_codes,
        )

    def _default_usage(self) -> str:
        arguments = [_label(action) for action in self._actions if not action.option_strings]
        return " ".join([self.prog, _("[options]"), *arguments])

    def format_help(self) -> str:
        return format_page(self.page(), terminal_width())

    def format_usage(self) -> str:
        return format_usage(self.page().usages) + "\n"

    def parse_args(self, args: Sequence[str], namespace: Any = None) -> argparse.Namespace:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._reject_unknown_flags(args)
        options, unknown = self.parse_known_args(args, namespace)
        return self._require_known(options, unknown)

    def parse_intermixed_args(self, args: Sequence[str], namespace: Any = None) -> argparse.Namespace:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._reject_unknown_flags(args)
        options, unknown = self.parse_known_intermixed_args(args, namespace)
        return self._require_known(options, unknown)

    def _reject_unknown_flags(self, words: Sequence[str]) -> None:
        """End the program for an unknown flag before missing arguments are reported."""
        known = {name for action in self._actions for name in action.option_strings}
        for word in words:
            if word == "--":
                return
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known and " " not in flag:
                self.error(self._unknown_flag(flag))

    def _unknown_flag(self, flag: str) -> str:
        names = [name for action in self.flag_actions for name in action.option_strings]
        message = _("Unknown option {flag} for `{command}`.", flag=flag, command=self.prog)
        return message + did_you_mean(flag, names)

    def _require_known(self, options: argparse.Namespace, unknown: Sequence[str]) -> argparse.Namespace:
        """Return the options, or end the program if there are unknown words."""
        if unknown:
            word = next((word for word in unknown if word.startswith("-")), unknown[0])
            is_flag = word.startswith("-")
            self.error(self._unknown_flag(word) if is_flag else _("Unexpected argument {word!r}.", word=word))
        return options

    def reject_words(self, words: Sequence[str]) -> int:
        """Report words that are no action with its arguments, and return the exit code."""
        known = [row.label for row in self.action_rows]
        if not words:
            return self._report(_("Missing command. Use one of: {commands}.", commands=", ".join(known)))
        if words[0] in known:
            return self._report(_("Wrong arguments for `{command} {action}`.", command=self.prog, action=words[0]))
        message = _("Unknown command `{command} {word}`.", command=self.prog, word=words[0])
        hint = did_you_mean(words[0], known) or " " + _("Use one of: {commands}.", commands=", ".join(known))
        return self._report(message + hint)

    def reject_moved(self, action: str, command: str) -> int:
        """Report an action that is a command of its own now, and return the exit code."""
        message = _("Unknown command `{command} {word}`.", command=self.prog, word=action)
        return self._report(message + " " + _("Use `{command}`.", command=command))

    def error(self, message: str) -> NoReturn:
        """End the program with a message about bad usage."""
        self.exit(self._report(message))

    def _report(self, message: str) -> int:
        print_error(message)
        print(_("Run `{command} --help` for usage.", command=self.prog), file=sys.stderr)
        return EXIT_USAGE

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            message = _("must be one of {known}, not {word!r}.", known=", ".join(known), word=value)
            raise argparse.ArgumentError(action, message + did_you_mean(str(value), known))


def directory_argument(text: str) -> str:
    """A directory on the command line, for `type=`. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError(_("is empty. Use . for the current directory"))
    return text


class _EnableDebug(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **settings)

    def __call__(self, *_: object) -> None:
        from tejat.core.log import enable_debug

        enable_debug()


def _is_shown(action: argparse.Action) -> bool:
    return action.help not in (None, argparse.SUPPRESS)


def _to_row(action: argparse.Action) -> HelpRow:
    names = [name for name in action.option_strings if name != "-V"]
    label = ", ".join(names)
    if not names:
        return HelpRow(_metavar(action), action.help or "")
    if action.nargs == 0:
        return HelpRow(label, action.help or "")
    value = _metavar(action)
    return HelpRow(f"{label} [{value}]" if action.nargs == "?" else f"{label} {value}", action.help or "")


def _label(action: argparse.Action) -> str:
    """A positional argument in the usage line."""
    value = _metavar(action)
    return {"?": f"[{value}]", "*": f"[{value} ...]"}.get(str(action.nargs), value)


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
