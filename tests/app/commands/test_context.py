"""`/context`."""

from support.command_runner import HELLO, CommandEnv, CommandRunner
from support.external_tools import hostile_server, initialize_fault
from tejat.core.messages.tokens import estimate_text_tokens


def numbers(lines: list[str]) -> dict[str, int]:
    """The tokens of each part."""
    rows = [line.split("  ") for line in lines[3:] if line.endswith("%")]
    return {name: int(tokens.replace(",", "")) for name, tokens, _ in rows}


def test_every_part_and_what_is_free(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> str:
        await runner.prompt("What is this?")
        return await runner.output_of("/context")

    lines = env.run_with(work).splitlines()
    assert lines[0] == "Context"
    assert lines[2] == "Part  Tokens  Share"
    parts = numbers(lines)
    window = sum(parts.values())
    assert list(parts) == [
        "System prompt",
        "Sub-agents",
        "17 built-in tools",
        "Opening messages",
        "Conversation",
        "Free",
    ]
    assert lines[1] == f"About {window - parts['Free']:,} of {window:,} tokens used ({env.script(HELLO)})"
    assert lines[-1] == "No context files."


def test_files_with_their_reasons(env: CommandEnv) -> None:
    texts = {
        env.home / ".gemini" / "GEMINI.md": ("Mine.", "your own, read in every session"),
        env.project / "GEMINI.md": ("Use tabs.", "in the project directory"),
        env.project / "below" / "AGENTS.md": ("Déjà vu.", "in a subdirectory"),
    }
    for path, (text, _) in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    lines = env.output_of("/context").splitlines()
    assert lines[-5:] == [
        "Context files",
        "File  Size  Tokens  Why",
        *(
            f"{path}  {len(text.encode())} bytes  {estimate_text_tokens(text)}  {why}"
            for path, (text, why) in texts.items()
        ),
    ]


def test_servers_and_what_they_say(env: CommandEnv) -> None:
    env.write_user_settings(mcpServers={"bad": hostile_server(initialize_fault("Hello.", tools={}))})

    async def work(runner: CommandRunner) -> str:
        assert runner.parts.toolset.external is not None
        await runner.parts.toolset.external.wait_ready()
        return await runner.output_of("/context")

    parts = numbers(env.run_with(work).splitlines())
    assert "MCP server instructions" in parts
    assert any(name.endswith(" MCP server bad tools") for name in parts)
