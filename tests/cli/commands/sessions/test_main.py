"""What can be resumed here, listed and deleted."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv, ProgramResult, script_answer, text_script
from support.terminal.pty_program import run_at_terminal


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def test_none(machine: ProgramEnv) -> None:
    assert machine.run("--list-sessions") == ProgramResult(0, "No sessions in this project yet.\n", "")
    assert machine.run("--delete-session", "1") == ProgramResult(42, "", "tejat: No sessions in this project.\n")


def test_they_are_numbered_the_latest_last_and_titles_cannot_command_the_terminal(machine: ProgramEnv) -> None:
    model = machine.script(text_script("Hello."))
    ids = [machine.run("-p", prompt, "-m", model, "-o", "json").json["session_id"] for prompt in ("one", "two\x1b[2J")]
    done = machine.run("--list-sessions")
    assert (done.code, done.stderr) == (0, "")
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", done.stdout).splitlines() == [
        "Available sessions for this project (2):",
        f"  1. one (WHEN) [{ids[0]}]",
        f"  2. two<U+001B>[2J (WHEN) [{ids[1]}]",
    ]
    assert machine.run("--delete-session", "1") == ProgramResult(0, f"Deleted session {ids[0]}.\n", "")
    assert machine.run("--delete-session", ids[1]) == ProgramResult(0, f"Deleted session {ids[1]}.\n", "")
    assert machine.run("--list-sessions").stdout == "No sessions in this project yet.\n"


def test_those_of_another_project_are_not_among_them(machine: ProgramEnv) -> None:
    machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")))
    other = machine.run_shell('mkdir ../other && cd ../other && "$@" --list-sessions')
    assert other == ProgramResult(0, "No sessions in this project yet.\n", "")


def test_one_that_is_not_there_is_bad_input(machine: ProgramEnv) -> None:
    machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")))
    done = machine.run("--delete-session", "\x1b[2J")
    assert (done.code, done.stdout) == (42, "")
    assert done.stderr.startswith("tejat: No session '<U+001B>[2J' in this project. Sessions: ")


CHAT = [
    {"sessionId": "s", "startTime": "2026-11-01T10:00:00.000Z", "lastUpdated": "2026-11-01T10:00:00.000Z"},
    {"id": "1", "timestamp": "2026-11-01T10:00:00.000Z", "type": "user", "content": [{"text": "What is in a.txt?"}]},
    {
        "id": "2",
        "timestamp": "2026-11-01T10:00:01.000Z",
        "type": "gemini",
        "content": "",
        "toolCalls": [{"id": "c", "name": "read_file", "args": {}, "result": "apples\n"}],
        "model": "gemini-3.8-flash",
    },
    {"id": "3", "timestamp": "2026-11-01T10:00:02.000Z", "type": "gemini", "content": "Apples."},
]


def save_chat(machine: ProgramEnv, name: str = "chat.jsonl", project: str | None = None, **changes: object) -> Path:
    """Save the chat where Gemini CLI does, or beside the project."""
    folder = machine.base if project is None else machine.home / ".gemini" / "tmp" / project / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(str(machine.project).encode()).hexdigest()
    path = folder / name
    records = [{**CHAT[0], "projectHash": digest, **changes}, *CHAT[1:]]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def imported_id(done: ProgramResult) -> str:
    assert (done.code, done.stderr) == (0, "")
    return done.stdout.splitlines()[-1].removeprefix("Resume it with: tejat --resume ")


class TestCommand:
    def test_list_show_and_delete(self, machine: ProgramEnv) -> None:
        model = machine.script(text_script("Hello.\x1b[2J"))
        session = machine.run("-p", "one", "-m", model, "-o", "json").json["session_id"]
        assert machine.run("sessions") == machine.run("sessions", "list")
        assert machine.run("sessions", "--here").stdout.splitlines() == [
            "NO.  AGE       STATE     TURNS  COST  SESSION   PROMPT",
            f"  1  just now  finished      1  free  {session[:8]}  one",
        ]
        (entry,) = machine.run("sessions", "list", "--json").json
        assert (entry["number"], entry["session_id"], entry["title"], entry["model"]) == (1, session, "one", model)
        assert machine.run("sessions", "show", "1") == ProgramResult(
            0, "## User\n\none\n\n---\n\n## Model\n\nHello.\x1b[2J\n", ""
        )
        unasked = machine.run("sessions", "delete", "latest")
        assert (unasked.code, unasked.stdout) == (3, "")
        assert unasked.stderr == (
            f"  {session}  one\ntejat: No terminal to ask on. Use --yes to delete without asking.\n"
        )
        deleted = machine.run("sessions", "delete", "latest", "--yes")
        assert deleted == ProgramResult(0, f"Deleted session {session}.\n", "")
        assert machine.run("sessions", "show", "1").code == 42

    def test_export_is_a_command_of_its_own(self, machine: ProgramEnv) -> None:
        for words in (["export"], ["export", "latest", "a.md"], ["export", "1", "--json"]):
            assert machine.run("sessions", *words) == ProgramResult(
                2,
                "",
                "tejat: Unknown command `tejat sessions export`. Use `tejat export SESSION [FILE]`.\n"
                "Run `tejat sessions --help` for usage.\n",
            )

    @pytest.mark.parametrize("words", [["show"], ["delete"], ["import", "a", "b"], ["import", "a", "--all"]])
    def test_bad_usage(self, machine: ProgramEnv, words: list[str]) -> None:
        done = machine.run("sessions", *words)
        assert (done.code, done.stdout) == (2, "")
        assert (
            done.stderr
            == f"tejat: Wrong arguments for `tejat sessions {words[0]}`.\nRun `tejat sessions --help` for usage.\n"
        )


class TestOtherProjects:
    def begin(self, machine: ProgramEnv) -> tuple[str, Path]:
        """A session of the project, and the directory of another one."""
        model = machine.script(text_script("Hello."))
        machine.write_user_settings(model={"name": model})
        session = machine.run("-p", "one", "-o", "json").json["session_id"]
        other = machine.base / "other"
        other.mkdir()
        return session, other

    def run(self, machine: ProgramEnv, *words: str) -> ProgramResult:
        return machine.run_shell(f'cd ../other && "$@" {" ".join(words)}')

    def test_they_are_listed_with_their_project(self, machine: ProgramEnv) -> None:
        session, _other = self.begin(machine)
        assert self.run(machine, "sessions", "--here").stdout == "No sessions in this project yet.\n"
        heading, row = self.run(machine, "sessions").stdout.splitlines()
        assert heading.split() == ["AGE", "STATE", "TURNS", "COST", "SESSION", "PROJECT", "PROMPT"]
        assert row.split() == ["just", "now", "finished", "1", "free", session[:8], str(machine.project), "one"]
        (entry,) = self.run(machine, "sessions", "--json").json
        assert (entry["session_id"], entry["project"]) == (session, str(machine.project))
        assert (entry["turns"], entry["tokens"], entry["cost"]) == (1, 0, 0.0)

    def test_they_are_shown_exported_and_deleted_by_id(self, machine: ProgramEnv) -> None:
        session, other = self.begin(machine)
        assert "Hello." in self.run(machine, "sessions", "show", session[:8]).stdout
        assert self.run(machine, "export", session[:8], "chat.json").code == 0
        assert json.loads((other / "chat.json").read_text())["messages"][0]["role"] == "user"
        assert self.run(machine, "sessions", "delete", "latest", "--yes").code == 42
        assert self.run(machine, "sessions", "delete", session, session[:6], "--yes").stdout == (
            f"Deleted session {session}.\n"
        )
        assert self.run(machine, "sessions", "--all").stdout == "No sessions yet.\n"

    def test_one_is_resumed_in_its_own_project(self, machine: ProgramEnv) -> None:
        session, _other = self.begin(machine)
        # Without a terminal a resumed session takes its prompt from standard input.
        done = machine.run_shell(f'cd ../other && echo two | "$@" sessions resume {session[:8]}')
        assert (done.code, done.stdout, done.stderr) == (0, "Hello.\n", "")
        (entry,) = self.run(machine, "sessions", "--all", "--json").json
        assert entry["turns"] == 2

    def test_a_project_that_is_gone(self, machine: ProgramEnv) -> None:
        session, other = self.begin(machine)
        machine.project.rename(machine.base / "moved")
        (machine.base / "project").symlink_to(machine.base / "nowhere")
        done = subprocess.run(
            [sys.executable, "-m", "tejat", "sessions", "resume", session],
            cwd=other,
            env={**os.environ, "HOME": str(machine.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 42
        assert "Could not open the project directory" in done.stderr


class TestAsking:
    @pytest.mark.parametrize(("answer", "code", "left"), [("n", 3, 1), ("y", 0, 0)])
    def test_delete(self, machine: ProgramEnv, answer: str, code: int, left: int) -> None:
        machine.run("-p", "one", "-m", machine.script(text_script("Hello.")))
        words = ("-m", "tejat", "sessions", "delete", "1")
        with run_at_terminal(*words, cwd=machine.project, HOME=str(machine.home)) as terminal:
            terminal.wait_for("Delete permanently? [y]es / [n]o:")
            terminal.type(f"{answer}\n".encode())
            assert terminal.wait_for_exit()[0] == code
        assert len(machine.run("sessions", "--json").json) == left


class TestImport:
    def test_a_file_becomes_a_session_that_can_be_resumed(self, machine: ProgramEnv) -> None:
        path = save_chat(machine)
        before = path.read_bytes()
        session = imported_id(machine.run("sessions", "import", "../chat.jsonl"))
        assert path.read_bytes() == before
        (entry,) = machine.run("sessions", "list", "--json").json
        assert (entry["session_id"], entry["title"]) == (session, "What is in a.txt?")
        with ModelServer([text_reply("Really.")]) as server:
            machine.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
            assert machine.run("-r", session, "-p", "Sure?").stdout == "Really.\n"
            contents = server.requests[0].body["contents"]
        told = [(each["role"], "\n".join(part["text"] for part in each["parts"])) for each in contents[-3:]]
        assert told == [
            ("user", "What is in a.txt?\ncalled read_file: apples"),
            ("model", "Apples."),
            ("user", "Sure?"),
        ]
        assert len(machine.run("sessions", "list", "--json").json) == 1

    def test_a_flag_continues_a_chat_at_once(self, machine: ProgramEnv) -> None:
        save_chat(machine)
        model = machine.script(script_answer(when="Sure?", say="Really."))
        done = machine.run("--session-file", "../chat.jsonl", "-p", "Sure?", "-m", model, "-o", "json")
        assert (done.code, done.json["response"]) == (0, "Really.")
        (entry,) = machine.run("sessions", "list", "--json").json
        assert entry["session_id"] == done.json["session_id"]
        shown = machine.run("sessions", "show", "latest").stdout
        assert [shown.find(text) >= 0 for text in ("What is in a.txt?", "Apples.", "Really.")] == [True] * 3

    def test_without_a_file_the_latest_chat_of_this_project(self, machine: ProgramEnv) -> None:
        for number, name in enumerate(("session-1.jsonl", "session-2.jsonl", "other.jsonl")):
            path = save_chat(machine, name, project="slug")
            os.utime(path, (number, number))
        save_chat(machine, "session-3.jsonl", project="else", projectHash="another")
        save_chat(machine, "session-4.jsonl", project="slug", kind="subagent")
        done = machine.run("sessions", "import")
        assert done.stdout.splitlines()[0].endswith("/slug/chats/session-2.jsonl.")
        assert machine.run("sessions", "import", "--all").stdout.count("Imported ") == 2
        assert len(machine.run("sessions", "list", "--json").json) == 3

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["sessions", "import", "nowhere"], "Could not read nowhere: No such file or directory."),
            (["sessions", "import", "../empty"], "../empty is not a Gemini CLI chat."),
            (["--session-file", "../empty", "-p", "hi"], "../empty is not a Gemini CLI chat."),
            (
                ["sessions", "import"],
                "Gemini CLI saved no chats for this project. Name a file: tejat sessions import FILE",
            ),
        ],
    )
    def test_what_cannot_be_imported(self, machine: ProgramEnv, words: list[str], told: str) -> None:
        (machine.base / "empty").write_text("")
        machine.environment["GEMINI_API_KEY"] = "key"
        assert machine.run(*words) == ProgramResult(42, "", f"tejat: {told}\n")
        assert machine.run("sessions", "list", "--json").json == []

    def test_damaged_lines_are_reported(self, machine: ProgramEnv) -> None:
        path = save_chat(machine)
        path.write_text(path.read_text() + '{"id": "4", "ty')
        done = machine.run("sessions", "import", str(path))
        assert (done.code, done.stderr) == (0, "tejat: Skipped 1 damaged line.\n")
