"""What a folder brings along: every file that could start something or change a rule, and nothing else."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths
from tejat.config.trust.items import MAX_ITEMS, scan_trust_items
from tejat.config.trust.store import TrustItem
from tejat.core.errors import UsageError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = f"{tmp_path}/home"
    os.mkdir(home)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def write(path: Path, content: object) -> str:
    """Write the file and return its digest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text)
    return hashlib.sha256(text.encode()).hexdigest()


def test_nothing(paths: AppPaths, root: Path) -> None:
    write(root / "GEMINI.md", "x")
    write(root / "AGENTS.md", "x")
    write(root / ".gemini" / "GEMINI.md", "x")
    write(root / ".gemini" / "policies" / "notes.txt", "x")
    (root / ".gemini" / "settings.json").symlink_to("nowhere")
    assert scan_trust_items(paths, str(root)) == ()


def test_everything(paths: AppPaths, root: Path) -> None:
    servers = {"mcpServers": {"x": {"command": "node", "args": ["tools/server.js", "--port=1"]}}}
    hooks = {
        "BeforeTool": [{"hooks": [{"type": "command", "command": "$GEMINI_PROJECT_DIR/hook.sh --fast"}]}],
        "AfterTool": [{"hooks": [{"command": "bash -c 'bin/after it'"}]}],
    }
    settings = {
        "tools": {"discoveryCommand": 'bin/discover "with space.sh"', "callCommand": "/bin/true"},
        "hooks": hooks,
        **servers,
    }
    digests = {
        ".env": write(root / ".env", "B=secret\nexport A=1\n"),
        ".gemini/commands/a/b.toml": write(root / ".gemini/commands/a/b.toml", "prompt = 'x'"),
        ".gemini/policies/p.toml": write(root / ".gemini/policies/p.toml", "x"),
        ".gemini/settings.json": write(root / ".gemini/settings.json", settings),
        ".mcp.json": write(root / ".mcp.json", {"mcpServers": {"y": {"command": "run me"}, "z": {"url": "http://z"}}}),
        "bin/discover": write(root / "bin/discover", "1"),
        "hook.sh": write(root / "hook.sh", "2"),
        "tools/server.js": write(root / "tools/server.js", "3"),
        "with space.sh": write(root / "with space.sh", "4"),
        "bin/after it": write(root / "bin/after it", "5"),
    }
    write(root / "other.sh", "not named")
    found = scan_trust_items(paths, str(root))
    assert {item.path: item.digest for item in found} == digests
    assert [item.path for item in found] == sorted(digests)
    assert {item.path: item.kind for item in found if item.kind != "script"} == {
        ".env": "environment file",
        ".gemini/commands/a/b.toml": "command",
        ".gemini/policies/p.toml": "policy",
        ".gemini/settings.json": "settings",
        ".mcp.json": "settings",
    }
    says = {item.path: item.details for item in found if item.details}
    assert says == {
        ".env": ("sets A, B",),
        ".gemini/settings.json": (
            'tools.discoveryCommand runs: bin/discover "with space.sh"',
            "tools.callCommand runs: /bin/true",
            "hooks.BeforeTool.hooks runs: $GEMINI_PROJECT_DIR/hook.sh --fast",
            "hooks.AfterTool.hooks runs: bash -c 'bin/after it'",
            "mcpServers.x runs: node tools/server.js --port=1",
            "sets tools.discoveryCommand, tools.callCommand, hooks, mcpServers",
        ),
        ".mcp.json": ("mcpServers.y runs: run me", "mcpServers.z connects to: http://z", "sets mcpServers"),
    }


