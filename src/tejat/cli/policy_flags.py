"""The flags that decide how much a run may do, the same for every command that makes or explains calls."""

import argparse

from tejat.core.explain import MODES, PolicyFlags
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.words import say


def add_policy_flags(parser: argparse.ArgumentParser) -> None:
    """Let `--root`, `--allowed-tools` and `--approval-mode` be given."""
    parser.add_argument(
        "--root", action="append", metavar="DIR", help=say("a directory the tools may touch (default: .)")
    )
    parser.add_argument(
        "--allowed-tools",
        action="append",
        metavar="LIST",
        help=say("tools that need no confirmation, like read_file,run_shell_command(git log)"),
    )
    parser.add_argument("--approval-mode", choices=MODES, help=say("how much is done without asking"))


def add_sandbox_flag(parser: argparse.ArgumentParser) -> None:
    """Let `--sandbox` be given."""
    parser.add_argument(
        "--sandbox",
        choices=[wish.value for wish in SandboxWish],
        help=say("lock commands in where that is possible (auto), run none without it (required), or not at all (off)"),
    )


def policy_flags(options: argparse.Namespace) -> PolicyFlags:
    """What was given of those flags."""
    return PolicyFlags(tuple(options.root or ["."]), tuple(options.allowed_tools or ()), options.approval_mode)
