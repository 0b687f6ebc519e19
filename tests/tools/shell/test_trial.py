"""A shell command that is tried in a copy, from the question to the files: shown, kept, thrown away, run for real."""

import asyncio
import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from support.approver import FakeApprover
from support.process_marks import living_pids, new_mark
from support.trial_env import KEEP, NO, RUN_FOR_REAL, TRY_IN_COPY, TrialEnv
from tejat.core.approval.confirmation import ApprovalReply, ExecConfirmation, Outcome, TrialConfirmation
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_events import CallState, Event, OutputUpdated, StateChanged

EVERYTHING = (
    "echo hi > new; echo more >> a.txt; rm gone; chmod 755 script; ln -s /etc/passwd far; ln -sfn script near;"
    "mkdir -p deep/er; cd deep/er; pwd; tar cf all.tar -C ../.. a.txt; cd ../..; rm -r full; mv full2 moved;"
    "head -c 10 /dev/zero > binary; echo complaint >&2; exit 3"
)


@pytest.fixture
def trials(tmp_path: Path) -> TrialEnv:
    trials = TrialEnv(tmp_path.resolve())
    for name in ("a.txt", "gone", "script", "full/one", "full/two/three", "full2/four"):
        path = trials.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
        path.chmod(0o644)
    (trials.root / "near").symlink_to("a.txt")
    return trials


