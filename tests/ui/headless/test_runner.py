"""One prompt in, one result out, an exit code that tells what became of it; and it always ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.model_servers.gemini import ModelServer, Reply, error_reply, function_call, text_reply
from support.program import ProgramEnv, ProgramResult, script_answer, text_script, wait_for_exit
from support.wait import handles_signal, wait_until

NO_INPUT = "No input provided via stdin. Input can be provided by piping data into tejat or using the --prompt option."
SLOW = script_answer(say="one two three four five six seven eight nine", pause=0.2)
HELLO = text_script("Hello there.")


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def gemini(machine: ProgramEnv, address: str) -> None:
    machine.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": address}


class TestPrompt:
    def test_of_the_command_line(self, machine: ProgramEnv) -> None:
        assert machine.run("-p", "hi", "-m", machine.script(HELLO)) == ProgramResult(0, "Hello there.\n", "")

    def test_of_standard_input_alone(self, machine: ProgramEnv) -> None:
        model = machine.script(script_answer(when="from the pipe", say="I see."))
        assert machine.run("-m", model, stdin="from the pipe\n") == ProgramResult(0, "I see.\n", "")

    def test_of_both_what_was_piped_in_first(self, machine: ProgramEnv) -> None:
        done = machine.run("-p", "what is this?", "-m", machine.script(HELLO), "-o", "stream-json", stdin="a log\n")
        assert done.lines[1]["content"] == "a log\n\n\nwhat is this?"

    @pytest.mark.parametrize("stdin", [None, "", " \n\t"])
    def test_none_is_bad_input(self, machine: ProgramEnv, stdin: str | None) -> None:
        assert machine.run("-m", machine.script(HELLO), stdin=stdin) == ProgramResult(42, "", f"tejat: {NO_INPUT}\n")

    def test_none_is_an_object_where_objects_are_wanted(self, machine: ProgramEnv) -> None:
        done = machine.run("-o", "json")
        assert (done.code, done.json["error"]) == (42, {"type": "input", "message": NO_INPUT, "code": 42})

    def test_a_pipe_that_nobody_closes_does_not_hold_it_up(self, machine: ProgramEnv) -> None:
        reading, writing = os.pipe()
        try:
            started = time.monotonic()
            done = wait_for_exit(machine.start("-p", "hi", "-m", machine.script(HELLO), stdin=reading))
            seconds = time.monotonic() - started
        finally:
            os.close(reading)
            os.close(writing)
        assert done == ProgramResult(0, "Hello there.\n", "")
        assert 0.5 <= seconds < 10

    def test_too_much_is_cut_and_said(self, machine: ProgramEnv) -> None:
        model = machine.script(HELLO)
        done = machine.run("-p", "hi", "-m", model, "-o", "stream-json", stdin="€" * (3 * 2**20))
        assert done.stderr == "tejat: Standard input is longer than 8 MB. The rest is ignored.\n"
        assert done.lines[1]["content"] == "€" * (8 * 2**20 // 3) + "\n\nhi"

    @pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
    def test_whatever_the_locale_says(self, machine: ProgramEnv, locale: str) -> None:
        model = machine.script(script_answer(when="grüße €", say="grüße 🙂"))
        done = machine.run("grüße €", "-m", model, LC_ALL=locale, PYTHONIOENCODING="ascii")
        assert done == ProgramResult(0, "grüße 🙂\n", "")

    def test_words_that_are_no_text_are_no_crash(self, machine: ProgramEnv) -> None:
        done = machine.run(b"-p", b"\xff\xfe", b"-m", machine.script(HELLO), b"-o", b"stream-json")
        assert (done.code, done.stderr) == (0, "")
        assert done.lines[-1]["status"] == "success"
        assert machine.run("--list-sessions").code == 0

    def test_files_that_it_names_are_put_in(self, machine: ProgramEnv) -> None:
        (machine.project / "notes.txt").write_text("remember the milk\n")
        model = machine.script(script_answer(when="remember the milk", say="Milk."))
        assert machine.run("-p", "what is in @notes.txt", "-m", model) == ProgramResult(0, "Milk.\n", "")


class TestTools:
    def test_a_round_trip(self, machine: ProgramEnv) -> None:
        (machine.project / "a.txt").write_text("the content\n")
        model = machine.script(
            script_answer(say="I look.", calls=[("read_file", {"path": "a.txt"})]) + text_script("Seen.")
        )
        done = machine.run("-p", "hi", "-m", model, "-o", "json")
        assert (done.code, done.stderr, done.json["response"]) == (0, "", "I look.\nSeen.")
        assert done.json["stats"]["tools"]["totalSuccess"] == 1

    def test_what_needs_an_answer_is_refused_told_and_counted(self, machine: ProgramEnv) -> None:
        arguments: dict[str, object] = {"file_path": "new.txt", "content": "x"}
        model = machine.script(script_answer(calls=[("write_file", arguments)]) + text_script("I could not."))
        done = machine.run("-p", "hi", "-m", model, "-o", "json")
        assert (done.code, os.listdir(machine.project)) == (0, [])
        (denial,) = done.json["permission_denials"]
        assert (denial["tool_name"], denial["parameters"]) == ("write_file", arguments)
        assert "requires user confirmation" in denial["reason"]
        assert "Error executing tool write_file:" in done.stderr

    @pytest.mark.parametrize("flag", ["-y", "--approval-mode=auto_edit", "--allowed-tools=write_file"])
    def test_unless_it_was_allowed_before(self, machine: ProgramEnv, flag: str) -> None:
        arguments: dict[str, object] = {"file_path": "new.txt", "content": "x"}
        model = machine.script(script_answer(calls=[("write_file", arguments)]) + text_script("Done."))
        assert machine.run("-p", "hi", "-m", model, flag) == ProgramResult(0, "Done.\n", "")
        assert (machine.project / "new.txt").read_text() == "x"

    def test_an_unknown_tool_is_told_to_the_model(self, machine: ProgramEnv) -> None:
        model = machine.script(script_answer(calls=[("reed_file", {})]) + text_script("Sorry."))
        done = machine.run("-p", "hi", "-m", model)
        assert (done.code, done.stdout) == (0, "Sorry.\n")
        assert 'Did you mean one of: "read_file"' in done.stderr


class TestEndings:
    def test_the_turn_limit(self, machine: ProgramEnv) -> None:
        calls = [("glob", {"pattern": "*"})]
        model = machine.script(script_answer(calls=calls) + text_script("Never said."))
        done = machine.run("-p", "hi", "-m", model, "--max-turns", "1")
        assert (done.code, done.stdout) == (53, "")
        assert done.stderr.startswith("tejat: Reached max session turns for this session.")

    @pytest.mark.parametrize(("kind", "code"), [("blocked", 64), ("empty", 65), ("bad_request", 1)])
    def test_a_model_that_gives_no_answer(self, machine: ProgramEnv, kind: str, code: int) -> None:
        model = machine.script(script_answer(fail=kind, detail="It was not to be."))
        done = machine.run("-p", "hi", "-m", model, "-o", "json")
        assert (done.code, done.stderr) == (code, "tejat: It was not to be.\n")
        assert done.json["error"] == {"type": kind, "message": "It was not to be.", "code": code}

    def test_no_key(self, machine: ProgramEnv) -> None:
        done = machine.run("-p", "hi", "-o", "stream-json")
        assert done.code == 41
        (result,) = done.lines
        assert (result["type"], result["status"], result["error"]["type"]) == ("result", "error", "authentication")
        expected = "No API key for gemini-3.1-pro-preview. Set GEMINI_API_KEY"
        assert result["error"]["message"].startswith(expected)

    def test_broken_settings(self, machine: ProgramEnv) -> None:
        (machine.home / ".gemini").mkdir()
        settings = machine.home / ".gemini" / "settings.json"
        settings.write_text('{"model": ')
        done = machine.run("-p", "hi", "-m", machine.script(HELLO), "-o", "json")
        assert (done.code, done.json["error"]["type"]) == (52, "configuration")
        assert str(settings) in done.json["error"]["message"]
        assert settings.read_text() == '{"model": '

    def test_a_sandbox_that_is_no_sandbox(self, machine: ProgramEnv) -> None:
        done = machine.run("-p", "hi", "-m", machine.script(HELLO), "--sandbox", "perhaps")
        assert (done.code, done.stdout) == (42, "")

    def test_a_directory_that_is_gone(self, machine: ProgramEnv) -> None:
        line = 'mkdir gone; cd gone; rmdir ../gone; "$@"'
        done = machine.run_shell(line, "-p", "hi", "-m", machine.script(HELLO), "-o", "json")
        assert (done.code, done.json["error"]["code"]) == (42, 42)
        assert done.stderr == "tejat: The current directory no longer exists. Change to another one.\n"

    def test_no_home_at_all(self, machine: ProgramEnv) -> None:
        """Somebody has one nevertheless: the one of the system's list of users."""
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME"):  # that one is not for tests
            machine.environment[name] = str(machine.home)
        done = machine.run("-p", "hi", "-m", machine.script(HELLO), HOME=None)
        assert (done.code, done.stdout) == (0, "Hello there.\n")

    def test_a_home_in_which_nothing_can_be_made(self, machine: ProgramEnv) -> None:
        """A file in its place stops everybody, also one whom permissions do not bind."""
        (machine.base / "no-home").write_text("")
        done = machine.run("-p", "hi", "-m", machine.script(HELLO), HOME=str(machine.base / "no-home"))
        assert (done.code, done.stdout) == (0, "Hello there.\n")
        assert "Stopped saving this session" in done.stderr

    @pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind this user")
    def test_a_home_that_may_only_be_read(self, machine: ProgramEnv) -> None:
        machine.home.chmod(0o555)
        try:
            done = machine.run("-p", "hi", "-m", machine.script(HELLO))
        finally:
            machine.home.chmod(0o755)
        assert (done.code, done.stdout) == (0, "Hello there.\n")
        assert "Stopped saving this session" in done.stderr


