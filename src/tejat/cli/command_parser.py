"""Argument parser of the subcommands."""

import argparse
from typing import Any

from tejat import __version__
from tejat.core.i18n import _


class CommandParser(argparse.ArgumentParser):
    """Parser of one subcommand, with `--debug` and `--version`. Takes the arguments of ArgumentParser."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        debug_help = _("write details to the log, and show where an internal error happened")
        self.add_argument("-d", "--debug", action=_EnableDebug, help=debug_help)
        version_help = _("show the version")
        self.add_argument("-v", "-V", "--version", action="version", version=f"tejat {__version__}", help=version_help)


class _EnableDebug(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **settings)

    def __call__(self, *_: object) -> None:
        from tejat.core.log import enable_debug

        enable_debug()