@pytest.mark.parametrize(
    ("settings", "said", "scripts"),
    [
        (
            {"tools": {"discoveryCommand": ["python3", "my tools.py", "list"]}},
            "tools.discoveryCommand runs: python3 'my tools.py' list",
            ["my tools.py"],
        ),
        ({"toolCallCommand": ["./it's.sh"]}, """toolCallCommand runs: './it'"'"'s.sh'""", ["it's.sh"]),
        ({"mcp": {"serverCommand": ["x", "--at=a.py"]}}, "mcp.serverCommand runs: x --at=a.py", ["a.py"]),
        ({"toolCallCommand": r"sh my\ tools.py"}, r"toolCallCommand runs: sh my\ tools.py", ["my tools.py"]),
        (
            {"toolCallCommand": ["$GEMINI_PROJECT_DIR/a.py", "${X:-my tools.py}"]},
            "toolCallCommand runs: '$GEMINI_PROJECT_DIR/a.py' '${X:-my tools.py}'",
            ["a.py", "my tools.py"],
        ),
        (
            {"mcpServers": {"x": {"command": "node", "args": ["my tools.py", "a.py"]}}},
            "mcpServers.x runs: node 'my tools.py' a.py",
            ["a.py", "my tools.py"],
        ),
        (
            {"mcpServers": {"x": {"command": "x.sh", "cwd": "deep", "env": {"A": "my tools.py", "B": 1}}}},
            "mcpServers.x runs: x.sh (in deep) (with A=my tools.py)",
            ["deep/x.sh", "my tools.py"],
        ),
        ({"mcpServers": {"x": {"command": "$SCRIPT"}}}, "mcpServers.x runs: $SCRIPT", ["a.py"]),
        ({"toolCallCommand": ["a\0b", 5, "sub"]}, "toolCallCommand runs: 'a\0b' sub", []),
    ],
)
def test_commands_however_they_are_written(
    paths: AppPaths, root: Path, settings: dict[str, object], said: str, scripts: list[str]
) -> None:
    for name in ("a.py", "my tools.py", "it's.sh", "other", "deep/x.sh"):
        write(root / name, name)
    write(root / ".env", "SCRIPT=a.py")
    (root / "sub").mkdir()
    write(root / ".gemini/settings.json", settings)
    found = {item.path: item for item in scan_trust_items(paths, str(root))}
    assert sorted(path for path, item in found.items() if item.kind == "script") == scripts
    assert found[".gemini/settings.json"].details[0] == said


def test_a_command_that_cannot_be_pinned(paths: AppPaths, root: Path) -> None:
    write(root / ".gemini/settings.json", {"mcpServers": {"x": {"command": "npm", "args": ["start"]}}})
    (item,) = scan_trust_items(paths, str(root))
    assert item.details[:2] == (
        "mcpServers.x runs: npm start",
        "mcpServers.x is not pinned: npm runs what other files in the folder define",
    )


def test_tools_in_python(paths: AppPaths, root: Path) -> None:
    digests = {
        path: write(root / path, path)
        for path in (".gemini/tools/_shared.py", ".gemini/tools/a.py", ".gemini/tools/b/c.py")
    }
    write(root / ".gemini/tools/notes.txt", "x")
    write(root / ".gemini/tools/policy.toml", "x")
    says = ("runs inside this program, outside any sandbox",)
    assert scan_trust_items(paths, str(root)) == tuple(
        TrustItem(path, "tool", digest, says) for path, digest in digests.items()
    )
    changed = write(root / ".gemini/tools/a.py", "other")
    assert scan_trust_items(paths, str(root))[1] == TrustItem(".gemini/tools/a.py", "tool", changed, says)


class TestEnvironmentFile:
    def test_only_the_one_that_would_be_read(self, paths: AppPaths, root: Path) -> None:
        write(root / ".env", "A=1")
        digest = write(root / ".gemini" / ".env", "A=2")
        assert scan_trust_items(paths, str(root)) == (
            TrustItem(".gemini/.env", "environment file", digest, ("sets A",)),
        )

    def test_one_above(self, paths: AppPaths, root: Path) -> None:
        digest = write(root.parent / ".env", "A=1")
        (root.parent / "link").symlink_to(root)
        for folder in (root, root.parent / "link"):
            assert scan_trust_items(paths, str(folder)) == (
                TrustItem("../.env", "environment file", digest, ("sets A",)),
            )

    def test_not_the_persons_own(self, paths: AppPaths, root: Path) -> None:
        write(Path(paths.home) / ".env", "A=1")
        assert scan_trust_items(paths, str(root)) == ()


class TestOwn:
    def test_the_home_directory_brings_nothing_that_is_not_the_persons(self, paths: AppPaths, root: Path) -> None:
        home = Path(paths.home)
        write(home / ".gemini" / "settings.json", {"mcpServers": {"x": {"command": "x"}}})
        write(home / ".mcp.json", {})
        (root.parent / "link").symlink_to(home)
        assert scan_trust_items(paths, paths.home) == ()
        assert scan_trust_items(paths, str(root.parent / "link")) == ()

    def test_a_link_to_the_persons_directory_hides_nothing_else(self, paths: AppPaths, root: Path) -> None:
        write(Path(paths.gemini) / "GEMINI.md", "x")
        (root / ".gemini").symlink_to(paths.gemini)
        digest = write(root / ".env", "A=1")
        assert scan_trust_items(paths, str(root)) == (TrustItem(".env", "environment file", digest, ("sets A",)),)

    def test_a_directory_that_is_only_called_like_it(self, paths: AppPaths) -> None:
        root = Path(paths.home) / "x.gemini" / ".gemini"
        digest = write(root / ".gemini" / "settings.json", "{}")
        assert scan_trust_items(paths, str(root)) == (TrustItem(".gemini/settings.json", "settings", digest),)


