"""Control files, which decide what other programs run: changing one always asks."""

from collections.abc import Mapping, Sequence

from tejat.core.i18n import lazy

_VERSION_CONTROL = lazy("version control runs or trusts its contents")
_AGENT = lazy("it configures an agent")
_EDITOR = lazy("an editor may run its contents")
_START = lazy("a shell or a session runs it at startup")
_PACKAGES = lazy("it sets package sources and keys")
_HOOKS = lazy("it defines what runs at a commit")
_BUILDS = lazy("it runs with the repository's secrets")
_KEYS = lazy("it contains keys or lists trusted ones")
_TOOL_START = lazy("a program runs its contents at startup")

_DIRECTORIES: Mapping[str, str] = {
    **dict.fromkeys((".git", ".hg", ".svn", ".bzr", ".jj"), _VERSION_CONTROL),
    **dict.fromkeys(
        (".gemini", ".tejat", ".agents", ".claude", ".cursor", ".codex", ".qwen", ".opencode", ".windsurf"), _AGENT
    ),
    **dict.fromkeys((".vscode", ".idea", ".zed", ".fleet", ".devcontainer"), _EDITOR),
    **dict.fromkeys((".husky", ".githooks"), _HOOKS),
    **dict.fromkeys((".github/workflows", ".github/actions", ".circleci"), _BUILDS),
    ".direnv": _START,
}
"""Everything in them counts, at any depth below a root."""

_HOME_DIRECTORIES: Mapping[str, str] = {
    **dict.fromkeys((".ssh", ".gnupg"), _KEYS),
    **dict.fromkeys((".config/fish", ".config/systemd", ".config/autostart", "library/launchagents"), _START),
    ".config/git": _VERSION_CONTROL,
    ".config/tejat": _AGENT,
}

_FIRST_NAMES = frozenset(path.partition("/")[0] for path in (*_DIRECTORIES, *_HOME_DIRECTORIES))

_FILES: Mapping[str, str] = {
    **dict.fromkeys((".gitmodules", ".gitconfig", ".hgrc"), _VERSION_CONTROL),
    ".mcp.json": _AGENT,
    **dict.fromkeys(
        (
            *(".envrc", ".profile", ".login", ".logout", ".inputrc"),
            *(f".bash{name}" for name in ("rc", "_profile", "_login", "_logout", "_aliases")),
            *(f".z{name}" for name in ("shrc", "shenv", "profile", "login", "logout")),
            *(".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc", ".xsession", ".pam_environment"),
        ),
        _START,
    ),
    **dict.fromkeys((".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pypirc", ".netrc"), _PACKAGES),
    **dict.fromkeys(
        (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml"), _HOOKS
    ),
    ".gitlab-ci.yml": _BUILDS,
    **dict.fromkeys(
        (".vimrc", ".nvimrc", ".exrc", ".gvimrc", ".emacs", ".dir-locals.el", ".gdbinit", ".lldbinit", ".tmux.conf"),
        _TOOL_START,
    ),
    **dict.fromkeys((".screenrc", ".curlrc", ".wgetrc", ".cargo/config", ".cargo/config.toml"), _TOOL_START),
}

_BARE_REPOSITORY = lazy("a file with this name turns its directory into a repository that git trusts")

# The rest of `.git` has to stay writable, or nothing could be committed.
_IN_GIT_FILES = ("config", "config.worktree", "commondir", "info/attributes")
_IN_GIT_DIRECTORIES = ("hooks", "modules", "worktrees")

_MARKS = tuple({"/." if name.startswith(".") else f"/{name}" for name in ("head", *_FIRST_NAMES, *_FILES)})
"""Every control file has one of these in its path."""

# Some macOS file systems ignore these characters in names.
_IGNORED_CHARACTERS = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))


def control_file_reason(path: str, *, root: str) -> str | None:
    """Return why this file is a control file, None if it is not.

    Both paths are absolute and real. Only the part below the root counts, unless the path lies outside.
    """
    base = root.rstrip("/")
    below = path[len(base) :] if path.startswith(base + "/") else path
    if below.isascii():
        names = [name for name in below.lower().split("/") if name]
    else:
        names = [_normalize_name(name) for name in below.split("/") if name]
    if not names:
        return None
    return _directory_reason(names) or _file_name_reason(names)


def find_control_suspects(paths: Sequence[str]) -> list[str]:
    """Return the relative paths that may be those of control files, in a directory where not every file is one.

    Many paths are searched at once, for texts that each control file has in its path.
    """
    text = "\0/".join(("", *paths)).lower()
    marks = [mark for mark in _MARKS if mark in text]
    if not marks and text.isascii():
        return []
    return [path for path in paths if not path.isascii() or any(mark in f"/{path.lower()}" for mark in marks)]


def may_be_control_directory(path: str, *, root: str) -> bool:
    """Return whether a file in this directory may be a control file because of the directories that it is in.

    The root is the nearest one above the directory, or the directory itself.
    """
    return bool(find_control_suspects((path.removeprefix(root.rstrip("/")).lstrip("/"),)))


def control_paths() -> tuple[tuple[str, bool], ...]:
    """Return the relative paths that a sandbox write-protects in each root, with whether they are directories."""
    files = (*(f".git/{name}" for name in _IN_GIT_FILES), *_FILES)
    directories = (
        *(f".git/{name}" for name in _IN_GIT_DIRECTORIES),
        *(name for name in _DIRECTORIES if name != ".git"),
    )
    return (*((name, False) for name in files), *((name, True) for name in directories))


def plantable_paths() -> tuple[str, ...]:
    """Return the control paths that must not be created either: programs obey them as soon as they exist."""
    return (".gemini", ".tejat", ".agents", ".claude", ".cursor", ".codex", ".vscode", ".idea")


def _directory_reason(names: list[str]) -> str | None:
    if _FIRST_NAMES.isdisjoint(names):
        return None
    # The directory itself counts too: replacing it replaces its contents.
    for at, name in enumerate(names):
        for known in (name, "/".join(names[at : at + 2])):
            why = _DIRECTORIES.get(known) or _HOME_DIRECTORIES.get(known)
            if why:
                return why
    return None


def _file_name_reason(names: list[str]) -> str | None:
    if names[-1] == "head":
        return _BARE_REPOSITORY
    return _FILES.get(names[-1]) or _FILES.get("/".join(names[-2:]))


def _normalize_name(name: str) -> str:
    return name.translate(_IGNORED_CHARACTERS).casefold()
