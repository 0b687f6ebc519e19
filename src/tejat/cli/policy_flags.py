"""Flags for approvals and the sandbox, shared by subcommands."""

import argparse

from tejat.core.approval.modes import ApprovalMode, SandboxMode
from tejat.core.approval.policy_report import PolicyOptions
from tejat.core.i18n import _


def add_policy_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--root`, `--allowed-tools` and `--approval-mode`."""
    parser.add_argument(
        "--root", action="append", metavar="DIR", help=_("a directory the tools may touch (default: .)")
    )
    parser.add_argument(
        "--allowed-tools",
        action="append",
        metavar="LIST",
        help=_("tools that need no confirmation, like read_file,run_shell_command(git log)"),
    )
    parser.add_argument(
        "--approval-mode", choices=[mode.value for mode in ApprovalMode], help=_("how much is done without asking")
    )


def add_sandbox_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--sandbox`."""
    parser.add_argument(
        "--sandbox",
        choices=[mode.value for mode in SandboxMode],
        help=_("lock commands in where that is possible (auto), run none without it (required), or not at all (off)"),
    )


def policy_flags(options: argparse.Namespace) -> PolicyOptions:
    """The values of these flags."""
    return PolicyOptions(tuple(options.root or ["."]), tuple(options.allowed_tools or ()), options.approval_mode)
