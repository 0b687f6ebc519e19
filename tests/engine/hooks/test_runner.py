"""Hooks at work: what they are told, who sees what others changed, and what becomes of those that fail."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.hooks import TIMEOUT_SECONDS, hook_environment, make_hook, print_command, run
from support.process_marks import living_pids
from tejat.config.hooks import HookConfig
from tejat.config.paths import SourceTier
from tejat.config.trust.pinned_commands import PinnedCommands
from tejat.core.agent.hooks import HookFunction, HookReply
from tejat.core.errors import CallbackFailure
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.engine.hooks.result import HookResult
from tejat.engine.hooks.runner import HookInvocation, apply_new_input, quote_variables, run_hooks
from tejat.policy.types import Decision
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

INPUT: JsonObject = {"tool_input": {"path": "a"}}
CALL: JsonObject = {"tool_name": "write_file", **INPUT}


def rewriting(**new: str) -> str:
    return print_command(json.dumps({"hookSpecificOutput": {"tool_input": new}}))


def outcomes(
    directory: Path, supervisor: ProcessSupervisor, *hooks: HookConfig, fields: JsonObject = CALL
) -> list[HookResult]:
    return run(run_hooks([HookInvocation(each) for each in hooks], fields, hook_environment(directory, supervisor)))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())


class TestTold:
    def test_what_happens_in_json_on_stdin(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        outcomes(tmp_path, supervisor, make_hook("cat > told.json"))
        given = read_json(tmp_path / "told.json")
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

    def test_the_event_as_it_was_spelled_and_what_only_this_hook_is_told(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        other = HookInvocation(make_hook("cat > told.json", "PreToolUse"), {"tool_name": "Read"}, {"path": "file_path"})
        run(run_hooks([other], CALL, hook_environment(tmp_path, supervisor)))
        given = read_json(tmp_path / "told.json")
        assert (given["hook_event_name"], given["tool_name"]) == ("PreToolUse", "Read")
        assert given["tool_input"] == {"file_path": "a"}

    def test_what_it_rewrites_is_rewritten_in_its_own_words(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        other = HookInvocation(make_hook(rewriting(file_path="b"), "PreToolUse"), {}, {"path": "file_path"})
        (outcome,) = run(run_hooks([other], CALL, hook_environment(tmp_path, supervisor)))
        assert apply_new_input({"path": "a"}, outcome) == {"file_path": "b"}

    def test_the_project_and_the_session_in_the_environment_and_no_more(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        outcomes(tmp_path, supervisor, make_hook("env -0 > environment"))
        seen = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().split("\0") if line)
        assert {name: text for name, text in seen.items() if name not in ("PATH", "PWD", "SHLVL", "_")} == {
            "GEMINI_PROJECT_DIR": str(tmp_path),
            "GEMINI_CWD": str(tmp_path),
            "CLAUDE_PROJECT_DIR": str(tmp_path),
            "GEMINI_SESSION_ID": "a-session",
        }

    def test_one_that_does_not_read_is_heard_all_the_same(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        large: JsonObject = {"tool_input": {"content": "x" * 2**21}}
        (outcome,) = outcomes(tmp_path, supervisor, make_hook("echo fine"), fields=large)
        assert outcome.message == "fine"

    @pytest.mark.parametrize(
        "line",
        ["$GEMINI_PROJECT_DIR/the hook.sh", "${CLAUDE_PROJECT_DIR}/the hook.sh", '"$GEMINI_PROJECT_DIR/the hook.sh"'],
    )
    def test_a_project_with_blanks_and_worse_in_its_path(
        self, tmp_path: Path, supervisor: ProcessSupervisor, line: str
    ) -> None:
        project = tmp_path / "a b; touch MARK #'"
        project.mkdir()
        script = project / "the hook.sh"
        script.write_text("#!/bin/sh\necho here")
        script.chmod(0o755)
        (outcome,) = outcomes(
            project, supervisor, make_hook(line.replace("the hook", r"the\ hook") if line[0] == "$" else line)
        )
        assert outcome == HookResult(outcome.hook, message="here")
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
        assert quote_variables(written) == run_as


class TestOrder:
    def test_side_by_side(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        """Each waits for the other."""
        meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done; echo {0}"
        found = outcomes(tmp_path, supervisor, make_hook(meet.format("a", "b")), make_hook(meet.format("b", "a")))
        assert [outcome.message for outcome in found] == ["a", "b"]

    def test_many_at_once(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        found = outcomes(tmp_path, supervisor, *(make_hook(f"echo {number}") for number in range(40)))
        assert [outcome.message for outcome in found] == [str(number) for number in range(40)]

    def test_one_sequential_hook_puts_all_in_a_row(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        look = make_hook("cat > second.json", is_sequential=True)
        outcomes(tmp_path, supervisor, make_hook(rewriting(path="b", more="c")), look, make_hook("cat > third.json"))
        assert read_json(tmp_path / "second.json")["tool_input"] == {"path": "b", "more": "c"}
        assert read_json(tmp_path / "third.json")["tool_input"] == {"path": "b", "more": "c"}

    def test_side_by_side_nobody_sees_what_others_change(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        outcomes(tmp_path, supervisor, make_hook(rewriting(path="b")), make_hook("cat > second.json"))
        assert read_json(tmp_path / "second.json")["tool_input"] == {"path": "a"}

    @pytest.mark.parametrize("is_reversed", [False, True])
    def test_whoever_has_more_of_a_say_sees_what_the_others_made_of_it(
        self, tmp_path: Path, supervisor: ProcessSupervisor, is_reversed: bool
    ) -> None:
        hooks = [
            make_hook(rewriting(path="project"), tier=SourceTier.WORKSPACE),
            make_hook(f"cat > person.json; {rewriting(path='person')}", tier=SourceTier.USER),
            make_hook("cat > machine.json", tier=SourceTier.ADMIN),
        ]
        outcomes(tmp_path, supervisor, *(reversed(hooks) if is_reversed else hooks))
        assert read_json(tmp_path / "person.json")["tool_input"] == {"path": "project"}

    def test_the_next_sees_what_was_added_to_a_prompt(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        adding = print_command(json.dumps({"hookSpecificOutput": {"additionalContext": "Mind this."}}))
        hooks = [make_hook(adding, "BeforeAgent", is_sequential=True), make_hook("cat > told.json", "BeforeAgent")]
        outcomes(tmp_path, supervisor, *hooks, fields={"prompt": "Go."})
        assert read_json(tmp_path / "told.json")["prompt"] == "Go.\n\nMind this."

    def test_the_same_command_runs_once(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        again = make_hook("echo x >> runs")
        found = outcomes(tmp_path, supervisor, replace(again, tier=SourceTier.WORKSPACE), again, again)
        assert (tmp_path / "runs").read_text() == "x\n"
        assert [outcome.hook.tier for outcome in found] == [SourceTier.USER]


class TestRewritten:
    def test_over_the_arguments_or_in_their_place(self) -> None:
        over = HookResult(make_hook("x"), new_input={"b": 2})
        assert apply_new_input({"a": 1, "b": 1}, over) == {"a": 1, "b": 2}
        assert apply_new_input({"a": 1, "b": 1}, replace(over, replaces_input=True)) == {"b": 2}
        assert apply_new_input({"a": 1}, HookResult(make_hook("x"))) == {"a": 1}


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestFailing:
    def test_one_that_hangs_is_ended_with_its_children(
        self, tmp_path: Path, supervisor: ProcessSupervisor, mark: str
    ) -> None:
        hanging = make_hook(f"trap '' TERM; setsid sleep {mark} & sleep {mark}", timeout=0.3)
        (outcome,) = outcomes(tmp_path, supervisor, hanging)
        assert outcome == HookResult(hanging, failure="took longer than 0.3 seconds and was stopped")
        assert living_pids(mark) == []

    def test_cancelling_ends_them_all(self, tmp_path: Path, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            meant = [HookInvocation(make_hook(f"sleep {mark} # {number}")) for number in range(2)]
            task = asyncio.create_task(run_hooks(meant, CALL, hook_environment(tmp_path, supervisor)))
            await asyncio.to_thread(eventually, lambda: len(living_pids(mark)) >= 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        run(main())
        eventually(lambda: not living_pids(mark))

    @pytest.mark.parametrize(
        ("line", "failure"),
        [
            ("no-such-program-at-all", "exited with code 127 ("),
            ("kill -9 $$", "was killed by signal 9"),
            ("exit 3", "exited with code 3"),
            ("cat /dev/zero", "printed more than 1 MiB and was stopped"),
            ("yes >&2", "printed more than 1 MiB and was stopped"),
            ("echo '{'", "printed invalid JSON: "),
        ],
    )
    def test_every_way_to_fail(self, tmp_path: Path, supervisor: ProcessSupervisor, line: str, failure: str) -> None:
        (outcome,) = outcomes(tmp_path, supervisor, make_hook(line))
        assert outcome.failure.startswith(failure)
        assert outcome.decision is None

    def test_others_are_heard_all_the_same(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        found = outcomes(tmp_path, supervisor, make_hook("exit 1"), make_hook("echo no >&2; exit 2"))
        assert [(outcome.decision, outcome.failure) for outcome in found] == [
            (None, "exited with code 1"),
            (Decision.DENY, ""),
        ]

    def test_without_a_shell_or_a_directory(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        here = hook_environment(tmp_path, supervisor)
        for wrong in (replace(here, interpreter=("/no/shell",)), replace(here, directory=str(tmp_path / "gone"))):
            (outcome,) = run(run_hooks([HookInvocation(make_hook("true"))], CALL, wrong))
            assert outcome.failure == "could not be run: No such file or directory"

    def test_what_is_no_json_cannot_be_told(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        fields: Any = {"tool_input": {"path": object()}}
        (outcome,) = outcomes(tmp_path, supervisor, make_hook("true"), fields=fields)
        assert outcome.failure == "could not be run: TypeError"

    def test_one_that_is_not_understood_lets_nothing_pass_where_it_stands_guard(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        broken = make_hook("", problem="settings.json:1: matcher must be a string.")
        assert outcomes(tmp_path, supervisor, broken) == [HookResult(broken, Decision.DENY, broken.problem)]
        later = make_hook("", "AfterTool", problem="wrong")
        assert outcomes(tmp_path, supervisor, later) == [HookResult(later, failure="has an invalid command")]


class TestPinned:
    def test_a_project_runs_nothing_that_has_changed(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        script = tmp_path / "check.sh"
        script.write_text("echo as it was")
        pinned = PinnedCommands(["sh ./check.sh"], str(tmp_path))
        here = replace(hook_environment(tmp_path, supervisor), pinned=pinned)
        own, theirs = make_hook("sh check.sh"), make_hook("sh ./check.sh", tier=SourceTier.WORKSPACE)
        found = run(run_hooks([HookInvocation(theirs)], CALL, here))
        assert [outcome.message for outcome in found] == ["as it was"]
        script.write_text("echo another")
        found = run(run_hooks([HookInvocation(theirs), HookInvocation(own)], CALL, here))
        assert [(outcome.failure, outcome.message) for outcome in found] == [
            ("was not run: check.sh changed since this folder was trusted. Run `tejat trust`", ""),
            ("", "another"),
        ]


def function_hook(function: HookFunction, event: str = "BeforeTool", **fields: Any) -> HookConfig:
    return make_hook("", event, name="function", function=function, is_sequential=True, **fields)


class TestFunctions:
    def test_get_what_commands_get_as_a_copy(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        seen: list[Any] = []

        def change(event: Any) -> None:
            seen.append(event)
            event["tool_input"]["path"] = "changed"

        file = tmp_path / "input.json"
        hooks = [make_hook(f"cat > {file}"), function_hook(change)]
        assert [outcome.failure for outcome in outcomes(tmp_path, supervisor, *hooks)] == ["", ""]
        told = read_json(file)
        assert seen[0].keys() == told.keys()
        assert {**seen[0], "timestamp": "", "tool_input": {}} == {**told, "timestamp": "", "tool_input": {}}
        assert INPUT == {"tool_input": {"path": "a"}}

    def test_answer_as_commands_do(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        async def deny(_: JsonObject) -> HookReply:
            await asyncio.sleep(0)
            return HookReply("deny", "not here")

        def ask(_: JsonObject) -> JsonObject:
            return {"decision": "ask", "reason": "sure?"}

        first, second = outcomes(tmp_path, supervisor, function_hook(deny), function_hook(ask))
        assert (first.decision, first.reason) == (Decision.DENY, "not here")
        assert (second.decision, second.reason) == (Decision.ASK, "sure?")

    def test_run_after_those_of_the_user_and_see_what_others_changed(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        seen: list[object] = []

        def add(name: str) -> HookFunction:
            def hook(event: JsonObject) -> HookReply:
                seen.append(event["tool_input"])
                return HookReply(tool_input={name: name})

            return hook

        admin = make_hook(rewriting(admin="x"), tier=SourceTier.ADMIN)
        hooks = [admin, function_hook(add("one")), function_hook(add("two")), make_hook(rewriting(user="x"))]
        inputs = [outcome.new_input for outcome in outcomes(tmp_path, supervisor, *hooks)]
        assert inputs == [{"user": "x"}, {"one": "one"}, {"two": "two"}, {"admin": "x"}]
        assert seen == [{"path": "a", "user": "x"}, {"path": "a", "user": "x", "one": "one"}]

    def test_what_they_raise_is_raised(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        error = KeyError("lost")

        def fail(_: JsonObject) -> None:
            raise error

        with pytest.raises(CallbackFailure) as caught:
            outcomes(tmp_path, supervisor, make_hook("true"), make_hook("cat"), function_hook(fail))
        assert caught.value.error is error

    def test_a_wrong_answer_is_an_error_of_the_function(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        with pytest.raises(CallbackFailure, match="must return None, a HookReply or a dict") as caught:
            outcomes(tmp_path, supervisor, function_hook(lambda _: True))  # pyright: ignore[reportArgumentType]
        assert isinstance(caught.value.error, TypeError)
