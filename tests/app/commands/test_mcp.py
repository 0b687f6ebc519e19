"""`/mcp`."""

from pathlib import Path

import pytest

from command_checks import Desks, Seat
from foreign_checks import gated, hostile, with_tools

SCHEMA = {"type": "object", "properties": {"far": {"type": "string"}}}
GO = {"name": "go", "description": "Goes\nfar.", "inputSchema": SCHEMA}
NONE = "No MCP servers configured. `tejat mcp add` adds one; docs/mcp.md tells more."
USAGE = "Usage: /mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    desks = Desks(tmp_path)
    desks.person_sets(mcpServers={"far": hostile(with_tools(GO, "stay"))})
    return desks


def shown(desks: Desks, line: str, **more: object) -> str:
    async def work(seat: Seat) -> str:
        assert seat.parts.workshop.session.foreign is not None
        await seat.parts.workshop.session.foreign.ready()
        return await seat.shown_by(line)

    return desks.at_desk(work, **more)


@pytest.mark.parametrize("line", ["/mcp", "/mcp list", "/mcp nodesc"])
def test_names(desks: Desks, line: str) -> None:
    lines = shown(desks, line).splitlines()
    assert lines[:4] == ["Configured MCP servers:", "far - Ready (2 tools)", "  - far__go", "  - far__stay"]


def test_descriptions(desks: Desks) -> None:
    lines = shown(desks, "/mcp desc").splitlines()
    assert lines[2:6] == ["  - far__go", "      From MCP server far: Goes", "      far.", "  - far__stay"]


def test_schemas(desks: Desks) -> None:
    text = shown(desks, "/mcp schema")
    assert "  - far__go\n      From MCP server far: Goes\n      far.\n      Parameters:\n{\n" in text
    assert '"far": {' in text


def test_no_servers(tmp_path: Path) -> None:
    assert Desks(tmp_path).shown("/mcp") == NONE


def test_one_without_tools(desks: Desks) -> None:
    desks.person_sets(mcpServers={"far": hostile(with_tools())})
    lines = shown(desks, "/mcp").splitlines()
    assert lines[:3] == ["Configured MCP servers:", "far - Ready (0 tools)", "  No tools available"]
    assert lines[3].startswith("  Prompts: greet")
    assert lines[4:] == ["  Resources: 2"]


def test_while_they_start(desks: Desks) -> None:
    gate = desks.base / "gate"
    desks.person_sets(mcpServers={"slow": gated(gate, with_tools("go"))})

    async def work(seat: Seat) -> tuple[str, str]:
        foreign = seat.parts.workshop.session.foreign
        assert foreign is not None
        assert await foreign.ready(0.01) != ()
        while foreign.servers is None:
            await foreign.ready(0.01)
        before = await seat.shown_by("/mcp")
        gate.touch()
        await foreign.ready()
        return before, await seat.shown_by("/mcp")

    before, after = desks.at_desk(work)
    assert before == (
        "Configured MCP servers:\n"
        "MCP servers are starting up (1 initializing)...\n"
        "Note: First startup may take longer. Tool availability will update automatically.\n"
        "slow - Starting... (first startup may take longer) (tools will appear when ready)"
    )
    assert after.splitlines()[1] == "slow - Ready (1 tool)"


def test_those_that_failed_are_off_or_not_trusted(desks: Desks) -> None:
    desks.person_sets(
        mcpServers={
            "dead": {
                "command": "/bin/sh",
                "args": ["-c", "echo $KEY >&2; exit 3"],
                "env": {"API_KEY": "s3cr3t-0f-mine"},
            },
            "off": hostile(),
            "out": hostile(),
        },
        mcp={"excluded": ["out"]},
    )
    assert desks.shown("/mcp disable off") == "off is switched off from the next session on."
    lines = shown(desks, "/mcp").splitlines()
    assert "dead - Disconnected" in lines
    assert "off - Disabled" in lines
    assert "out - Not started" in lines
    assert "s3cr3t" not in "\n".join(lines)


def test_not_in_a_folder_that_is_not_trusted(desks: Desks) -> None:
    lines = shown(desks, "/mcp", trusts_folder=False).splitlines()
    assert lines[1] == "far - Not started"
    assert "is not trusted" in lines[2]


def test_connecting_anew(desks: Desks) -> None:
    broken = desks.base / "broken"
    broken.touch()
    program = f'[ -e "{broken}" ] && exit 1; exec "$0" "$@"'
    entry = hostile(with_tools("go"))
    entry |= {"command": "/bin/sh", "args": ["-c", program, entry["command"], *entry["args"]]}
    desks.person_sets(mcpServers={"far": entry})

    async def work(seat: Seat) -> tuple[str, str]:
        assert seat.parts.workshop.session.foreign is not None
        await seat.parts.workshop.session.foreign.ready()
        before = await seat.shown_by("/mcp")
        broken.unlink()
        return before, await seat.shown_by("/mcp refresh")

    before, after = desks.at_desk(work)
    assert before.splitlines()[1] == "far - Disconnected"
    assert after.splitlines()[:4] == [
        "Restarting MCP servers...",
        "Configured MCP servers:",
        "far - Ready (1 tool)",
        "  - far__go",
    ]


def test_switching(desks: Desks) -> None:
    assert desks.shown("/mcp enable far") == "far is switched on already."
    assert desks.shown("/mcp disable far") == "far is switched off from the next session on."
    assert desks.shown("/mcp disable far") == "far is off already."
    assert desks.shown("/mcp enable far") == "far is switched on. It will be started with the next session."
    assert desks.shown("/mcp enable near") == "There is no MCP server near. Known: far."


def test_logging_in_where_there_is_nowhere_to(desks: Desks) -> None:
    told = 'The MCP server "far" is a program that is started here: there is nowhere to log in.'
    assert desks.shown("/mcp auth far") == told
    assert desks.shown("/mcp auth near") == 'There is no MCP server "near" in the settings.'


@pytest.mark.parametrize("line", ["/mcp what", "/mcp auth", "/mcp enable", "/mcp enable a b"])
def test_any_other_words(desks: Desks, line: str) -> None:
    assert desks.shown(line) == USAGE
