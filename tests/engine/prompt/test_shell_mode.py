"""Lines after `!`: what they are told as, what the model gets of them, and how they are stopped."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.process_marks import living_pids
from tejat.core.i18n import use_translations
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.prompt.shell_mode import MAX_RESULT_LENGTH, ShellMode, ShellModeResult
from tejat.workspace.files.roots import Roots
from tejat.workspace.processes.environment import user_environment
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

BASH = ("/bin/bash", "-c")
SECRET = "a-secret-of-some-length"


def run(
    directory: Path,
    line: str,
    *,
    program: tuple[str, ...] = BASH,
    before: Callable[[Path], object] = lambda _: None,
    cancel_when: Callable[[list[str]], bool] | None = None,
) -> tuple[str, list[str], list[ShellModeResult]]:
    """What is told in the end, what was shown until then, and what came of it."""
    shown: list[str] = []
    ended: list[ShellModeResult] = []
    project = directory / "project"
    project.mkdir(exist_ok=True)

    async def main() -> str:
        supervisor = ProcessSupervisor()
        environment = user_environment({"PATH": os.environ["PATH"], "MINE": "yes", "TOKEN": SECRET})
        with Roots([project]) as roots:
            mode = ShellMode(
                supervisor,
                roots,
                shell=program,
                environment=environment,
                outputs=str(directory / "outputs"),
                mask=SecretMask({"TOKEN": SECRET}),
            )
            before(project)
            try:
                task = asyncio.create_task(mode.run(line, shown.append, ended.append))
                if cancel_when is not None:
                    while not cancel_when(shown):  # noqa: ASYNC110 -- it happens in another process
                        await asyncio.sleep(0.005)
                    task.cancel()
                try:
                    return await task
                except asyncio.CancelledError:
                    return "(stopped)"
            finally:
                mode.close()
                supervisor.close()

    told = asyncio.run(asyncio.wait_for(main(), 60))
    assert len(ended) == 1
    return told, shown, ended


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("echo hi", "hi"),
        ("echo out; echo err >&2; echo out", "out\nerr\nout"),
        ("true", "(Command produced no output)"),
        ("", "(Command produced no output)"),
        ("# only a word", "(Command produced no output)"),
        ("exit 3", "Command exited with code 3.\n(Command produced no output)"),
        ("echo hi; false", "Command exited with code 1.\nhi"),
        ("kill -KILL $$", "Command terminated by signal: SIGKILL.\n(Command produced no output)"),
        ("printf 'a\\0b'", "[Command produced binary output, which is not shown.]"),
        (
            "printf 'a\\0b'; exit 2",
            "Command exited with code 2.\n[Command produced binary output, which is not shown.]",
        ),
        ("echo $MINE $GEMINI_CLI $PAGER", "yes 1 cat"),
        ('read -r line; echo "[$line]"', "[]"),
        ("echo $TOKEN", "[the secret TOKEN]"),
        ("cat <<'END'\nhere\nEND", "here"),
        ("echo a\0b", "Invalid argument\n(Command produced no output)"),
        ("echo \ud800", "Invalid or incomplete multibyte or wide character\n(Command produced no output)"),
    ],
)
def test_what_is_told(tmp_path: Path, line: str, told: str) -> None:
    assert run(tmp_path, line)[0] == told


def test_a_line_that_is_too_long_for_the_system(tmp_path: Path) -> None:
    told, _, _ = run(tmp_path, "true " + "x" * (1 << 22))
    assert told == "Argument list too long\n(Command produced no output)"


def test_a_project_that_has_gone(tmp_path: Path) -> None:
    told, _, (ran,) = run(tmp_path, "pwd", before=lambda project: project.rmdir())
    assert told.startswith("Command exited with code 1.\n")
    assert "pwd" in ran.message.text


class TestDirectory:
    @pytest.mark.parametrize("line", ["cd /; echo hi", "cd /; echo hi; exit 0", "cd / && echo hi # there"])
    def test_a_change_does_not_last(self, tmp_path: Path, line: str) -> None:
        warning = "WARNING: shell mode is stateless; the directory change to '/' will not persist."
        assert run(tmp_path, line)[0] == f"{warning}\n\nhi"

    def test_it_comes_before_the_exit_code(self, tmp_path: Path) -> None:
        warning = "WARNING: shell mode is stateless; the directory change to '/tmp' will not persist."
        told = f"{warning}\n\nCommand exited with code 7.\n(Command produced no output)"
        assert run(tmp_path, "cd /tmp; exit 7")[0] == told

    @pytest.mark.parametrize("line", ["cd .; pwd", "cd /; cd - > /dev/null; pwd", "(cd /); pwd"])
    def test_none_is_no_news(self, tmp_path: Path, line: str) -> None:
        assert run(tmp_path, line)[0] == str(tmp_path / "project")

    def test_another_shell(self, tmp_path: Path) -> None:
        warning = "WARNING: shell mode is stateless; the directory change to '/' will not persist."
        assert run(tmp_path, "cd /; echo hi", program=("/bin/sh", "-c"))[0] == f"{warning}\n\nhi"

    def test_a_shell_that_nobody_knows_gets_the_line_as_it_is(self, tmp_path: Path) -> None:
        program = tmp_path / "myshell"
        program.write_text('#!/bin/sh\necho "$2"\n')
        program.chmod(0o755)
        assert run(tmp_path, "any words", program=(str(program), "-c"))[0] == "any words"

    def test_no_file_is_left(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        run(tmp_path, "cd /")
        assert list((tmp_path / "tmp").iterdir()) == []


class TestModel:
    def test_it_gets_the_line_and_what_came_of_it(self, tmp_path: Path) -> None:
        _, _, (ran,) = run(tmp_path, "echo hi")
        assert ran.message.text == (
            "I ran the following shell command:\n```sh\necho hi\n```\n\n"
            "This produced the following result:\n```\nhi\n```"
        )

    def test_of_a_long_result_it_gets_the_beginning(self, tmp_path: Path) -> None:
        told, _, (ran,) = run(tmp_path, "seq 1 3000; exit 1")
        expected = "Command exited with code 1.\n" + "\n".join(map(str, range(1, 3001)))
        assert told == expected
        result = ran.message.text.partition("result:\n```\n")[2].removesuffix("\n```")
        assert result == expected[:MAX_RESULT_LENGTH] + "\n... (truncated)"

    def test_nothing_ends_the_fence(self, tmp_path: Path) -> None:
        _, _, (ran,) = run(tmp_path, "echo '```'; echo '````'")
        assert ran.message.text.endswith("`````\n```\n````\n`````")

    def test_it_reads_english_whatever_the_user_reads(self, tmp_path: Path) -> None:
        class Shouting:
            def gettext(self, message: str, /) -> str:
                return message.upper().replace("{CODE}", "{code}")

            def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str:
                return self.gettext(msgid1 if n == 1 else msgid2)

        use_translations(Shouting())
        try:
            told, _, (ran,) = run(tmp_path, "exit 3")
        finally:
            use_translations(None)
        assert told == "COMMAND EXITED WITH CODE 3.\n(COMMAND PRODUCED NO OUTPUT)"
        assert "Command exited with code 3.\n(Command produced no output)" in ran.message.text


class TestOutput:
    def test_it_is_shown_while_it_comes(self, tmp_path: Path) -> None:
        told, shown, _ = run(tmp_path, "echo one; sleep 1.2; echo two")
        assert (told, shown) == ("one\ntwo", ["one\n", "one\ntwo\n"])

    def test_without_secrets(self, tmp_path: Path) -> None:
        _, shown, _ = run(tmp_path, "echo $TOKEN")
        assert shown == ["[the secret TOKEN]\n"]

    def test_of_very_much_both_ends_are_told_and_all_is_kept(self, tmp_path: Path) -> None:
        told, _, _ = run(tmp_path, "seq 1 200000")
        (kept,) = (tmp_path / "outputs").iterdir()
        assert told.startswith("Output too large. Showing first ")
        assert f"For full output see: {kept}\n1\n2\n" in told
        assert told.endswith("\n199999\n200000")
        assert kept.read_text() == "".join(f"{number}\n" for number in range(1, 200001))
        assert kept.stat().st_mode & 0o777 == 0o600


class TestStopping:
    def test_everything_ends_and_the_model_gets_to_know(self, tmp_path: Path, mark: str) -> None:
        line = f"echo started; (setsid sleep {mark} &); sleep {mark}"
        told, _, (ran,) = run(tmp_path, line, cancel_when=bool)
        assert told == "(stopped)"
        assert ran.display_text == "Command was cancelled.\nstarted"
        assert ran.message.text.endswith("```\nCommand was cancelled.\nstarted\n```")
        assert living_pids(mark) == []

    def test_one_that_will_not_go(self, tmp_path: Path, mark: str) -> None:
        line = f"trap '' TERM INT HUP; echo started; while true; do sleep {mark}; done"
        _, _, (ran,) = run(tmp_path, line, cancel_when=bool)
        assert ran.display_text == "Command was cancelled.\nstarted"
        assert living_pids(mark) == []

    def test_what_stays_in_the_background_is_not_waited_for(self, tmp_path: Path, mark: str) -> None:
        assert run(tmp_path, f"sleep {mark} & echo done")[0] == "done"
