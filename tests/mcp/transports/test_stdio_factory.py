"""A server as the settings have it: where its program is, what it sees, and what is told when it is not there."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier
from tejat.config.settings.types import McpServer, Setting
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcMessage, JsonRpcResponse
from tejat.mcp.transports.stdio_factory import create_stdio_transport
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

SCRIPT = f"""#!{sys.executable} -IS
import json, os, sys
told = {{"cwd": os.getcwd(), "argv": sys.argv, "env": dict(os.environ)}}
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": told}}), flush=True)
sys.stdin.read()
"""
BASE = {"HOME": "/home/me", "USER": "me", "MY_TOKEN": "s$USER", "OTHER": "o", "BASH_ENV": "/x", "GEMINI_CLI": "0"}

GIVEN = {
    "A": "$MY_TOKEN",
    "B": "${MY_TOKEN}-$OTHER",
    "C": "$NOWHERE|${NOWHERE}|${NOWHERE:-else}",
    "D": "plain $ 100%",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "serve"
    path.parent.mkdir()
    path.write_text(SCRIPT, encoding="utf-8")
    path.chmod(0o755)
    return path


def server_report(
    server: McpServer, root: Path, base: dict[str, str], tier: SourceTier = SourceTier.USER
) -> tuple[str, list[str], dict[str, str]]:
    """What the program of this server finds."""

    async def main() -> JsonRpcMessage:
        supervisor = ProcessSupervisor()
        first: asyncio.Future[JsonRpcMessage] = asyncio.get_running_loop().create_future()
        transport = create_stdio_transport(
            Setting(server, tier=tier), supervisor=supervisor, root=str(root), base_environment=base
        )
        try:
            await transport.open(first.set_result, lambda failure, _: first.set_exception(failure))
            return await asyncio.wait_for(first, 30)
        finally:
            await transport.close()
            supervisor.close()

    match asyncio.run(main()):
        case JsonRpcResponse(1, {"cwd": str(cwd), "argv": list(argv), "env": dict(env)}):
            return cwd, [str(each) for each in argv], {str(name): str(content) for name, content in env.items()}
        case other:
            raise AssertionError(other)


def failure(server: McpServer, root: Path, base: dict[str, str]) -> tuple[str, McpProblem]:
    with pytest.raises(McpFailure) as caught:
        create_stdio_transport(Setting(server), supervisor=ProcessSupervisor(), root=str(root), base_environment=base)
    return caught.value.message, caught.value.problem


class TestWhere:
    def test_on_path(self, program: Path, tmp_path: Path) -> None:
        base = {"PATH": f"relative:{tmp_path}:{program.parent}"}
        cwd, argv, _ = server_report(McpServer(command="serve", arguments=("-x", "", "$A b")), tmp_path, base)
        assert (cwd, argv) == (os.path.realpath(tmp_path), [str(program), "-x", "", "$A b"])

    def test_on_the_path_that_it_is_given(self, program: Path, tmp_path: Path) -> None:
        server = McpServer(command="serve", environment={"PATH": f"{program.parent}:$PATH"})
        _, argv, env = server_report(server, tmp_path, {"PATH": "/usr/bin"})
        assert (argv, env["PATH"]) == ([str(program)], f"{program.parent}:/usr/bin")

    def test_by_its_whole_path(self, program: Path, tmp_path: Path) -> None:
        assert server_report(McpServer(command=str(program)), tmp_path, {})[1] == [str(program)]

    @pytest.mark.parametrize("command", ["./serve", "../bin/serve"])
    def test_from_its_directory(self, program: Path, tmp_path: Path, command: str) -> None:
        for directory in ("bin", str(program.parent)):
            cwd, _, _ = server_report(McpServer(command=command, directory=directory), tmp_path, {})
            assert cwd == os.path.realpath(program.parent)

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            ("serv", "'serv' on PATH. Install it, or fix `command`, which may be a path."),
            ("./serv", "'./serv' that is executable. Install it, or fix `command`, which may be a path."),
            ("./plain", "'./plain' that is executable. Install it, or fix `command`, which may be a path."),
            ("serve --key K", "'serve' on PATH. `command` is the program only: put its arguments in `args`."),
            ("a\x1b[0m", "'a<U+001B>[0m' on PATH. Install it, or fix `command`, which may be a path."),
        ],
    )
    def test_it_is_not_there(self, program: Path, tmp_path: Path, command: str, told: str) -> None:
        (tmp_path / "plain").write_text("", encoding="utf-8")
        server = McpServer(command=command, arguments=("--token", "HUSH"), environment={"T": "HUSH"})
        assert failure(server, tmp_path, {"PATH": str(program.parent)}) == (
            f"The server did not start: no program {told}",
            McpProblem.START,
        )

    def test_no_command(self, tmp_path: Path) -> None:
        assert failure(McpServer(url="http://h"), tmp_path, {}) == (
            "The server has no `command`.",
            McpProblem.CONFIGURATION,
        )


class TestEnvironment:
    def test_what_it_is_given_is_resolved_once(self, program: Path, tmp_path: Path) -> None:
        _, _, env = server_report(McpServer(command=str(program), environment=GIVEN), tmp_path, BASE)
        assert {name: env[name] for name in "ABCD"} == {
            "A": "s$USER",
            "B": "s$USER-o",
            "C": "||else",
            "D": "plain $ 100%",
        }
        assert (env["GEMINI_CLI"], env["HOME"]) == ("1", "/home/me")
        assert not {"MY_TOKEN", "OTHER", "BASH_ENV"} & env.keys()

    def test_a_project_gets_no_secret(self, program: Path, tmp_path: Path) -> None:
        server = McpServer(command=str(program), environment=GIVEN)
        _, _, env = server_report(server, tmp_path, BASE, SourceTier.WORKSPACE)
        assert {name: env[name] for name in "AB"} == {"A": "$MY_TOKEN", "B": "${MY_TOKEN}-o"}

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"A=B": "x"}, "'A=B' is not a valid environment variable name."),
            ({"A": "x\0HUSH"}, "The value of the environment variable A contains a NUL character."),
            (
                {"BASH_ENV": "/HUSH"},
                "The environment variable BASH_ENV is never passed on: a shell would execute it.",
            ),
        ],
    )
    def test_what_no_environment_can_hold(self, tmp_path: Path, given: dict[str, str], told: str) -> None:
        assert failure(McpServer(command="/bin/true", environment=given), tmp_path, {}) == (
            f"The server's `env` is invalid. {told}",
            McpProblem.CONFIGURATION,
        )


def test_variables_of_an_extension_are_expanded_already(program: Path, tmp_path: Path) -> None:
    server = McpServer(command=str(program), environment={"KEY": "a$USER${OTHER}"})
    assert server_report(server, tmp_path, BASE, SourceTier.EXTENSION)[2]["KEY"] == "a$USER${OTHER}"