def tree(root: Path) -> dict[str, tuple[str, object]]:
    """All that is in there: kind and mode, content or target."""
    found: dict[str, tuple[str, object]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = (f"directory {stat.S_IMODE(status.st_mode):o}", None)
        else:
            found[name] = (f"file {stat.S_IMODE(status.st_mode):o}", path.read_bytes())
    return found


class TestKeeping:
    def test_what_was_shown_is_done_to_the_real_files_and_can_be_undone(self, trials: TrialEnv) -> None:
        before = tree(trials.root)
        while_asked: list[dict[str, tuple[str, object]]] = []
        result = trials.run(
            EVERYTHING, [TRY_IN_COPY, KEEP], before_answer=lambda _: while_asked.append(tree(trials.root))
        )
        assert while_asked == [before, before]
        assert trials.changes() == {
            "a.txt": "changed",
            "binary": "created",
            "deep": "created",
            "deep/er": "created",
            "deep/er/all.tar": "created",
            "far": "created",
            "full": "removed",
            "full/one": "removed",
            "full/two": "removed",
            "full/two/three": "removed",
            "full2": "removed",
            "full2/four": "removed",
            "gone": "removed",
            "moved": "created",
            "moved/four": "created",
            "near": "changed",
            "new": "created",
            "script": "permissions changed",
        }
        after = tree(trials.root)
        archive = after.pop("deep/er/all.tar")
        assert archive[0] == "file 644"
        assert after == {
            "a.txt": ("file 644", b"a.txt\nmore\n"),
            "binary": ("file 644", bytes(10)),
            "deep": ("directory 755", None),
            "deep/er": ("directory 755", None),
            "far": ("link", "/etc/passwd"),
            "moved": ("directory 755", None),
            "moved/four": ("file 644", b"full2/four\n"),
            "near": ("link", "script"),
            "new": ("file 644", b"hi\n"),
            "script": ("file 755", b"script\n"),
        }
        assert (result.exit_code, result.error) == (3, None)
        assert result.return_display == f"{trials.root}/deep/er\ncomplaint\n"
        assert trials.leftover_copies == []

    def test_it_can_be_undone_like_any_other_call(self, trials: TrialEnv) -> None:
        before = tree(trials.root)
        trials.run(EVERYTHING, [TRY_IN_COPY, KEEP], undo=True)
        assert len(trials.undone_paths) == 18
        assert tree(trials.root) == before

    def test_the_person_sees_the_end_the_output_and_the_diff(self, trials: TrialEnv) -> None:
        trials.run("echo more >> a.txt; rm gone; echo said; exit 3", [TRY_IN_COPY, NO])
        first, second = (question.confirmation for question in trials.questions)
        assert isinstance(first, ExecConfirmation)
        assert [question.can_try for question in trials.questions] == [True, False]
        assert [question.call_index for question in trials.questions] == [0, 0]
        assert isinstance(second, TrialConfirmation)
        assert (second.exit_code, second.output, second.obstacles) == (3, "said\n", ())
        header = "=" * 67
        a, gone = f"{trials.root}/a.txt", f"{trials.root}/gone"
        assert second.diff == (
            f"Index: {a}\n{header}\n--- {a}\tBefore\n+++ {a}\tAfter\n@@ -1,1 +1,2 @@\n a.txt\n+more\n"
            f"Index: {gone}\n{header}\n--- {gone}\tBefore\n+++ {gone}\tAfter\n@@ -1,1 +0,0 @@\n-gone\n"
        )

    def test_output_is_seen_while_it_runs(self, trials: TrialEnv) -> None:
        trials.run("echo first; sleep 0.4; echo second", [TRY_IN_COPY, KEEP])
        told = [event.output for event in trials.events if isinstance(event, OutputUpdated)]
        assert told[-1] == "first\nsecond\n"
        states = [event.state for event in trials.events if isinstance(event, StateChanged)]
        assert states == [
            CallState.VALIDATING,
            CallState.AWAITING_APPROVAL,
            CallState.EXECUTING,
            CallState.AWAITING_APPROVAL,
            CallState.SCHEDULED,
            CallState.EXECUTING,
            CallState.SUCCESS,
        ]

    def test_a_command_that_changes_nothing_is_not_run_again(self, trials: TrialEnv) -> None:
        before = tree(trials.root)
        result = trials.run("date +%N; touch a.txt; echo x > /tmp/elsewhere; cat /tmp/elsewhere", [TRY_IN_COPY, KEEP])
        assert trials.trial.changes == ()
        assert trials.trial.output == result.return_display
        assert tree(trials.root) == before

    def test_a_directory_that_takes_the_place_of_another(self, trials: TrialEnv) -> None:
        trials.run(
            "rm -r full && mkdir full && echo new > full/one && rm gone && mkdir gone && touch gone/x",
            [TRY_IN_COPY, KEEP],
        )
        assert trials.changes() == {
            "full/one": "changed",
            "full/two": "removed",
            "full/two/three": "removed",
            "gone": "changed",
            "gone/x": "created",
        }
        kept = tree(trials.root)
        assert kept["full/one"] == ("file 644", b"new\n")
        assert kept["gone/x"] == ("file 644", b"")
        assert "full/two" not in kept


class TestNotKeeping:
    @pytest.mark.parametrize("answer", [NO, ApprovalReply(Outcome.STOP), ApprovalReply(Outcome.PROCEED_ALWAYS)])
    def test_a_no_throws_it_away_and_the_model_is_told_as_always(self, trials: TrialEnv, answer: ApprovalReply) -> None:
        before = tree(trials.root)
        result = trials.run(EVERYTHING, [TRY_IN_COPY, answer])
        assert result.llm_content == "[Operation Cancelled] Reason: User did not allow tool call."
        assert (tree(trials.root), trials.leftover_copies) == (before, [])

    def test_a_word_to_the_model_goes_along(self, trials: TrialEnv) -> None:
        result = trials.run("rm gone", [TRY_IN_COPY, ApprovalReply(Outcome.CANCEL, feedback="keep it")])
        assert result.llm_content == "[Operation Cancelled] Reason: User did not allow tool call. They said: keep it"

    def test_it_can_be_run_for_real_instead(self, trials: TrialEnv) -> None:
        result = trials.run("date +%N; echo once >> a.txt; echo ok > /tmp/t", [TRY_IN_COPY, RUN_FOR_REAL])
        assert result.return_display != trials.trial.output
        assert (trials.root / "a.txt").read_text() == "a.txt\nonce\n"
        assert trials.leftover_copies == []

    def test_it_can_be_tried_again_after_files_moved_on(self, trials: TrialEnv) -> None:
        def meanwhile(question: object) -> None:
            if len(trials_seen) == 1:
                (trials.root / "a.txt").write_text("mine\n")
            trials_seen.append(question)

        trials_seen: list[object] = []
        result = trials.run(
            "echo more >> a.txt; echo x > new", [TRY_IN_COPY, KEEP, TRY_IN_COPY, KEEP], before_answer=meanwhile
        )
        notes = [question.note for question in trials.questions]
        told = f"Nothing was kept, because other programs changed files in the meantime: {trials.root}/a.txt"
        assert notes == ["", "", told, ""]
        assert result.error is None
        assert (trials.root / "a.txt").read_text() == "mine\nmore\n"
        assert trials.leftover_copies == []

    @pytest.mark.parametrize(
        ("command", "meanwhile", "named"),
        [
            ("echo x > new", "echo mine > new", "new"),
            ("rm gone", "echo mine > gone", "gone"),
            ("rm -r full", "echo mine > full/mine", "full/mine"),
            ("chmod 755 script", "chmod 600 script", "script"),
            ("ln -sfn x near", "ln -sfn mine near", "near"),
            ("echo x >> a.txt", "rm a.txt", "a.txt"),
        ],
    )
    def test_nothing_is_kept_over_what_somebody_else_did(
        self, trials: TrialEnv, command: str, meanwhile: str, named: str
    ) -> None:
        asked: list[object] = []
        theirs: list[object] = []

        def before_answer(question: object) -> None:
            asked.append(question)
            if len(asked) == 2:
                subprocess.run(["sh", "-c", meanwhile], cwd=trials.root, check=True)
                theirs.append(tree(trials.root))

        trials.run(f"{command}; echo also > other", [TRY_IN_COPY, KEEP, NO], before_answer=before_answer)
        assert trials.questions[2].note.endswith(f": {trials.root}/{named}")
        assert [tree(trials.root)] == theirs

    def test_a_file_that_changed_while_the_command_ran_is_an_obstacle(self, trials: TrialEnv) -> None:
        def write(event: Event) -> None:
            if isinstance(event, OutputUpdated):
                (trials.root / "a.txt").write_text("mine\n")

        trials.run("echo more >> a.txt; echo begun; sleep 0.5", [TRY_IN_COPY, NO], watch=write)
        told = f"{trials.root}/a.txt was changed by another program while the command ran."
        assert trials.trial.obstacles == (told,)
        assert (trials.root / "a.txt").read_text() == "mine\n"


class TestObstacles:
    @pytest.mark.parametrize(
        ("command", "obstacle"),
        [
            ("mkfifo pipe", "{root}/pipe is a pipe, socket or device and cannot be kept."),
            ("truncate -s 40M huge", "{root}/huge is too large to keep (41.9 MB)."),
            ("mkdir .gemini", "{root}/.gemini controls what other programs run, so commands cannot change it."),
            ("echo x > .envrc", "{root}/.envrc controls what other programs run, so commands cannot change it."),
            (
                "mkdir -p a && echo x > a/.envrc",
                "{root}/a/.envrc controls what other programs run, so commands cannot change it.",
            ),
            (
                "mkdir -p a && echo gitdir: x > a/.git",
                "{root}/a/.git controls what other programs run, so commands cannot change it.",
            ),
            ("for i in $(seq 1100); do echo > f$i; done", "It changed 1,100 files, too many to list."),
        ],
    )
    def test_what_cannot_be_kept_is_said_and_a_yes_keeps_nothing(
        self, trials: TrialEnv, command: str, obstacle: str
    ) -> None:
        before = tree(trials.root)
        result = trials.run(command, [TRY_IN_COPY, KEEP])
        assert trials.trial.obstacles == (obstacle.format(root=trials.root),)
        assert result.llm_content == "[Operation Cancelled] Reason: User did not allow tool call."
        assert (tree(trials.root), trials.leftover_copies) == (before, [])

    def test_a_control_file_that_is_there_cannot_be_changed_in_the_copy_either(self, trials: TrialEnv) -> None:
        (trials.root / ".envrc").write_text("mine\n")
        trials.run("echo x >> .envrc", [TRY_IN_COPY, NO])
        assert "Read-only file system" in trials.trial.output
        assert trials.trial.changes == ()

    def test_a_command_that_takes_too_long_has_nothing_to_keep(self, trials: TrialEnv) -> None:
        trials.run("echo x > new; sleep 60", [TRY_IN_COPY, KEEP], timeout=1)
        assert trials.trial.exit_code is None
        assert trials.trial.obstacles == ("The command did not finish.",)
        assert not (trials.root / "new").exists()
        assert trials.leftover_copies == []


class TestTheFence:
    def test_nothing_outside_is_written_or_read_that_must_not_be(self, trials: TrialEnv) -> None:
        (trials.home / ".ssh").mkdir()
        (trials.home / ".ssh" / "id").write_text("s3cret")
        outside = trials.home / "file"
        trials.run(f"echo x > {outside}; cat {trials.home}/.ssh/id; ls {trials.state}", [TRY_IN_COPY, NO])
        assert not outside.exists()
        assert "s3cret" not in trials.trial.output
        assert "copies" not in trials.trial.output

    def test_the_network_is_off(self, trials: TrialEnv) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            trials.run(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached", [TRY_IN_COPY, NO])
        assert "reached" not in trials.trial.output
        assert trials.trial.exit_code == 1

    def test_what_it_leaves_running_ends_with_it(self, trials: TrialEnv) -> None:
        mark = new_mark()
        left: list[list[int]] = []
        # bash reports a killed child of a subshell on stderr, but not always.
        line = f"(exec 2>/dev/null; sleep {mark}; echo late > late) & setsid sleep {mark} & echo started"
        trials.run(line, [TRY_IN_COPY, KEEP], before_answer=lambda _: left.append(living_pids(mark)))
        assert left == [[], []]
        assert trials.trial.output == "started\n"


class TestOtherwise:
    def test_background_commands_cannot_be_tried(self, trials: TrialEnv) -> None:
        trials.run("true", [NO], is_background=True)
        assert [question.can_try for question in trials.questions] == [False]

    def test_a_cancelled_trial_leaves_nothing(self, trials: TrialEnv) -> None:
        async def main() -> None:
            person = FakeApprover([TRY_IN_COPY])
            with trials.scheduler(person) as scheduler:
                begun = asyncio.Event()

                def watch(event: object) -> None:
                    if isinstance(event, OutputUpdated):
                        begun.set()

                call = FunctionCall("run_shell_command", {"command": "echo x > new; echo begun; sleep 60"})
                running = asyncio.create_task(scheduler.run(call, watch))
                await begun.wait()
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
                assert trials.leftover_copies == []

        asyncio.run(main())
        assert not (trials.root / "new").exists()