class TestServers:
    def test_a_conversation_over_the_wire(self, machine: ProgramEnv) -> None:
        (machine.project / "a.txt").write_text("the content\n")
        replies = [text_reply(function_call("read_file", {"path": "a.txt"})), text_reply("All ", "seen.")]
        with ModelServer(replies) as server:
            gemini(machine, server.address)
            assert machine.run("-p", "hi") == ProgramResult(0, "All seen.\n", "")
        response = server.requests[1].body["contents"][-1]["parts"][0]["functionResponse"]
        assert response["response"] == {"output": "the content\n"}

    def test_a_server_that_is_dead(self, machine: ProgramEnv) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        gemini(machine, f"http://127.0.0.1:{port}")
        (machine.home / ".gemini").mkdir()
        (machine.home / ".gemini" / "settings.json").write_text('{"general": {"maxAttempts": 2}}')
        done = machine.run("-p", "hi", "-o", "stream-json")
        assert (done.code, [line["type"] for line in done.lines]) == (62, ["init", "message", "retry", "result"])
        assert done.lines[-1]["error"]["type"] == "network"
        assert "a-key-of-a-test" not in done.stdout + done.stderr

    def test_a_server_that_never_answers(self, machine: ProgramEnv) -> None:
        with ModelServer([Reply(black_hole=True)]) as server:
            gemini(machine, server.address)
            started = time.monotonic()
            done = machine.run("-p", "hi", "--timeout", "1", "-o", "json")
            assert time.monotonic() - started < 15
        assert (done.code, done.json["error"]) == (
            53,
            {"type": "time_limit", "message": "Reached the time limit of 1 seconds.", "code": 53},
        )

    def test_a_key_that_is_not_taken(self, machine: ProgramEnv) -> None:
        with ModelServer([error_reply(403, "no", status_name="PERMISSION_DENIED")]) as server:
            gemini(machine, server.address)
            done = machine.run("-p", "hi", "-o", "json")
        assert (done.code, done.json["error"]["type"]) == (41, "authentication")


