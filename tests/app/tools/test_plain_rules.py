"""Rules that need no loading at the start: a run starts the same way whether they are known or not."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.tools.plain_rules import digest_of_files
from tejat.app.tools.toolset import Toolset, open_toolset
from tejat.config.policy_files import PolicyFile, read_policy_files
from tejat.core.agent.options import PolicyOptions
from tejat.core.errors import ErrorType, UsageError
from tejat.core.messages.types import FunctionCall
from tejat.policy.types import PolicyRule

DENIES_RM = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "rm"\ndecision = "deny"\npriority = 1\n'
CONDITIONS = (
    *('commandPrefix = "rm"', 'commandRegex = "tool\\\\s+--force"', 'argsPattern = "secret"', 'path = "src/**"'),
    *('toolName = "run_shell_command"', 'toolName = "glob"', 'toolName = "*"', 'toolName = "read_*"'),
    *('toolName = "nothing"', 'mcpName = "server"', 'modes = ["plan"]', 'modes = ["yolo"]', "interactive = true"),
    *("toolAnnotations = {readOnlyHint = true}", 'skill = "lint"', 'subagent = "helper"', 'project = "/nowhere"'),
    *('match = ["rm a"]', "priority = 1000", 'unknown = "x"'),
)


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@dataclass(frozen=True)
class Start:
    """What a run shows at its start, and the rules by which it then judges calls."""

    notes: tuple[str, ...]
    declared: tuple[str, ...]
    error: str = ""
    rules: tuple[PolicyRule, ...] = ()


def write_rules(machine: ProgramEnv, text: str) -> None:
    path = machine.home / ".gemini" / "policies" / "a.toml"
    path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    path.write_text(text)


def record(machine: ProgramEnv) -> Path:
    return machine.home / ".local" / "state" / "tejat" / "plain-rules.json"


def start(machine: ProgramEnv, mode: str | None = None) -> Start:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    try:
        with open_toolset(run_config, None, policy=PolicyOptions(mode=mode), sandbox="off") as toolset:
            declared = tuple(declaration.name for declaration in toolset.declarations())
            rules = toolset.start_scheduler().permission.policy.rules
            return Start(toolset.notes, declared, rules=tuple(rules))
    except UsageError as error:
        return Start((), (), str(error))


def loads_at_start(machine: ProgramEnv, mode: str | None = None, allowed: Sequence[str] = ()) -> bool:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    options = PolicyOptions(mode=mode, allowed_tools=tuple(allowed))
    with open_toolset(run_config, None, policy=options, sandbox="off") as toolset:
        return toolset.policy is not None


def run(toolset: Toolset, command: str) -> ErrorType | None:
    result = asyncio.run(toolset.scheduler.run(FunctionCall("run_shell_command", {"command": command})))
    return None if result.error is None else result.error.type


@given(
    st.lists(
        st.tuples(st.sampled_from(("allow", "ask_user", "deny")), st.sets(st.sampled_from(CONDITIONS), max_size=3)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from((None, "yolo", "plan")),
)
@settings(max_examples=80, deadline=None)
def test_known_rules_start_as_new_ones_do(tables: list[tuple[str, set[str]]], mode: str | None) -> None:
    text = "\n".join(
        "\n".join(("[[rule]]", f'decision = "{decision}"', *sorted(conditions))) for decision, conditions in tables
    )
    with tempfile.TemporaryDirectory() as base:
        machine = ProgramEnv(Path(base))
        write_rules(machine, f"{text}\n")
        first = start(machine)
        assert start(machine) == first
        later = start(machine, mode)
        record(machine).unlink(missing_ok=True)
        assert start(machine, mode) == later


class TestRecord:
    def test_plain_rules_are_loaded_with_the_first_call_only(self, machine: ProgramEnv) -> None:
        write_rules(machine, DENIES_RM)
        (machine.project / "kept").touch()
        assert loads_at_start(machine)
        assert record(machine).stat().st_mode & 0o777 == 0o600
        run_config = load_run_config([str(machine.project)], environment=machine.environment)
        with open_toolset(run_config, None, policy=PolicyOptions(mode="yolo"), sandbox="off") as toolset:
            assert toolset.policy is None
            toolset.start_scheduler()
            assert run(toolset, "rm kept") is ErrorType.POLICY_VIOLATION
        assert (machine.project / "kept").exists()

    @pytest.mark.parametrize(
        "text",
        [
            '[[rule]]\ntoolName = "glob"\ndecision = "deny"\n',  # hides a tool
            '[[rule]]\ntoolName = "missing"\ndecision = "ask_user"\n',  # needs a report
            '[[rule]]\nmcpName = "missing"\ndecision = "ask_user"\n',
            '[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = "git"\ndecision = "allow"\n',
        ],
    )
    def test_others_are_loaded_at_every_start(self, machine: ProgramEnv, text: str) -> None:
        write_rules(machine, text)
        assert loads_at_start(machine)
        assert loads_at_start(machine)

    def test_other_rules_or_modes_have_to_be_checked_at_every_start(self, machine: ProgramEnv) -> None:
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        assert loads_at_start(machine, mode="plan")
        assert loads_at_start(machine, allowed=["glob"])
        assert not loads_at_start(machine)

    def test_changed_files_are_loaded_and_errors_reported(self, machine: ProgramEnv) -> None:
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        write_rules(machine, DENIES_RM + "# the same rules\n")
        assert loads_at_start(machine)
        write_rules(machine, DENIES_RM.replace("deny", "denied"))
        assert "decision must be" in start(machine).error

    def test_a_file_that_is_added_or_removed_counts(self, machine: ProgramEnv) -> None:
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        added = machine.home / ".config" / "tejat" / "policies" / "b.toml"
        added.parent.mkdir(parents=True, mode=0o700)
        added.write_text(DENIES_RM)
        assert loads_at_start(machine)
        assert not loads_at_start(machine)
        added.write_text(DENIES_RM + DENIES_RM)
        assert loads_at_start(machine)
        added.unlink()
        assert not loads_at_start(machine), "these rules were loaded before"

    def test_a_record_that_others_could_write_does_not_count(self, machine: ProgramEnv) -> None:
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        record(machine).chmod(0o666)
        assert loads_at_start(machine)

    @pytest.mark.parametrize("content", ["", "[]", "{", '{"version": "0", "files": {}}'])
    def test_a_damaged_record_does_not_count(self, machine: ProgramEnv, content: str) -> None:
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        record(machine).write_text(content)
        assert loads_at_start(machine)

    def test_a_wrong_record_allows_nothing(self, machine: ProgramEnv) -> None:
        """Even if somebody could write it: broken rules stop the first call."""
        broken = DENIES_RM.replace("deny", "denied")
        write_rules(machine, DENIES_RM)
        assert loads_at_start(machine)
        good = digest_in(record(machine))
        write_rules(machine, broken)
        forged = record(machine).read_text().replace(good, digest_of(machine))
        record(machine).write_text(forged)
        run_config = load_run_config([str(machine.project)], environment=machine.environment)
        (machine.project / "kept").touch()
        with open_toolset(run_config, None, policy=PolicyOptions(mode="yolo"), sandbox="off") as toolset:
            assert toolset.policy is None
            with pytest.raises(UsageError, match="decision must be"):
                asyncio.run(toolset.call("run_shell_command", command="rm kept"))
        assert (machine.project / "kept").exists()


def digest_in(path: Path) -> str:
    (entry,) = json.loads(path.read_text())["files"].values()
    return entry["identity"]


def digest_of(machine: ProgramEnv) -> str:
    """What the record has for the rules as they are now."""
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    files: list[PolicyFile] = read_policy_files(run_config.paths, run_config.roots, run_config.settings)
    return digest_of_files(files)
