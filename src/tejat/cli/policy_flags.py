"""Flags for approvals and the sandbox, shared by subcommands."""

import argparse

from tejat.cli.command_parser import directory_argument
from tejat.cli.flags import SANDBOX_WORDS
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import _


def add_policy_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--root`, `--allowed-tools`, `--approval-mode`, `--policy` and `--admin-policy`."""
    parser.add_argument(
        "--root",
        action="append",
        type=directory_argument,
        metavar="DIR",
        help=_("a directory the tools may access; may be repeated (default: .)"),
    )
    parser.add_argument(
        "--allowed-tools",
        action="append",
        metavar="LIST",
        help=_("tools that need no approval, for example read_file,run_shell_command(git log)"),
    )
    parser.add_argument(
        "--approval-mode",
        choices=[mode.value for mode in ApprovalMode],
        metavar="MODE",
        help=_("default, auto_edit, plan or yolo"),
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="PATHS",
        help=_("policy files or directories, instead of ~/.gemini/policies"),
    )
    parser.add_argument(
        "--admin-policy",
        action="append",
        metavar="PATHS",
        help=_("policy files or directories with administrator precedence"),
    )


def add_sandbox_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--sandbox`."""
    parser.add_argument(
        "--sandbox",
        choices=SANDBOX_WORDS,
        metavar="WORD",
        help=_("the sandbox for commands: auto, required, off, docker, podman or runsc"),
    )


def policy_flags(options: argparse.Namespace) -> PolicyOptions:
    """The values of these flags."""
    return PolicyOptions(
        tuple(options.root or ["."]),
        tuple(options.allowed_tools or ()),
        options.approval_mode,
        _split_paths(options.policy),
        _split_paths(options.admin_policy),
    )


def _split_paths(given: list[str] | None) -> tuple[str, ...]:
    return tuple(path.strip() for paths in given or () for path in paths.split(",") if path.strip())