class TestTrust:
    def test_a_folder_that_is_not_trusted_is_said_once_and_its_settings_do_not_count(self, machine: ProgramEnv) -> None:
        self.bring_settings(machine)
        model = machine.script(HELLO)
        done = machine.run("-p", "hi", "-m", model)
        assert (done.code, done.stdout) == (0, "Hello there.\n")
        assert done.stderr == (
            "tejat: This folder is not trusted: its configuration is ignored (.gemini/settings.json). "
            "See `tejat trust`.\n"
        )

    @pytest.mark.parametrize("words", [["--trust"], ["--skip-trust"], []])
    def test_unless_it_is_trusted_now(self, machine: ProgramEnv, words: list[str]) -> None:
        self.bring_settings(machine)
        if not words:
            machine.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
        done = machine.run("-p", "hi", "-m", machine.script(script_answer(calls=[("glob", {"pattern": "*"})])), *words)
        assert done.code == 53
        assert "not trusted" not in done.stderr

    def bring_settings(self, machine: ProgramEnv) -> None:
        (machine.project / ".gemini").mkdir()
        (machine.project / ".gemini" / "settings.json").write_text('{"maxSessionTurns": 1}')


class TestSessions:
    def test_go_on_where_they_ended(self, machine: ProgramEnv) -> None:
        first = machine.run("-p", "my name is Ada", "-m", machine.script(HELLO), "-o", "json")
        model = machine.script(script_answer(when="and now?", say="Ada."), "second.toml")
        for words in (["-r"], ["--resume", "latest"], ["--resume", "1"], ["--resume", first.json["session_id"]]):
            done = machine.run("-p", "and now?", "-m", model, "-o", "json", *words)
            assert (done.code, done.json["session_id"], done.json["response"]) == (0, first.json["session_id"], "Ada.")
        listed = machine.run("--list-sessions").stdout
        assert listed.startswith("Available sessions for this project (1):\n  1. my name is Ada (")

    def test_the_model_is_sent_what_was_said_before(self, machine: ProgramEnv) -> None:
        with ModelServer([text_reply("Hello Ada."), text_reply("Ada.")]) as server:
            gemini(machine, server.address)
            machine.run("-p", "my name is Ada")
            assert machine.run("-p", "who am I?", "-r") == ProgramResult(0, "Ada.\n", "")
        texts = [part.get("text") for content in server.requests[1].body["contents"] for part in content["parts"]]
        assert texts[-3:] == ["my name is Ada", "Hello Ada.", "who am I?"]

    def test_one_that_is_not_there(self, machine: ProgramEnv) -> None:
        done = machine.run("-p", "hi", "-m", machine.script(HELLO), "--resume", "7", "-o", "json")
        assert (done.code, done.json["error"]["type"]) == (42, "input")