class TestHostile:
    def test_a_pipe_is_not_waited_for(self, paths: AppPaths, root: Path) -> None:
        (root / ".gemini").mkdir()
        os.mkfifo(root / ".gemini" / "settings.json")
        assert scan_trust_items(paths, str(root)) == (
            TrustItem(".gemini/settings.json", "settings", "no regular file"),
        )

    def test_a_directory_in_place_of_a_file(self, paths: AppPaths, root: Path) -> None:
        (root / ".mcp.json").mkdir()
        assert scan_trust_items(paths, str(root)) == (TrustItem(".mcp.json", "settings", "no regular file"),)

    def test_a_file_in_place_of_the_directory(self, paths: AppPaths, root: Path) -> None:
        write(root / ".gemini", "x")
        assert scan_trust_items(paths, str(root)) == ()

    @pytest.mark.parametrize("text", ["{", "[" * 10_000, "\0", ""])
    def test_settings_that_cannot_be_read_are_pinned_all_the_same(self, paths: AppPaths, root: Path, text: str) -> None:
        digest = write(root / ".gemini" / "settings.json", text)
        (item,) = scan_trust_items(paths, str(root))
        assert (item.path, item.digest) == (".gemini/settings.json", digest)
        assert [line.partition(":")[0] for line in item.details] == ["cannot be read"]

    def test_scripts_outside_are_not_the_folders(self, paths: AppPaths, root: Path) -> None:
        write(root.parent / "outside.sh", "x")
        (root / "link.sh").symlink_to("../outside.sh")
        commands = ["../outside.sh", "link.sh", str(root.parent / "outside.sh"), ".", "", "/etc/passwd"]
        write(
            root / ".mcp.json", {"mcpServers": {str(number): {"command": line} for number, line in enumerate(commands)}}
        )
        assert [item.path for item in scan_trust_items(paths, str(root))] == [".mcp.json"]

    def test_a_link_to_a_script_inside_pins_the_script(self, paths: AppPaths, root: Path) -> None:
        digest = write(root / "deep" / "real.sh", "x")
        (root / "link.sh").symlink_to("deep/real.sh")
        write(root / ".mcp.json", {"mcpServers": {"x": {"command": "sh ./link.sh"}}})
        items = {item.path: item.digest for item in scan_trust_items(paths, str(root))}
        assert items["deep/real.sh"] == digest

    def test_directories_in_a_circle(self, paths: AppPaths, root: Path) -> None:
        digest = write(root / ".gemini" / "commands" / "a.toml", "x")
        (root / ".gemini" / "commands" / "again").symlink_to("..")
        assert scan_trust_items(paths, str(root)) == (TrustItem(".gemini/commands/a.toml", "command", digest),)

    def test_commands_behind_a_link_are_pinned(self, paths: AppPaths, root: Path) -> None:
        digest = write(root / "elsewhere" / "a.toml", "x")
        (root / ".gemini").mkdir()
        (root / ".gemini" / "commands").symlink_to("../elsewhere")
        assert scan_trust_items(paths, str(root)) == (TrustItem(".gemini/commands/a.toml", "command", digest),)

    def test_too_many(self, paths: AppPaths, root: Path) -> None:
        directory = root / ".gemini" / "commands"
        directory.mkdir(parents=True)
        for number in range(MAX_ITEMS + 1):
            (directory / f"{number}.toml").touch()
        with pytest.raises(UsageError, match=f"contains more than {MAX_ITEMS} files"):
            scan_trust_items(paths, str(root))

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_file_of_another_user(self, paths: AppPaths, root: Path) -> None:
        write(root / ".gemini" / "settings.json", "{}")
        os.chown(root / ".gemini" / "settings.json", 12345, 12345)
        with pytest.raises(UsageError, match=r"settings\.json belongs to another user \(uid 12345\)"):
            scan_trust_items(paths, str(root))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_cannot_be_read(self, paths: AppPaths, root: Path) -> None:
        write(root / ".gemini" / "settings.json", "{}")
        (root / ".gemini" / "settings.json").chmod(0)
        assert scan_trust_items(paths, str(root)) == (
            TrustItem(".gemini/settings.json", "settings", "unreadable: Permission denied"),
        )
