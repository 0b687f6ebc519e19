"""Hooks at work: what they are told, who sees what others changed, and what becomes of those that fail."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hook_checks import LONG, around, hook, printing, run
from process_marks import living
from tejat.config.hooks import Hook
from tejat.config.pinned_files import PinnedCommands
from tejat.config.places import SourceTier
from tejat.core.types import JsonObject
from tejat.core.value import replace
from tejat.engine.hooks.outcome import Outcome
from tejat.engine.hooks.running import Meant, rewritten, run_hooks, with_quoted_places
from tejat.policy.rules import Decision
from tejat.workspace.processes.keeping import Keeper

INPUT: JsonObject = {"tool_input": {"path": "a"}}
CALL: JsonObject = {"tool_name": "write_file", **INPUT}


def rewriting(**new: str) -> str:
    return printing(json.dumps({"hookSpecificOutput": {"tool_input": new}}))


def outcomes(directory: Path, keeper: Keeper, *hooks: Hook, fields: JsonObject = CALL) -> list[Outcome]:
    return run(run_hooks([Meant(each) for each in hooks], fields, around(directory, keeper)))


def told(path: Path) -> Any:
    return json.loads(path.read_text())


class TestTold:
    def test_what_happens_in_json_on_stdin(self, tmp_path: Path, keeper: Keeper) -> None:
        outcomes(tmp_path, keeper, hook("cat > told.json"))
        given = told(tmp_path / "told.json")
        stamp = given.pop("timestamp")
        assert time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")
        assert (len(stamp), stamp[-1]) == (24, "Z")
        assert given == {
            "session_id": "a-session",
            "transcript_path": "/the/journal",
            "cwd": str(tmp_path),
            "hook_event_name": "BeforeTool",
            **CALL,
        }

    def test_the_event_as_it_was_spelled_and_what_only_this_hook_is_told(self, tmp_path: Path, keeper: Keeper) -> None:
        other = Meant(hook("cat > told.json", "PreToolUse"), {"tool_name": "Read"}, {"path": "file_path"})
        run(run_hooks([other], CALL, around(tmp_path, keeper)))
        given = told(tmp_path / "told.json")
        assert (given["hook_event_name"], given["tool_name"]) == ("PreToolUse", "Read")
        assert given["tool_input"] == {"file_path": "a"}

    def test_what_it_rewrites_is_rewritten_in_its_own_words(self, tmp_path: Path, keeper: Keeper) -> None:
        other = Meant(hook(rewriting(file_path="b"), "PreToolUse"), {}, {"path": "file_path"})
        (outcome,) = run(run_hooks([other], CALL, around(tmp_path, keeper)))
        assert rewritten({"path": "a"}, outcome) == {"file_path": "b"}

    def test_the_project_and_the_session_in_the_environment_and_no_more(self, tmp_path: Path, keeper: Keeper) -> None:
        outcomes(tmp_path, keeper, hook("env -0 > environment"))
        seen = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().split("\0") if line)
        assert {name: text for name, text in seen.items() if name not in ("PATH", "PWD", "SHLVL", "_")} == {
            "GEMINI_PROJECT_DIR": str(tmp_path),
            "GEMINI_CWD": str(tmp_path),
            "CLAUDE_PROJECT_DIR": str(tmp_path),
            "GEMINI_SESSION_ID": "a-session",
        }

    def test_one_that_does_not_read_is_heard_all_the_same(self, tmp_path: Path, keeper: Keeper) -> None:
        large: JsonObject = {"tool_input": {"content": "x" * 2**21}}
        (outcome,) = outcomes(tmp_path, keeper, hook("echo fine"), fields=large)
        assert outcome.message == "fine"

    @pytest.mark.parametrize(
        "line",
        ["$GEMINI_PROJECT_DIR/the hook.sh", "${CLAUDE_PROJECT_DIR}/the hook.sh", '"$GEMINI_PROJECT_DIR/the hook.sh"'],
    )
    def test_a_project_with_blanks_and_worse_in_its_path(self, tmp_path: Path, keeper: Keeper, line: str) -> None:
        project = tmp_path / "a b; touch MARK #'"
        project.mkdir()
        script = project / "the hook.sh"
        script.write_text("#!/bin/sh\necho here")
        script.chmod(0o755)
        (outcome,) = outcomes(project, keeper, hook(line.replace("the hook", r"the\ hook") if line[0] == "$" else line))
        assert outcome == Outcome(outcome.hook, message="here")
        assert not (project / "MARK").exists()

    @pytest.mark.parametrize(
        ("written", "run_as"),
        [
            ("$GEMINI_CWD/x", '"$GEMINI_CWD"/x'),
            ("a=${GEMINI_SESSION_ID}}", 'a="${GEMINI_SESSION_ID}"}'),
            ("'$GEMINI_CWD' \"$GEMINI_CWD\" \\$GEMINI_CWD", "'$GEMINI_CWD' \"$GEMINI_CWD\" \\$GEMINI_CWD"),
            ("$GEMINI_CWDS ${GEMINI_CWD%/*} $HOME", "$GEMINI_CWDS ${GEMINI_CWD%/*} $HOME"),
        ],
    )
    def test_only_bare_places_are_quoted(self, written: str, run_as: str) -> None:
        assert with_quoted_places(written) == run_as


class TestOrder:
    def test_side_by_side(self, tmp_path: Path, keeper: Keeper) -> None:
        """Each waits for the other."""
        meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done; echo {0}"
        found = outcomes(tmp_path, keeper, hook(meet.format("a", "b")), hook(meet.format("b", "a")))
        assert [outcome.message for outcome in found] == ["a", "b"]

    def test_many_at_once(self, tmp_path: Path, keeper: Keeper) -> None:
        found = outcomes(tmp_path, keeper, *(hook(f"echo {number}") for number in range(40)))
        assert [outcome.message for outcome in found] == [str(number) for number in range(40)]

    def test_one_sequential_hook_puts_all_in_a_row(self, tmp_path: Path, keeper: Keeper) -> None:
        look = hook("cat > second.json", is_sequential=True)
        outcomes(tmp_path, keeper, hook(rewriting(path="b", more="c")), look, hook("cat > third.json"))
        assert told(tmp_path / "second.json")["tool_input"] == {"path": "b", "more": "c"}
        assert told(tmp_path / "third.json")["tool_input"] == {"path": "b", "more": "c"}

    def test_side_by_side_nobody_sees_what_others_change(self, tmp_path: Path, keeper: Keeper) -> None:
        outcomes(tmp_path, keeper, hook(rewriting(path="b")), hook("cat > second.json"))
        assert told(tmp_path / "second.json")["tool_input"] == {"path": "a"}

    @pytest.mark.parametrize("is_reversed", [False, True])
    def test_whoever_has_more_of_a_say_sees_what_the_others_made_of_it(
        self, tmp_path: Path, keeper: Keeper, is_reversed: bool
    ) -> None:
        hooks = [
            hook(rewriting(path="project"), tier=SourceTier.WORKSPACE),
            hook(f"cat > person.json; {rewriting(path='person')}", tier=SourceTier.USER),
            hook("cat > machine.json", tier=SourceTier.ADMIN),
        ]
        outcomes(tmp_path, keeper, *(reversed(hooks) if is_reversed else hooks))
        assert told(tmp_path / "person.json")["tool_input"] == {"path": "project"}

    def test_the_next_sees_what_was_added_to_a_prompt(self, tmp_path: Path, keeper: Keeper) -> None:
        adding = printing(json.dumps({"hookSpecificOutput": {"additionalContext": "Mind this."}}))
        hooks = [hook(adding, "BeforeAgent", is_sequential=True), hook("cat > told.json", "BeforeAgent")]
        outcomes(tmp_path, keeper, *hooks, fields={"prompt": "Go."})
        assert told(tmp_path / "told.json")["prompt"] == "Go.\n\nMind this."

    def test_the_same_command_runs_once(self, tmp_path: Path, keeper: Keeper) -> None:
        again = hook("echo x >> runs")
        found = outcomes(tmp_path, keeper, replace(again, tier=SourceTier.WORKSPACE), again, again)
        assert (tmp_path / "runs").read_text() == "x\n"
        assert [outcome.hook.tier for outcome in found] == [SourceTier.USER]


class TestRewritten:
    def test_over_the_arguments_or_in_their_place(self) -> None:
        over = Outcome(hook("x"), new_input={"b": 2})
        assert rewritten({"a": 1, "b": 1}, over) == {"a": 1, "b": 2}
        assert rewritten({"a": 1, "b": 1}, replace(over, replaces_input=True)) == {"b": 2}
        assert rewritten({"a": 1}, Outcome(hook("x"))) == {"a": 1}


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestFailing:
    def test_one_that_hangs_is_ended_with_its_children(self, tmp_path: Path, keeper: Keeper, mark: str) -> None:
        hanging = hook(f"trap '' TERM; setsid sleep {mark} & sleep {mark}", seconds=0.3)
        (outcome,) = outcomes(tmp_path, keeper, hanging)
        assert outcome == Outcome(hanging, failure="took longer than 0.3 seconds and was stopped")
        assert living(mark) == []

    def test_cancelling_ends_them_all(self, tmp_path: Path, keeper: Keeper, mark: str) -> None:
        async def main() -> None:
            meant = [Meant(hook(f"sleep {mark} # {number}")) for number in range(2)]
            task = asyncio.create_task(run_hooks(meant, CALL, around(tmp_path, keeper)))
            await asyncio.to_thread(eventually, lambda: len(living(mark)) >= 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        run(main())
        eventually(lambda: not living(mark))

    @pytest.mark.parametrize(
        ("line", "failure"),
        [
            ("no-such-program-at-all", "ended with exit code 127 ("),
            ("kill -9 $$", "was ended by signal 9"),
            ("exit 3", "ended with exit code 3"),
            ("cat /dev/zero", "printed more than 1 MiB and was stopped"),
            ("yes >&2", "printed more than 1 MiB and was stopped"),
            ("echo '{'", "printed what is no JSON: "),
        ],
    )
    def test_every_way_to_fail(self, tmp_path: Path, keeper: Keeper, line: str, failure: str) -> None:
        (outcome,) = outcomes(tmp_path, keeper, hook(line))
        assert outcome.failure.startswith(failure)
        assert outcome.decision is None

    def test_others_are_heard_all_the_same(self, tmp_path: Path, keeper: Keeper) -> None:
        found = outcomes(tmp_path, keeper, hook("exit 1"), hook("echo no >&2; exit 2"))
        assert [(outcome.decision, outcome.failure) for outcome in found] == [
            (None, "ended with exit code 1"),
            (Decision.DENY, ""),
        ]

    def test_without_a_shell_or_a_directory(self, tmp_path: Path, keeper: Keeper) -> None:
        here = around(tmp_path, keeper)
        for wrong in (replace(here, interpreter=("/no/shell",)), replace(here, directory=str(tmp_path / "gone"))):
            (outcome,) = run(run_hooks([Meant(hook("true"))], CALL, wrong))
            assert outcome.failure == "could not be run: No such file or directory"

    def test_what_is_no_json_cannot_be_told(self, tmp_path: Path, keeper: Keeper) -> None:
        fields: Any = {"tool_input": {"path": object()}}
        (outcome,) = outcomes(tmp_path, keeper, hook("true"), fields=fields)
        assert outcome.failure == "could not be run: TypeError"

    def test_one_that_is_not_understood_lets_nothing_pass_where_it_stands_guard(
        self, tmp_path: Path, keeper: Keeper
    ) -> None:
        broken = hook("", problem="settings.json:1: matcher must be a text.")
        assert outcomes(tmp_path, keeper, broken) == [Outcome(broken, Decision.DENY, broken.problem)]
        later = hook("", "AfterTool", problem="wrong")
        assert outcomes(tmp_path, keeper, later) == [Outcome(later, failure="is not understood")]


class TestPinned:
    def test_a_project_runs_nothing_that_has_changed(self, tmp_path: Path, keeper: Keeper) -> None:
        script = tmp_path / "check.sh"
        script.write_text("echo as it was")
        pinned = PinnedCommands(["sh ./check.sh"], str(tmp_path))
        here = replace(around(tmp_path, keeper), pinned=pinned)
        own, theirs = hook("sh check.sh"), hook("sh ./check.sh", tier=SourceTier.WORKSPACE)
        found = run(run_hooks([Meant(theirs)], CALL, here))
        assert [outcome.message for outcome in found] == ["as it was"]
        script.write_text("echo another")
        found = run(run_hooks([Meant(theirs), Meant(own)], CALL, here))
        assert [(outcome.failure, outcome.message) for outcome in found] == [
            ("was not run: check.sh has changed since this folder was trusted. See `tejat trust`", ""),
            ("", "another"),
        ]