class TestReplay:
    def test_is_the_same_bit_for_bit_however_often(self, machine: ProgramEnv) -> None:
        (machine.project / "a.txt").write_text("the content\n")
        calls = [("read_file", {"path": "a.txt"}), ("glob", {"pattern": "*"})]
        usage = {"prompt": 10, "output": 5}
        model = machine.script(
            script_answer(say="I look.", calls=calls, usage=usage) + text_script("Seen.", usage=usage)
        )
        recording = str(machine.base / "recording.jsonl")
        flags = ["-p", "hi", "-y", "--sandbox", "off"]
        recorded = machine.run(*flags, "-m", model, "-o", "json", "--record", recording)
        assert (recorded.code, recorded.stderr) == (0, "")
        for wanted in ("text", "json", "stream-json"):
            first, second = (machine.run(*flags, "--replay", recording, "-o", wanted) for _ in range(2))
            assert first == second
            assert (first.code, first.stderr) == (0, "")
        replayed = machine.run(*flags, "--replay", recording, "-o", "json").json
        assert replayed["session_id"] == recorded.json["session_id"]
        assert without_durations(replayed) == without_durations(recorded.json)

    def test_a_difference_is_shown(self, machine: ProgramEnv) -> None:
        recording = str(machine.base / "recording.jsonl")
        machine.run("-p", "hi", "-m", machine.script(HELLO), "--record", recording)
        done = machine.run("-p", "bye", "--replay", recording)
        assert (done.code, done.stdout) == (1, "")
        assert "request 1 differs from the recording" in done.stderr
        assert "bye" in done.stderr


def without_durations(value: object) -> object:
    """Everything that a clock has no say in."""
    if isinstance(value, dict):
        return {name: 0 if name.endswith("Ms") else without_durations(inner) for name, inner in value.items()}
    return value


