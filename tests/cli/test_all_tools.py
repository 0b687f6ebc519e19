"""`tejat tools list --all` as a program: every tool that a session would have, what is wrong with others, no trace."""

import json
from pathlib import Path

import pytest

from foreign_checks import Stage, hostile, with_tools
from mcp_links import living
from program_checks import Done
from tejat.app.looking import examine

PLUGIN = "from tejat import tool\n@tool\ndef tide(at: str) -> str:\n    'Tells the tide.'\n    return at\n"
TIDES = {"name": "tides", "description": "Tells the tides. At length."}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})


def listed(stage: Stage, *words: str) -> Done:
    return stage.run("tools", "list", "--all", *words)


def rows(done: Done) -> dict[str, str]:
    """The lines of the table by the names of the tools."""
    head, *lines = done.result.partition("\n\n")[0].splitlines()
    assert head.split() == ["NAME", "SHOWN", "AS", "KIND", "SOURCE", "TOKENS", "WHAT", "IT", "DOES"]
    return {line.split()[0]: " ".join(line.split()) for line in lines}


def test_from_everywhere_with_where_they_are_from(stage: Stage) -> None:
    pids = stage.base / "pids"
    stage.person_sets(
        mcpServers={
            "far": hostile(with_tools(TIDES), 'capabilities={"tools": {}}', f"pids={pids}"),
            "dead": hostile("die=start", "words=no \x1b[31mlicence"),
        },
        tools={"discoveryCommand": ["/bin/echo", '[{"name": "wind", "description": "Tells the wind."}]']},
    )
    for folder, name, code in ((stage.home, "sea", PLUGIN), (stage.project, "broken", "1 / 0")):
        (folder / ".gemini" / "tools").mkdir(parents=True)
        (folder / ".gemini" / "tools" / f"{name}.py").write_text(code)
    done = listed(stage)
    assert done.code == 0
    found = rows(done)
    assert list(found)[-3:] == ["tide", "wind", "far__tides"]
    assert "read_file" in found
    assert found["far__tides"].startswith("far__tides tides (far MCP Server) other server far ")
    assert found["far__tides"].endswith(" From MCP server far: Tells the tides")
    assert f" discovered: {stage.home}/.gemini/settings.json:1 " in found["wind"]
    assert " python: ~/.gemini/tools/sea.py " in found["tide"]
    told = done.aside.splitlines()
    assert len([line for line in told if line.startswith("tejat: ")]) == 2
    assert "broken.py" in told[0]
    assert told[1].startswith("tejat: MCP server dead (handshake): ")
    assert told[-1] == "  no licence"
    assert living(pids) == []


def test_as_json_it_is_what_a_model_is_told(stage: Stage) -> None:
    stage.person_sets(mcpServers={"far": hostile(with_tools(TIDES)), "gone": {"command": "no-such-program"}})
    done = listed(stage, "--json")
    assert done.code == 0
    assert [tool["name"] for tool in done.json[-3:]] == ["list_mcp_resources", "read_mcp_resource", "far__tides"]
    assert done.json[-1] == {
        "name": "far__tides",
        "description": "From MCP server far: Tells the tides. At length.",
        "parametersJsonSchema": {"type": "object", "properties": {}},
    }
    (problem,) = done.aside.splitlines()
    assert problem.startswith("tejat: MCP server gone (start): ")


def test_what_is_switched_off_or_excluded_is_not_there(stage: Stage) -> None:
    stage.person_sets(
        mcpServers={"far": hostile(with_tools("a", "b")), "near": hostile()},
        tools={"exclude": ["far__a", "glob"]},
        mcp={"excluded": ["near"]},
    )
    names = [tool["name"] for tool in listed(stage, "--json").json]
    assert [name for name in names if "__" in name] == ["far__b"]
    assert "glob" not in names


def test_of_another_directory(stage: Stage) -> None:
    other = stage.base / "other"
    (other / ".gemini").mkdir(parents=True)
    settings = {"mcpServers": {"far": hostile(with_tools("a"))}}
    (other / ".gemini" / "settings.json").write_text(json.dumps(settings))
    assert "far__a" not in rows(listed(stage))
    assert "far__a" in rows(listed(stage, "--root", str(other)))


def test_of_a_server_in_a_sandbox(stage: Stage) -> None:
    (sandbox, *_) = examine([str(stage.project)], "auto")
    if sandbox.how != "bubblewrap":
        pytest.skip(f"SANDBOX MISSING: bubblewrap does not work here: {sandbox.how}")
    stage.person_sets(mcpServers={"far": hostile(with_tools("a"), sandbox=True)})
    done = listed(stage)
    assert (done.code, done.aside, "far__a" in rows(done)) == (0, "", True)


def test_a_folder_that_is_not_trusted_starts_nothing(stage: Stage) -> None:
    pids = stage.base / "pids"
    del stage.environment["GEMINI_CLI_TRUST_WORKSPACE"]
    stage.person_sets(
        mcpServers={"far": hostile(f"pids={pids}")}, tools={"discoveryCommand": ["/usr/bin/touch", str(pids)]}
    )
    done = listed(stage)
    assert done.code == 0
    assert "far__echo" not in rows(done)
    servers, command = done.aside.splitlines()
    assert servers.startswith("tejat: MCP servers that are not started: far. ")
    assert command.startswith("tejat: The tool discovery command is not run. ")
    assert not pids.exists()


def test_settings_that_cannot_be_read_are_bad_usage(stage: Stage) -> None:
    (stage.home / ".gemini").mkdir()
    (stage.home / ".gemini" / "settings.json").write_text('{"mcpServers": []}')
    done = listed(stage)
    assert (done.code, done.result) == (2, "")
    assert done.aside.startswith(f"tejat: Error in {stage.home}/.gemini/settings.json: ")


def test_without_the_flag_nothing_is_started(stage: Stage) -> None:
    pids = stage.base / "pids"
    stage.person_sets(mcpServers={"far": hostile(f"pids={pids}")})
    done = stage.run("tools", "list")
    assert (done.code, done.aside, pids.exists()) == (0, "", False)


@pytest.mark.parametrize("words", [("list", "--all"), ("call", "tide", "at=noon", "--yes")])
def test_a_folder_that_nobody_trusts_is_named_where_its_tools_are_missed(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    stage = Stage(tmp_path)
    plugin = stage.project / ".gemini" / "tools" / "sea.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN)
    told = "This folder is not trusted, so its own configuration is not used (.gemini/tools/sea.py). See `tejat trust`."
    assert f"tejat: {told}" in stage.run("tools", *words).aside.splitlines()
