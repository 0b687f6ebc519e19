import pytest

from tejat.policy.control_files import control_file_reason, control_paths, plantable_paths

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