class TestLostOutput:
    def test_a_full_disk(self, machine: ProgramEnv) -> None:
        done = machine.run_shell('"$@" > /dev/full', "-p", "hi", "-m", machine.script(HELLO))
        assert done == ProgramResult(1, "", "tejat: Could not write the result: [Errno 28] No space left on device\n")

    @pytest.mark.parametrize("wanted", ["text", "json", "stream-json"])
    def test_output_that_was_closed_before(self, machine: ProgramEnv, wanted: str) -> None:
        done = machine.run_shell('"$@" >&-', "-p", "hi", "-m", machine.script(HELLO), "-o", wanted)
        assert (done.code, done.stderr) == (1, "tejat: Could not write the result: [Errno 9] Bad file descriptor\n")

    def test_everything_closed_before(self, machine: ProgramEnv) -> None:
        assert machine.run_shell('"$@" <&- >&- 2>&-', "-p", "hi", "-m", machine.script(HELLO)) == ProgramResult(
            1, "", ""
        )

    def test_error_output_closed_before_changes_nothing(self, machine: ProgramEnv) -> None:
        model = machine.script(script_answer(calls=[("reed_file", {})]) + HELLO)
        assert machine.run_shell('"$@" 2>&-', "-p", "hi", "-m", model) == ProgramResult(0, "Hello there.\n", "")

    def test_a_reader_that_leaves_ends_the_run(self, machine: ProgramEnv) -> None:
        line = '{ "$@"; echo $? >&2; } | head -1'
        started = time.monotonic()
        words = " ".join(f"word{number}" for number in range(200))
        model = machine.script(script_answer(say=words, pause=0.1))
        done = machine.run_shell(line, "-p", "hi", "-m", model, "-o", "stream-json")
        assert time.monotonic() - started < 15
        assert (done.stderr, done.lines[0]["type"]) == ("141\n", "init")


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_end_it_with_a_result(self, machine: ProgramEnv, number: signal.Signals) -> None:
        with machine.start("-p", "hi", "-m", machine.script(SLOW), "-o", "stream-json") as process:
            self.wait_for(process, b'"delta"')
            process.send_signal(number)
            done = wait_for_exit(process)
        assert (done.code, done.stderr) == (128 + number, "tejat: Operation cancelled.\n")
        result = done.lines[-1]
        assert (result["type"], result["status"]) == ("result", "error")
        assert result["error"] == {"type": "interrupted", "message": "Operation cancelled.", "code": 128 + number}

    def test_what_was_said_is_kept_and_it_can_go_on(self, machine: ProgramEnv) -> None:
        with machine.start("-p", "hi", "-m", machine.script(SLOW), "-o", "stream-json") as process:
            self.wait_for(process, b'"delta"')
            process.send_signal(signal.SIGINT)
            wait_for_exit(process)
        assert machine.run("-p", "go on", "-r", "-m", machine.script(HELLO)) == ProgramResult(0, "Hello there.\n", "")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_before_there_is_a_prompt(self, machine: ProgramEnv, number: signal.Signals) -> None:
        reading, writing = os.pipe()
        try:
            with machine.start("-m", machine.script(HELLO), "-o", "json", stdin=reading) as process:
                wait_until(lambda: handles_signal(process.pid, signal.SIGTERM))
                process.send_signal(number)
                done = wait_for_exit(process)
        finally:
            os.close(reading)
            os.close(writing)
        assert (done.code, done.stderr) == (128 + number, "tejat: Operation cancelled.\n")
        assert done.json["error"] == {"type": "interrupted", "message": "Operation cancelled.", "code": 128 + number}

    def test_one_that_is_ignored_stays_ignored(self, machine: ProgramEnv) -> None:
        model = machine.script(script_answer(say="one two three", pause=0.3))
        line = "trap '' HUP; \"$@\" & sleep 0.7; kill -HUP $!; wait $!"
        assert machine.run_shell(line, "-p", "hi", "-m", model) == ProgramResult(0, "one two three\n", "")

    def test_a_command_that_does_not_end_is_ended(self, machine: ProgramEnv) -> None:
        command = "trap '' INT TERM; echo begun > begun; sleep 300"
        model = machine.script(script_answer(calls=[("run_shell_command", {"command": command})]))
        with machine.start("-p", "hi", "-y", "--sandbox", "off", "-m", model, "-o", "json") as process:
            deadline = time.monotonic() + 30
            while not (machine.project / "begun").exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            done = wait_for_exit(process)
        assert (done.code, done.json["error"]["type"]) == (130, "interrupted")
        assert done.json["stats"]["tools"]["totalFail"] == 1

    def test_a_second_one_ends_it_at_once(self, machine: ProgramEnv) -> None:
        done = run_with(machine, HANG_AT_THE_END, machine.script(SLOW), signals=2)
        assert done.code == 130

    def wait_for(self, process: "subprocess.Popen[bytes]", what: bytes) -> None:
        """Read until this comes; what was read is lost, the rest is whole lines."""
        assert process.stdout is not None
        while line := process.stdout.readline():
            if what in line:
                return
        raise AssertionError("the program ended")


