"""Contents of extensions, also of broken ones: what cannot be read is a problem, never an exception."""

from pathlib import Path
from typing import Any

from support.extension_trees import write_demo, write_plain
from support.packages import write_tree
from tejat.app.extensions.description.contents import ExtensionContents, read_contents
from tejat.app.extensions.description.summary_builder import ExtensionOrigin, NamesInUse, build_summary
from tejat.config.extensions.manifest import read_manifest


def read(path: Path, place: str = "/place") -> ExtensionContents:
    return read_contents(str(path), read_manifest(str(path)), workspace="/work", place=place)


def summary_of(contents: ExtensionContents, names: NamesInUse | None = None) -> str:
    origin = ExtensionOrigin("/src", "local", "/place")
    return "\n".join(build_summary(contents, origin, names or NamesInUse()).lines)


def test_everything(tmp_path: Path) -> None:
    contents = read(write_demo(tmp_path / "demo"))
    assert contents.servers["tools"].arguments[0] == "/place/server.js"
    assert [hook.command for hook in contents.hooks] == ["sh /place/check.sh --strict"]
    assert [text.name for text in contents.context] == ["GEMINI.md"]
    assert contents.commands == ("deploy",)
    assert [skill.name for skill in contents.skills] == ["audit"]
    assert [agent.name for agent in contents.agents] == ["helper"]
    assert [rule.decision.value for rule in contents.rules] == ["allow", "deny"]
    assert (contents.files, contents.problems) == (9, ())
    assert contents.tokens == contents.context_tokens + contents.skill_tokens + contents.agent_tokens > 90


def test_problems_are_named(tmp_path: Path) -> None:
    tree = write_plain(tmp_path / "demo")
    write_tree(
        tree,
        {
            "hooks/hooks.json": "{",
            "policies/p.toml": "[[rule]]\ndecision = 7\n",
            "skills/bad/SKILL.md": "no front matter",
            "skills/none/notes.txt": "",
            "agents/far.md": "---\nname: far\nkind: remote\n---\n",
            "agents/mute.md": "---\nname: mute\n---\nBody\n",
            "commands/a/b.toml": "",
        },
    )
    contents = read(tree)
    problems = "\n".join(contents.problems)
    for place in ("hooks/hooks.json", "policies/p.toml", "skills/bad/SKILL.md", "agents/mute.md"):
        assert place in problems
    assert contents.remote_agents == ("far",)
    assert contents.commands == ("a:b",)
    assert "remote agents: far" in summary_of(contents)


def test_hooks_of_a_wrong_kind(tmp_path: Path) -> None:
    for number, text in enumerate(('{"hooks": []}', "[]", '{"hooks": {"BeforeTool": 7}}')):
        tree = write_tree(write_plain(tmp_path / f"d{number}"), {"hooks/hooks.json": text})
        contents = read(tree)
        assert contents.problems
        assert all(not hook.command for hook in contents.hooks)


def test_names_that_clash(tmp_path: Path) -> None:
    contents = read(write_demo(tmp_path / "demo"))
    owner = "the extension other"
    names = NamesInUse({"deploy": owner}, {"audit": owner}, {"helper": owner}, {"tools": "your settings"})
    text = summary_of(contents, names)
    assert "/deploy is taken by the extension other; it is called /demo:deploy" in text
    assert "audit is taken by the extension other; it is called demo:audit" in text
    assert "helper is taken by the extension other; it is called demo:helper" in text
    assert "MCP server tools is also configured by your settings" in text


def test_what_is_not_used(tmp_path: Path) -> None:
    manifest: dict[str, Any] = {
        "mcpServers": {
            "far": {"httpUrl": "https://example.org/mcp", "headers": {"X-Key": "v"}, "trust": True},
            "near": {"command": "npx", "args": ["-y", "x"], "env": {"MY_TOKEN": "t", "LEVEL": "1"}},
        },
        "settings": [{"name": "Path", "envVar": "PATH"}],
        "excludeTools": ["glob"],
        "surprise": 1,
    }
    text = summary_of(read(write_demo(tmp_path / "demo", **manifest)))
    for expected in (
        "> https://example.org/mcp",
        "headers: X-Key",
        "trust of the server far: not used",
        "fetches its code at every start",
        "MY_TOKEN for the server near, looks secret",
        "LEVEL for the server near",
        "setting Path: an extension cannot set PATH",
        "unknown fields: surprise",
        "tool glob",
    ):
        assert expected in text, expected
    assert "> v" not in text
