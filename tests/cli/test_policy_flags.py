"""The flags that decide how much a run may do."""

import argparse

import pytest

from tejat.cli.policy_flags import add_policy_flags, policy_flags
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.modes import ApprovalMode


def parsed(*words: str) -> PolicyOptions:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_policy_flags(parser)
    return policy_flags(parser.parse_args(words))


def test_nothing_given() -> None:
    assert parsed() == PolicyOptions(roots=(".",), allowed_tools=(), mode=None)


def test_everything_given() -> None:
    lists = ("--allowed-tools", "x,y", "--allowed-tools", "ShellTool(z)")
    assert parsed("--root", "a", *lists, "--root", "b", "--approval-mode", "plan") == PolicyOptions(
        ("a", "b"), ("x,y", "ShellTool(z)"), "plan"
    )


def test_the_modes_are_those_of_the_policy() -> None:
    assert [parsed("--approval-mode", mode).mode for mode in ApprovalMode] == list(ApprovalMode)
    with pytest.raises(argparse.ArgumentError, match="invalid choice: 'autoEdit'"):
        parsed("--approval-mode", "autoEdit")
