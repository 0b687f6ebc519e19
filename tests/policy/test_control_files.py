import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.policy.control_files import (
    control_file_reason,
    control_paths,
    find_control_suspects,
    may_be_control_directory,
    plantable_paths,
)

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
    assert control_file_reason(f"{ROOT}/{path}", root=ROOT)


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
    assert control_file_reason(f"{ROOT}/{path}".rstrip("/"), root=ROOT) is None


def test_what_lies_above_the_root_does_not_count() -> None:
    assert control_file_reason("/home/me/.gemini/tmp/w/a.py", root="/home/me/.gemini/tmp/w") is None
    assert control_file_reason("/x.gemini/y/a.py", root="/x.gemini/y") is None


def test_outside_of_the_root_every_name_counts() -> None:
    assert control_file_reason("/home/me/.ssh/authorized_keys", root=ROOT)
    assert control_file_reason("/home/me/.config/fish/config.fish", root="/")
    assert control_file_reason("/w/project-evil/.git/config", root=ROOT)
    assert control_file_reason("/home/me/notes.txt", root="/") is None


def test_it_says_why() -> None:
    assert control_file_reason(f"{ROOT}/.envrc", root=ROOT) == "a shell or a session runs it at startup"


def test_every_path_for_the_sandbox_is_a_control_file() -> None:
    paths = control_paths()
    assert len(paths) == len(set(paths)) > 30
    for path, is_directory in paths:
        below = f"{ROOT}/{path}/x" if is_directory else f"{ROOT}/{path}"
        assert control_file_reason(below, root=ROOT), path
        assert not path.startswith("/")


def test_git_can_still_commit_in_the_sandbox() -> None:
    inside = {path for path, _ in control_paths() if path.startswith(".git/")}
    assert (".git", True) not in control_paths()
    assert inside.isdisjoint({".git/index", ".git/objects", ".git/refs", ".git/HEAD", ".git/logs"})
    assert {".git/config", ".git/hooks"} <= inside


def test_only_whole_directories_are_kept_from_being_made() -> None:
    assert {(path, True) for path in plantable_paths()} <= set(control_paths())
    assert {".gemini", ".tejat", ".agents"} <= set(plantable_paths())
    assert not [path for path in plantable_paths() if path.startswith(".git")]


def test_suspects() -> None:
    paths = ["a", "src/Lefthook.yml", "HEAD", "x/.git", "b.git", "aHEAD", "library", "na\u200dme"]
    assert find_control_suspects(paths) == ["src/Lefthook.yml", "HEAD", "x/.git", "library", "na\u200dme"]
    assert find_control_suspects(["a", "b/c", "head.py"]) == ["head.py"]
    assert find_control_suspects(["a", "b/c"]) == []


_PARTS = st.sampled_from(
    (
        *(path for path, _ in control_paths()),
        *(".config", "git", "fish", "config", "workflows", "HEAD", "Library", "launchagents", "a", "b.py"),
    )
)
_ROOTS = st.sampled_from((ROOT, "/", "/x/.gemini"))


@given(st.lists(_PARTS, max_size=2), st.lists(_PARTS, min_size=1, max_size=2), _ROOTS)
def test_a_control_file_is_a_suspect_or_its_directory_may_be_one(above: list[str], below: list[str], root: str) -> None:
    directory, path = "/".join([root.rstrip("/"), *above]), "/".join(below)
    if control_file_reason(f"{directory}/{path}", root=root):
        assert may_be_control_directory(directory, root=root) or path in find_control_suspects(["a", path])


def test_the_directories_above_a_root_make_no_control_directory() -> None:
    assert not may_be_control_directory("/x/.gemini/w", root="/x/.gemini/w")
    assert not may_be_control_directory("/x/.gemini/w/a", root="/x/.gemini/w/")
    assert may_be_control_directory("/x/.gemini/w/.git/a", root="/x/.gemini/w")
    assert may_be_control_directory("/x/.gemini/w", root="/")
