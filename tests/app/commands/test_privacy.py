"""`/privacy`."""

from support.command_runner import CommandEnv

KEY = "AIza-some-key-0123456789"


def rows(env: CommandEnv, **more: object) -> list[str]:
    return env.output_of("/privacy", **more).splitlines()


def test_a_local_model(env: CommandEnv) -> None:
    lines = rows(env)
    assert lines[0] == f"Privacy in {env.project}"
    assert lines[2] == f"Model  nothing leaves this machine: scripted:{env.base}/script.toml is local"
    assert "Telemetry  off; nothing is ever sent" in lines
    assert "Sessions  ~/.local/state/tejat/sessions" in lines
    assert "API keys  ~/.config/tejat/keys.env" in lines
    assert "Memory  ~/.gemini/GEMINI.md" in lines


def test_a_service(env: CommandEnv) -> None:
    env.environment |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "https://proxy.test:8443/path"}
    lines = rows(env, model="gemini-2.5-pro")
    text = "prompts, files that the model reads and tool results to https://proxy.test:8443 (gemini-2.5-pro)"
    assert lines[2] == f"Model  {text}"
    assert "Web search  search terms to the model service" in lines
    assert KEY not in "\n".join(lines)


def test_servers_search_and_telemetry(env: CommandEnv) -> None:
    env.write_user_settings(
        mcpServers={"wiki": {"command": "false"}},
        telemetry={"enabled": True, "outfile": "/tmp/t.log", "logPrompts": True},
    )
    env.own_file.parent.mkdir(parents=True)
    env.own_file.write_text('{"web": {"searchUrl": "http://127.0.0.1:9/search?key=hidden"}}')
    lines = rows(env)
    assert "MCP servers  arguments of their tool calls: wiki" in lines
    assert "Web search  search terms to http://127.0.0.1:9" in lines
    assert "Telemetry  nothing is sent; events with prompts are written to /tmp/t.log" in lines