# The real program, but something hangs when it should close: nobody's threads may keep it alive.
HANG_AT_THE_END = """
import asyncio, contextlib, sys, time
from tejat.app.session import lifespan
from tejat.cli import main
from tejat.ui.headless import runner
real = lifespan.open_agent

@contextlib.asynccontextmanager
async def hanging(*arguments, **named):
    async with real(*arguments, **named) as session:
        try:
            yield session
        finally:
            asyncio.get_running_loop().run_in_executor(None, time.sleep, 100)

lifespan.open_agent = hanging
runner._RESULT_GRACE_SECONDS = runner._SIGNAL_GRACE_SECONDS = float(sys.argv.pop(1))
main.program()
"""


def run_with(machine: ProgramEnv, code: str, model: str, *, signals: int = 0, patience: str = "30") -> ProgramResult:
    with subprocess.Popen(
        [sys.executable, "-c", code, patience, "-p", "hi", "-m", model, "-o", "stream-json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=machine.project,
        env=machine.environment,
    ) as process:
        try:
            assert process.stdout is not None
            wanted = '"result"' if not signals else '"delta"'
            read = ""
            while signals and wanted not in read:
                read += process.stdout.readline().decode()
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                time.sleep(0.5)
            out, aside = process.communicate(timeout=20)
        finally:
            process.kill()
    return ProgramResult(process.returncode, read + out.decode(), aside.decode())


class TestHanging:
    """It ends within seconds of the result, whatever still hangs."""

    def test_after_a_result(self, machine: ProgramEnv) -> None:
        started = time.monotonic()
        done = run_with(machine, HANG_AT_THE_END, machine.script(HELLO), patience="0.5")
        assert (done.code, done.lines[-1]["status"]) == (0, "success")
        assert time.monotonic() - started < 15

    def test_after_a_failure(self, machine: ProgramEnv) -> None:
        model = machine.script(script_answer(fail="blocked"))
        done = run_with(machine, HANG_AT_THE_END, model, patience="0.5")
        assert (done.code, done.lines[-1]["error"]["code"]) == (64, 64)

    def test_after_a_signal(self, machine: ProgramEnv) -> None:
        done = run_with(machine, HANG_AT_THE_END, machine.script(SLOW), signals=1, patience="0.5")
        assert (done.code, done.lines[-1]["error"]["type"]) == (130, "interrupted")


def test_a_defect_is_told_as_a_result_too(machine: ProgramEnv) -> None:
    code = """
import sys
from tejat.cli import main
from tejat.engine.loop import conversation
def broken(*_, **__):
    raise ZeroDivisionError("division by zero")
conversation.Conversation.compress_if_needed = broken
sys.argv.pop(1)
main.program()
"""
    done = run_with(machine, code, machine.script(HELLO))
    assert done.code == 1
    log = machine.home / ".local/state/tejat/log/tejat.log"
    message = f"Internal error: ZeroDivisionError. Details are in {log}"
    assert done.lines[-1]["error"] == {"type": "failed", "message": message, "code": 1}
    assert "ZeroDivisionError: division by zero" in log.read_text()
