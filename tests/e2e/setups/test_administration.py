"""Switches and server lists of administrators, which no other file can take back."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.program import ProgramEnv, text_script, write_json

NO_SERVERS = {"mcp": {"enabled": False}}


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(tmp_path / "etc")
    return machine


def write_admin(machine: ProgramEnv, **settings: object) -> Path:
    return write_json(machine.base / "etc" / "settings.json", settings)


def marking(machine: ProgramEnv, name: str) -> dict[str, object]:
    """A server that leaves a mark when it is started."""
    return {"command": sys.executable, "args": ["-c", f"open({str(machine.base / name)!r}, 'w')"]}


def was_started(machine: ProgramEnv, name: str) -> bool:
    return (machine.base / name).exists()


@contextmanager
def http_server() -> Generator[tuple[str, list[str]]]:
    """An address, and the paths that were asked for there. Nothing is found."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_GET = do_POST  # noqa: N815 -- the name that the server looks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- as in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("where", ["user", "project", "admin"])
def test_secure_mode_ends_a_run_in_yolo_mode(machine: ProgramEnv, where: str) -> None:
    secure = {"secureModeEnabled": True}
    path = {
        "user": machine.write_user_settings,
        "project": machine.write_project_settings,
        "admin": lambda **settings: write_admin(machine, **settings),
    }[where](admin=secure)
    if where != "project":
        machine.write_project_settings(admin={"secureModeEnabled": False})
    model = machine.script(text_script("Hi."))
    done = machine.run("--skip-trust", "-y", "-m", model, "-p", "hi")
    assert (done.code, done.stdout) == (52, "")
    assert str(path) in done.stderr
    assert machine.run("--skip-trust", "-m", model, "-p", "hi").code == 0


@pytest.mark.parametrize("where", ["user", "project"])
def test_servers_that_are_switched_off_are_never_started(machine: ProgramEnv, where: str) -> None:
    own = {"mcpServers": {"notes": marking(machine, "mark")}, "mcp": {"serverCommand": "touch mark"}}
    if where == "user":
        path = machine.write_user_settings(**own, admin=NO_SERVERS)
        machine.write_project_settings(admin={"mcp": {"enabled": True}})
    else:
        machine.write_user_settings(**own)
        path = machine.write_project_settings(admin=NO_SERVERS)
    assert machine.run("trust", "--yes").code == 0
    model = machine.script(text_script("Hi."))
    done = machine.run("-m", model, "-p", "hi", "--allowed-mcp-server-names", "notes")
    reason = f"MCP servers are turned off: admin.mcp.enabled is false in {path}:1."
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert reason in done.stderr
    listed = machine.run("mcp", "list")
    assert listed.code == 0
    assert reason in listed.stdout
    for words in (["add", "more", "touch"], ["enable", "notes"], ["test", "notes"]):
        refused = machine.run("mcp", *words)
        assert (refused.code, refused.stderr) == (52, f"tejat: {reason}\n")
    assert machine.run("mcp", "disable", "notes").code == 0
    assert not was_started(machine, "mark")
    assert not (machine.project / "mark").exists()


def test_who_switched_servers_off_is_said_even_if_there_are_none(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(admin=NO_SERVERS)
    done = machine.run("mcp", "list")
    assert (done.code, done.stdout) == (0, "No MCP servers configured.\n")
    assert f"admin.mcp.enabled is false in {path}:1." in done.stderr


def test_the_lists_of_an_administrator(machine: ProgramEnv) -> None:
    machine.write_user_settings(mcpServers={"a": marking(machine, "a"), "b": marking(machine, "b")})
    with http_server() as (address, asked):
        listed = {"a": {"url": f"{address}/a", "type": "http"}}
        required = {"c": {"url": f"{address}/c", "type": "http"}}
        path = write_admin(machine, admin={"mcp": {"config": listed, "requiredConfig": required}})
        model = machine.script(text_script("Hi."))
        done = machine.run("--skip-trust", "-m", model, "-p", "hi")
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert f"MCP servers not started: b. admin.mcp.config in {path}:1 does not list it." in done.stderr
    assert {"/a", "/c"} == set(asked)
    assert [name for name in "ab" if was_started(machine, name)] == []


@pytest.mark.parametrize("feature", ["extensions", "skills"])
def test_commands_of_what_is_switched_off(machine: ProgramEnv, feature: str) -> None:
    path = machine.write_user_settings(admin={feature: {"enabled": False}})
    done = machine.run(feature, "list")
    assert (done.code, done.stderr) == (52, f"tejat: admin.{feature}.enabled is false in {path}:1.\n")


def test_telemetry_that_an_administrator_asks_for_is_not_sent(machine: ProgramEnv) -> None:
    path = write_admin(machine, telemetry={"enabled": True, "target": "gcp"})
    done = machine.run("-m", machine.script(text_script("Hi.")), "-p", "hi")
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert f"{path}:1 turns telemetry on, but Tejat sends none." in done.stderr
