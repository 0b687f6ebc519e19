"""`tejat tools call` as a program: its output, its exit codes, its streams."""

import base64
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server
from support.mcp.clients import living_pids
from support.media_files import png
from support.program import ProgramResult
from support.tools_program import TOOLS_COMMAND, printed_object, run_tools


class TestCall:
    def test_one_json_object_of_arguments(self, workspace: Path) -> None:
        done = run_tools("call", "read_file", json.dumps({"path": str(workspace / "a.txt")}), cwd=workspace)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"one\ntwo\nthree\n", b"")

    def test_words_of_arguments(self, workspace: Path) -> None:
        done = run_tools("call", "read_file", f"path={workspace}/a.txt", "offset=1", "limit=1", "--json", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        answer = printed_object(done)
        assert isinstance(answer["llmContent"], str)
        assert "two" in answer["llmContent"]
        assert "three" not in answer["llmContent"]

    def test_lists_of_words(self, workspace: Path) -> None:
        done = run_tools("call", "read_many_files", "paths=a.txt", "paths=inner/b.py", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"three" in done.stdout
        assert b"hello" in done.stdout

    def test_the_shape_of_an_answer(self, workspace: Path) -> None:
        done = run_tools("call", "--json", "read_file", f"path={workspace}/a.txt", cwd=workspace)
        answer = printed_object(done)
        assert list(answer) == ["name", "llmContent", "returnDisplay", "error"]
        assert answer == {
            "name": "read_file",
            "llmContent": "one\ntwo\nthree\n",
            "returnDisplay": answer["returnDisplay"],
            "error": None,
        }
        assert isinstance(answer["returnDisplay"], str)

    def test_media_goes_out_as_inline_data(self, workspace: Path) -> None:
        image = png()
        (workspace / "a.png").write_bytes(image)
        answer = printed_object(run_tools("call", "--json", "read_file", f"path={workspace}/a.png", cwd=workspace))
        data = {"mimeType": "image/png", "data": base64.b64encode(image).decode()}
        assert answer["llmContent"] in ({"inlineData": data}, [{"inlineData": data}])
        assert answer["error"] is None

    def test_an_answer_carries_the_name_of_the_tool_and_not_the_alias(self, workspace: Path) -> None:
        done = run_tools("call", "--json", "grep", "pattern=hello", cwd=workspace)
        assert done.returncode == 0
        assert printed_object(done)["name"] == "search_file_content"

    def test_a_failure_of_the_tool(self, workspace: Path) -> None:
        done = run_tools("call", "read_file", f"path={workspace}/missing", cwd=workspace)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"tejat: ")
        assert b"missing" in done.stderr

    def test_a_failure_of_the_tool_as_json(self, workspace: Path) -> None:
        done = run_tools("call", "--json", "read_file", f"path={workspace}/missing", cwd=workspace)
        assert (done.returncode, done.stderr) == (1, b"")
        error = printed_object(done)["error"]
        assert isinstance(error, dict)
        assert list(error) == ["type", "message"]
        assert error["type"] == "file_not_found"

    @pytest.mark.parametrize(
        ("words", "kind"),
        [
            (["read_file"], "invalid_tool_params"),
            (["read_file", '{"path": 5}'], "invalid_tool_params"),
            (["red_file", "path=a"], "tool_not_registered"),
            (["read_file", "path=/etc/passwd"], "path_not_in_workspace"),
            (["read_file", "path=../outside"], "path_not_in_workspace"),
        ],
    )
    def test_kinds_of_failure(self, workspace: Path, words: list[str], kind: str) -> None:
        done = run_tools("call", "--json", *words, cwd=workspace)
        assert done.returncode == 1
        error = printed_object(done)["error"]
        assert isinstance(error, dict)
        assert error["type"] == kind

    def test_an_unknown_tool_is_answered_with_the_nearest(self, workspace: Path) -> None:
        done = run_tools("call", "red_file", "path=a", cwd=workspace)
        assert done.returncode == 1
        assert b'"read_file"' in done.stderr


class TestRoots:
    def test_the_current_directory_by_default(self, workspace: Path) -> None:
        outside = workspace / "a.txt"
        assert run_tools("call", "read_file", f"path={outside}", cwd=workspace).returncode == 0
        assert run_tools("call", "read_file", f"path={outside}", cwd=workspace / "inner").returncode == 1

    def test_several_roots(self, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        other = tmp_path_factory.mktemp("other")
        (other / "c.txt").write_text("see\n")
        roots = ["--root", str(workspace / "inner"), "--root", str(other)]
        for path, code in [(other / "c.txt", 0), (workspace / "inner" / "b.py", 0), (workspace / "a.txt", 1)]:
            assert run_tools("call", *roots, "read_file", f"path={path}", cwd=workspace).returncode == code


class TestConfirmation:
    def write(self, workspace: Path) -> list[str]:
        return ["call", "write_file", json.dumps({"file_path": str(workspace / "a.txt"), "content": "new\n"})]

    def test_what_nobody_can_confirm_is_refused(self, workspace: Path) -> None:
        done = run_tools(*self.write(workspace), cwd=workspace)
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"confirmation" in done.stderr
        assert (workspace / "a.txt").read_text() == "one\ntwo\nthree\n"

    def test_a_yes_on_standard_input_is_not_a_person(self, workspace: Path) -> None:
        assert run_tools(*self.write(workspace), cwd=workspace, given=b"y\n").returncode == 3
        assert (workspace / "a.txt").read_text() == "one\ntwo\nthree\n"

    def test_a_refusal_as_json(self, workspace: Path) -> None:
        done = run_tools(*self.write(workspace), "--json", cwd=workspace)
        assert done.returncode == 3
        error = printed_object(done)["error"]
        assert isinstance(error, dict)
        assert error["type"] == "policy_violation"

    def test_who_agreed_beforehand_gets_what_was_asked(self, workspace: Path) -> None:
        done = run_tools(*self.write(workspace), "--yes", "--json", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        display = printed_object(done)["returnDisplay"]
        assert isinstance(display, dict)
        assert display["fileName"] == "a.txt"
        assert display["fileDiff"].endswith("@@ -1,3 +1,1 @@\n-one\n-two\n-three\n+new\n")
        assert (workspace / "a.txt").read_text() == "new\n"

    def test_closed_streams_are_nobody(self, workspace: Path) -> None:
        for closing in ("<&-", "2>&-", "<&- 2>&-"):
            done = subprocess.run(
                ["sh", "-c", f'"$@" {closing}', "sh", *TOOLS_COMMAND, *self.write(workspace)],
                capture_output=True,
                cwd=workspace,
                timeout=60,
                check=False,
            )
            assert done.returncode == 3, closing
        assert (workspace / "a.txt").read_text() == "one\ntwo\nthree\n"


class TestStream:
    def call(self, call_id: object, name: str, **args: object) -> bytes:
        return json.dumps({"id": call_id, "name": name, "args": args}).encode() + b"\n"

    def test_calls_are_answered_in_order_and_bad_lines_by_number(self, workspace: Path) -> None:
        path = str(workspace / "a.txt")
        done = run_tools(
            "call",
            "--jsonl",
            cwd=workspace,
            given=self.call(1, "read_file", path=path)
            + b"nonsense\n\n"
            + self.call("x", "write_file", file_path=path, content="new\n")
            + b'{"id": 9}\n'
            + self.call(2, "read_file", file_path=path),
        )
        assert (done.returncode, done.stderr) == (0, b"")
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [list(answer) for answer in answers] == [["id", "llmContent", "returnDisplay", "error"]] * 5
        assert [answer["id"] for answer in answers] == [1, None, "x", 9, 2]
        assert [answer["error"] and answer["error"]["type"] for answer in answers] == [
            None,
            "invalid_tool_params",
            "policy_violation",
            "invalid_tool_params",
            None,
        ]
        assert answers[1]["error"]["message"].startswith("Line 2: ")
        assert answers[3]["error"]["message"].startswith("Line 5: ")
        assert answers[0]["llmContent"] == answers[4]["llmContent"] == "one\ntwo\nthree\n"

    def test_edits_build_on_each_other(self, workspace: Path) -> None:
        path = str(workspace / "a.txt")
        done = run_tools(
            "call",
            "--jsonl",
            "--yes",
            cwd=workspace,
            given=self.call(1, "replace", file_path=path, old_string="two", new_string="2")
            + self.call(2, "replace", file_path=path, old_string="2\nthree", new_string="2\n3")
            + self.call(3, "read_file", path=path),
        )
        assert done.returncode == 0
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [answer["error"] for answer in answers] == [None, None, None]
        assert answers[2]["llmContent"] == "one\n2\n3\n"

    def test_each_answer_comes_before_the_next_call_is_sent(self, workspace: Path) -> None:
        with subprocess.Popen(
            [*TOOLS_COMMAND, "call", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=workspace
        ) as process:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                for number in range(3):
                    process.stdin.write(self.call(number, "read_file", path=str(workspace / "a.txt")))
                    process.stdin.flush()
                    assert select.select([process.stdout], [], [], 30)[0]
                    assert json.loads(process.stdout.readline())["id"] == number
                process.stdin.close()
                assert process.wait(30) == 0
            finally:
                process.kill()

    def test_thousands_of_calls_in_one_process(self, workspace: Path) -> None:
        count = 2_000
        given = b"".join(self.call(number, "read_file", path=str(workspace / "a.txt")) for number in range(count))
        started = time.monotonic()
        done = run_tools("call", "--jsonl", cwd=workspace, given=given)
        elapsed = time.monotonic() - started
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [answer["id"] for answer in answers] == list(range(count))
        assert all(answer["error"] is None for answer in answers)
        assert elapsed < 15  # far from the figure, near enough to notice a process or a thread pool for each call

    def test_a_reader_that_left_ends_it_quietly(self, workspace: Path) -> None:
        line = self.call(1, "read_file", path=str(workspace / "a.txt")).decode().strip()
        done = subprocess.run(
            [
                "sh",
                "-c",
                f"yes '{line}' | {{ \"$@\"; echo $? >&2; }} | head -1",
                "sh",
                *TOOLS_COMMAND,
                "call",
                "--jsonl",
            ],
            capture_output=True,
            cwd=workspace,
            timeout=60,
            check=False,
        )
        assert json.loads(done.stdout)["id"] == 1
        assert done.stderr == b"141\n"

    @pytest.mark.parametrize("closing", ["<&-", ">&-", "<&- >&- 2>&-"])
    def test_closed_streams_are_no_crash(self, workspace: Path, closing: str) -> None:
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closing}', "sh", *TOOLS_COMMAND, "call", "--jsonl"],
            input=b"",
            capture_output=True,
            cwd=workspace,
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2)

    def test_an_interrupt_while_waiting_for_a_line_ends_it(self, workspace: Path) -> None:
        with subprocess.Popen(
            [*TOOLS_COMMAND, "call", "--jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=workspace,
        ) as process:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                assert process.stderr is not None
                process.stdin.write(self.call(1, "read_file", path=str(workspace / "a.txt")))
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["id"] == 1
                process.send_signal(signal.SIGINT)
                assert process.wait(30) == 130
                assert process.stderr.read() == b""
            finally:
                process.kill()


class TestForeignTools:
    """Of servers and commands: what is not known is looked for."""

    @pytest.fixture
    def env(self, tmp_path: Path) -> ExternalToolsEnv:
        env = ExternalToolsEnv(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})
        self.trusting(env)
        return env

    def trusting(self, env: ExternalToolsEnv, *faults: str, **others: Any) -> None:
        bad = hostile_server(f"pids={env.base}/pids", f"record={env.base}/record", *faults, trust=True)
        env.write_user_settings(mcpServers={"bad": bad, **others})

    def living(self, env: ExternalToolsEnv) -> list[int]:
        return living_pids(env.base / "pids")

    def test_one_call(self, env: ExternalToolsEnv) -> None:
        done = env.run("tools", "call", "bad__echo", "text=hi", "--json")
        assert (done.code, done.stderr) == (0, "")
        assert done.json == {
            "name": "bad__echo",
            "llmContent": '<untrusted_context>\n{"text": "hi"}\n</untrusted_context>',
            "returnDisplay": '{"text": "hi"}',
            "error": None,
        }
        assert self.living(env) == []

    def test_by_its_bare_name_beside_a_server_that_fails(self, env: ExternalToolsEnv) -> None:
        self.trusting(env, dead=hostile_server("die=start", "words=no licence"))
        done = env.run("tools", "call", "echo", '{"text": "hi"}')
        assert (done.code, '"text": "hi"' in done.stdout) == (0, True)
        assert done.stderr.startswith("tejat: MCP server dead (handshake): ")
        assert done.stderr.endswith("no licence\n")

    @pytest.mark.parametrize("count", [1, 3])
    def test_tools_that_a_server_adds_are_there_for_the_next_call(self, env: ExternalToolsEnv, count: int) -> None:
        calls = [*["bad__change"] * count, f"bad__extra{count - 1}"]
        lines = "".join(json.dumps({"name": name, "args": {}}) + "\n" for name in calls)
        done = env.run("tools", "call", "--jsonl", stdin=lines)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [each["error"] for each in answers] == [None] * len(calls)
        assert (done.code, done.stderr, self.living(env)) == (0, "", [])

    def test_a_failure_of_the_tool(self, env: ExternalToolsEnv) -> None:
        done = env.run("tools", "call", "bad__fail")
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr.startswith("tejat: MCP tool 'fail' reported tool error for function call: ")
        assert self.living(env) == []

    def test_what_needs_a_yes_and_gets_it(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server()})
        refused = env.run("tools", "call", "bad__echo")
        assert (refused.code, refused.stdout) == (3, "")
        assert refused.stderr.endswith("Use --allowed-tools bad__echo or --approval-mode yolo.\n")
        assert env.run("tools", "call", "bad__echo", "--yes").code == 0
        assert env.run("tools", "call", "bad__echo", "--allowed-tools", "bad__echo").code == 0

    def test_one_that_nobody_has(self, env: ExternalToolsEnv) -> None:
        directory = env.home / ".gemini" / "tools"
        directory.mkdir()
        (directory / "broken.py").write_text("1 / 0\n")
        done = env.run("tools", "call", "bad__ecco")
        assert done.code == 1
        note, answer = done.stderr.splitlines()
        assert ("broken.py" in note, 'Did you mean one of: "bad__echo"' in answer) == (True, True)
        assert self.living(env) == []

    def test_one_of_a_server_that_is_switched_off(self, env: ExternalToolsEnv) -> None:
        assert env.run("mcp", "disable", "bad").code == 0
        done = env.run("tools", "call", "bad__echo")
        assert done.code == 1
        assert done.stderr.splitlines()[0] == (
            "tejat: MCP server bad: It is disabled. Enable it with `tejat mcp enable bad`."
        )

    def test_a_field_that_nobody_knows_is_told(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server(trust=True, agrs=["x"])})
        done = env.run("tools", "call", "bad__echo")
        settings = env.home / ".gemini" / "settings.json"
        assert (done.code, done.stderr) == (
            0,
            f"tejat: MCP server bad: unknown fields agrs ({settings}:1).\n",
        )

    def test_for_a_tool_that_is_there_nothing_is_started(self, env: ExternalToolsEnv) -> None:
        (env.project / "a.txt").write_text("one\n")
        assert env.run("tools", "call", "read_file", "file_path=a.txt") == ProgramResult(0, "one\n", "")
        assert not (env.base / "pids").exists()

    def test_one_of_a_command(self, env: ExternalToolsEnv) -> None:
        commands = {
            "discoveryCommand": ["/bin/echo", '[{"name": "tide"}]'],
            "callCommand": ["/bin/sh", "-c", "cat; exit 4"],
        }
        env.write_user_settings(tools={**commands, "allowed": ["tide"]})
        done = env.run("tools", "call", "tide", "at=noon")
        assert done.code == 1
        assert done.stderr == (
            'tejat: Stdout: {"at":"noon"}\nStderr: (empty)\nError: (none)\nExit Code: 4\nSignal: (none)\n'
        )

    def test_a_stream_of_calls_to_one_process(self, env: ExternalToolsEnv) -> None:
        (env.project / "a.txt").write_text("one\n")
        wanted = [
            ("read_file", {"file_path": "a.txt"}),
            ("echo", {"a": 1}),
            ("bad__change", {}),
            ("nothing", {}),
            ("bad__add", {}),
        ]
        lines = [json.dumps({"id": number, "name": name, "args": args}) for number, (name, args) in enumerate(wanted)]
        done = env.run("tools", "call", "--jsonl", stdin="".join(f"{line}\n" for line in lines))
        assert (done.code, done.stderr) == (0, "")
        assert [answer["id"] for answer in done.lines] == [0, 1, 2, 3, 4]
        assert [answer["error"] and answer["error"]["type"] for answer in done.lines] == [
            None,
            None,
            None,
            "tool_not_registered",
            None,
        ]
        assert len((env.base / "pids").read_text().split()) == 1
        assert self.living(env) == []

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    @pytest.mark.parametrize("words", [["--jsonl"], ["bad__hang"]])
    def test_an_interrupt_in_a_call_takes_it_back(
        self, env: ExternalToolsEnv, words: list[str], number: signal.Signals, code: int
    ) -> None:
        record = env.base / "record"
        process = env.start("tools", "call", *words, stdin=subprocess.PIPE)
        try:
            assert process.stdin is not None
            process.stdin.write(b'{"id": 1, "name": "bad__hang"}\n')
            process.stdin.flush()
            until = time.monotonic() + 30
            while not record.exists() or "tools/call" not in record.read_text():
                assert time.monotonic() < until
                time.sleep(0.02)
            process.send_signal(number)
            assert process.wait(30) == code
            assert process.stdout is not None
            assert process.stderr is not None
            assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
        finally:
            process.kill()
            process.communicate()
        assert self.living(env) == []


