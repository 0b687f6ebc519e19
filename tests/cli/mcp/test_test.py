"""`tejat mcp test`: the steps of one server, and what is said when one of them fails."""

import re
from pathlib import Path

import pytest

from support.mcp.cli_env import HOSTILE, OFFICIAL, McpCliEnv, make_cli_env
from support.mcp.clients import living_pids
from support.mcp.oauth_server import oauth_server
from support.mcp.official_http_servers import official_servers
from support.raw_server import run_checked


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    here = make_cli_env(tmp_path, monkeypatch, capsys)
    here.trust()
    return here


def timeless(text: str) -> list[str]:
    """The lines, with one figure for every time and number of tokens."""
    return [re.sub(r" +\d+$", " N", re.sub(r" +\d+\.\d\d s", " T s", line)) for line in text.splitlines()]


def test_one_that_works(here: McpCliEnv) -> None:
    here.write_servers(good=OFFICIAL)
    done = here.mcp("test", "good")
    assert (done.code, done.stderr) == (0, "")
    assert timeless(done.stdout) == [
        f"good: {OFFICIAL[0]} (stdio)",
        "  start T s  done",
        "  handshake T s  official 7, protocol 2025-11-25",
        "  list T s  2 tools, 1 prompt, 1 resource",
        "",
        "  TOOL         TOKENS",
        "  good__add N",
        "  good__count N",
        "  total N",
    ]
    *_, add, count, together = [int(line.split()[-1]) for line in done.stdout.splitlines()[-3:]]
    assert add + count == together > 0


def test_what_is_wrong_with_some_of_its_tools(here: McpCliEnv, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    here.write_servers(odd=[*HOSTILE, "bad-items", "words=I am\x1b[2J here", f"pids={pids}"])
    done = here.mcp("test", "odd")
    assert done.code == 0
    lines = done.stdout.splitlines()
    problems, last_words = lines.index("  problems:"), lines.index("  end of its error output:")
    assert problems < last_words - 2
    assert lines[last_words + 1 :] == ["  I am here"]
    assert "\x1b" not in done.stdout
    assert living_pids(pids) == []


@pytest.mark.parametrize(
    ("faults", "steps", "reason"),
    [
        (["die=start"], ["start T s  done", "handshake T s  failed"], "The server exited with code 3."),
        (
            ["odd=initialize", "refuse=server/discover"],
            ["start T s  done", "handshake T s  failed"],
            None,
        ),
        (
            ["result=tools/list:{}", "result=prompts/list:{}", "capabilities={}"],
            ["start T s  done", "handshake T s  hostile 1, protocol 2025-11-25", "list T s  failed"],
            None,
        ),
    ],
)
def test_the_step_that_fails(here: McpCliEnv, faults: list[str], steps: list[str], reason: str | None) -> None:
    here.write_servers(bad=[*HOSTILE, *faults, "words=why it is so"])
    done = here.mcp("test", "bad")
    assert done.code == 1
    assert timeless(done.stdout) == [
        f"bad: {HOSTILE[0]} (stdio)",
        *(f"  {step}" for step in steps),
        "",
        "  end of its error output:",
        "  why it is so",
    ]
    assert done.stderr.startswith("tejat: ")
    assert reason is None or done.stderr == f"tejat: {reason}\n"


def test_a_limit_that_is_too_short(here: McpCliEnv) -> None:
    here.write_servers(
        slow={
            "command": HOSTILE[0],
            "args": [*HOSTILE[1:], "silent=initialize", "silent=server/discover"],
            "startTimeout": 500,
        }
    )
    done = here.mcp("test", "slow")
    assert (done.code, timeless(done.stdout)[-1]) == (1, "  handshake T s  failed")
    assert done.stderr.startswith("tejat: The server did not ")
    assert "0.5 seconds" in done.stderr


def test_one_with_an_address(here: McpCliEnv) -> None:
    with official_servers() as addresses:
        here.write_servers(new={"httpUrl": addresses["stateful"]}, old={"url": addresses["sse"], "type": "sse"})
        new, old = here.mcp("test", "new"), here.mcp("test", "old")
    for done, kind in ((new, "http"), (old, "sse")):
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0].endswith(f"({kind})")
        assert timeless(done.stdout)[3].startswith("  list T s  4 tools")


def test_one_that_wants_to_know_who_asks(here: McpCliEnv) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            here.write_servers(wiki={"httpUrl": server.mcp})
            done = await here.run_in_process("test", "wiki")
            assert (done.code, timeless(done.stdout)) == (
                1,
                [f"wiki: {server.url} (http)", "  start T s  done", "  handshake T s  failed"],
            )
            assert done.stderr.endswith("tejat: Log in with `tejat mcp auth wiki`.\n")

    run_checked(main())


def test_one_that_may_not_be_started(here: McpCliEnv, tmp_path: Path) -> None:
    here.write_servers(off=["touch", str(tmp_path / "started")])
    here.mcp("disable", "off")
    done = here.mcp("test", "off")
    told = "tejat: It is disabled. Enable it with `tejat mcp enable off`.\n"
    assert (done.code, done.stdout, done.stderr) == (1, "off: touch (stdio)\n", told)
    assert not (tmp_path / "started").exists()


def test_a_name_that_nobody_knows(here: McpCliEnv) -> None:
    here.write_servers(good=["x"])
    done = here.mcp("test", "god")
    told = 'tejat: There is no MCP server "god" in the settings. Known servers: good.\n'
    assert (done.code, done.stdout, done.stderr) == (1, "", told)


def test_a_folder_that_nobody_trusts_may_be_why(here: McpCliEnv) -> None:
    (here.project / ".gemini").mkdir()
    (here.project / ".gemini" / "settings.json").write_text('{"mcpServers": {"one": {"command": "x"}}}')
    done = here.mcp("test", "one")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == (
        "tejat: This folder has changed since it was trusted: its configuration is ignored "
        "(.gemini/settings.json). See `tejat trust`.\n"
        'tejat: There is no MCP server "one" in the settings. Add one with `tejat mcp add`.\n'
    )


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--nonsense"]])
def test_bad_usage(here: McpCliEnv, words: list[str]) -> None:
    assert here.mcp("test", *words).code == 2
