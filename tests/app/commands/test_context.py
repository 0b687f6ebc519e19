"""`/context`."""

from pathlib import Path

import pytest

from command_checks import HELLO, Desks, Seat
from foreign_checks import hostile, with_introduction
from tejat.core.tokens import estimate_text


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def numbers(lines: list[str]) -> dict[str, int]:
    """The tokens of each part."""
    rows = [line.split("  ") for line in lines[3:] if line.endswith("%")]
    return {name: int(tokens.replace(",", "")) for name, tokens, _ in rows}


def test_every_part_and_what_is_free(desks: Desks) -> None:
    async def work(seat: Seat) -> str:
        await seat.ask("What is this?")
        return await seat.shown_by("/context")

    lines = desks.at_desk(work).splitlines()
    assert lines[0] == "Context"
    assert lines[2] == "Part  Tokens  Share"
    parts = numbers(lines)
    window = sum(parts.values())
    assert list(parts) == [
        "System prompt",
        "13 tools: built in",
        "How the conversation opens",
        "Conversation",
        "Free",
    ]
    assert lines[1] == f"About {window - parts['Free']:,} of {window:,} tokens of {desks.script(HELLO)} are in use."
    assert lines[-1] == "No context files are read."


def test_files_with_their_reasons(desks: Desks) -> None:
    texts = {
        desks.home / ".gemini" / "GEMINI.md": ("Mine.", "yours, read in every session"),
        desks.project / "GEMINI.md": ("Use tabs.", "in the directory of the project"),
        desks.project / "below" / "AGENTS.md": ("Déjà vu.", "in a directory below"),
    }
    for path, (text, _) in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    lines = desks.shown("/context").splitlines()
    assert lines[-5:] == [
        "Context files",
        "File  Size  Tokens  Why",
        *(f"{path}  {len(text.encode())} bytes  {estimate_text(text)}  {why}" for path, (text, why) in texts.items()),
    ]


def test_servers_and_what_they_say(desks: Desks) -> None:
    desks.person_sets(mcpServers={"bad": hostile(with_introduction("Hello.", tools={}))})

    async def work(seat: Seat) -> str:
        assert seat.parts.workshop.session.foreign is not None
        await seat.parts.workshop.session.foreign.ready()
        return await seat.shown_by("/context")

    parts = numbers(desks.at_desk(work).splitlines())
    assert "What servers say of themselves" in parts
    assert any(name.endswith(": MCP server bad") for name in parts)
