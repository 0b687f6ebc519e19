"""The flags that decide how much a run may do."""

import argparse

import pytest

from tejat.cli.policy_flags import MODES, add_policy_flags, policy_flags
from tejat.core.explain import PolicyFlags
from tejat.policy.rules import Mode


def parsed(*words: str) -> PolicyFlags:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_policy_flags(parser)
    return policy_flags(parser.parse_args(words))


def test_nothing_given() -> None:
    assert parsed() == PolicyFlags(roots=(".",), allowed_tools=(), mode=None)


def test_everything_given() -> None:
    lists = ("--allowed-tools", "x,y", "--allowed-tools", "ShellTool(z)")
    assert parsed("--root", "a", *lists, "--root", "b", "--approval-mode", "plan") == PolicyFlags(
        ("a", "b"), ("x,y", "ShellTool(z)"), "plan"
    )


def test_the_modes_are_those_of_the_policy() -> None:
    assert list(MODES) == list(Mode)
    assert [parsed("--approval-mode", mode).mode for mode in MODES] == list(Mode)
    with pytest.raises(argparse.ArgumentError, match="invalid choice: 'autoEdit'"):
        parsed("--approval-mode", "autoEdit")