class TestOutput:
    @pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
    def test_text_of_every_script_in_every_locale(self, workspace: Path, locale: str) -> None:
        (workspace / "ü.txt").write_text("日本 😀 ü\n", encoding="utf-8")
        done = run_tools("call", "read_file", f"path={workspace}/ü.txt", cwd=workspace, LC_ALL=locale)
        assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "日本 😀 ü\n", b"")

    def test_a_name_that_is_not_text_is_no_crash(self, workspace: Path) -> None:
        with open(os.fsencode(workspace) + b"/\xff.txt", "wb") as file:
            file.write(b"raw\n")
        done = run_tools("call", "--json", "list_directory", f"path={workspace}", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "a.txt" in str(printed_object(done)["llmContent"])

    def test_a_full_disk_is_a_failure(self, workspace: Path) -> None:
        done = subprocess.run(
            ["sh", "-c", '"$@" > /dev/full', "sh", *TOOLS_COMMAND, "call", "read_file", f"path={workspace}/a.txt"],
            capture_output=True,
            cwd=workspace,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")

    def test_a_program_gets_the_bytes_as_they_are(self, workspace: Path) -> None:
        (workspace / "a.txt").write_text("a\x1b[31m\u202eb\n")
        done = run_tools("call", "read_file", f"path={workspace}/a.txt", cwd=workspace)
        assert done.stdout.decode() == "a\x1b[31m\u202eb\n"
