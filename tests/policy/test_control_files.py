import pytest

from tejat.policy.control_files import control_paths, is_control_file, planted_paths

ROOT = "/w/project"


@pytest.mark.parametrize(
    "path",
    [
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/Config",
        ".g\u200cit/config",
        "vendor/lib/.git/config",
        ".hg/hgrc",
        ".svn/entries",
        ".gitmodules",
        "sub/.gitmodules",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".envrc",
        ".bashrc",
        ".zshrc",
        ".profile",
        ".bash_profile",
        ".inputrc",
        ".mcp.json",
        ".gemini/settings.json",
        ".tejat/policies/x.toml",
        ".claude/settings.json",
        ".cursor/rules",
        ".codex/config.toml",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".netrc",
        ".husky/pre-commit",
        ".githooks/pre-push",
        ".pre-commit-config.yaml",
        ".github/workflows/ci.yml",
        ".github/Workflows",
        ".cargo/config.toml",
        "evil/HEAD",
    ],
)
def test_a_control_file(path: str) -> None:
    assert is_control_file(f"{ROOT}/{path}", root=ROOT)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "src/main.py",
        ".gitignore",
        ".gitattributes",
        ".github/ISSUE_TEMPLATE.md",
        "workflows/ci.yml",
        "git/config",
        "config",
        ".gitx/config",
        "x.git/config",
        "bashrc",
        "HEAD.md",
        "AGENTS.md",
        "GEMINI.md",
        ".env",
    ],
)
def test_an_ordinary_file(path: str) -> None:
    assert is_control_file(f"{ROOT}/{path}".rstrip("/"), root=ROOT) is None


def test_what_lies_above_the_root_does_not_count() -> None:
    assert is_control_file("/home/me/.gemini/tmp/w/a.py", root="/home/me/.gemini/tmp/w") is None
    assert is_control_file("/x.gemini/y/a.py", root="/x.gemini/y") is None


def test_outside_of_the_root_every_name_counts() -> None:
    assert is_control_file("/home/me/.ssh/authorized_keys", root=ROOT)
    assert is_control_file("/home/me/.config/fish/config.fish", root="/")
    assert is_control_file("/w/project-evil/.git/config", root=ROOT)
    assert is_control_file("/home/me/notes.txt", root="/") is None


def test_it_says_why() -> None:
    assert is_control_file(f"{ROOT}/.envrc", root=ROOT) == "a shell or a session runs it when it starts"


def test_every_path_for_the_sandbox_is_a_control_file() -> None:
    paths = control_paths()
    assert len(paths) == len(set(paths)) > 30
    for path, is_directory in paths:
        below = f"{ROOT}/{path}/x" if is_directory else f"{ROOT}/{path}"
        assert is_control_file(below, root=ROOT), path
        assert not path.startswith("/")


def test_git_can_still_commit_in_the_sandbox() -> None:
    inside = {path for path, _ in control_paths() if path.startswith(".git/")}
    assert (".git", True) not in control_paths()
    assert inside.isdisjoint({".git/index", ".git/objects", ".git/refs", ".git/HEAD", ".git/logs"})
    assert {".git/config", ".git/hooks"} <= inside


def test_only_whole_directories_are_kept_from_being_made() -> None:
    assert {(path, True) for path in planted_paths()} <= set(control_paths())
    assert {".gemini", ".tejat"} <= set(planted_paths())
    assert not [path for path in planted_paths() if path.startswith(".git")]
