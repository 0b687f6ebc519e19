"""Judging words apart from directories gives what judging each path of each word gives."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.core.messages.declaration import Kind
from tejat.core.text.paths import is_beneath_any
from tejat.core.text.secret_files import is_secret_file
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.word_places import working_directories
from tejat.policy.paths import PathLookup, is_ambiguous, join_path, normalize_path
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts

_FOLDERS = (
    *("src", "a/b", ".git", ".aws", ".cargo", "gh", "containers", ".github", "nested/R/.github", ".hid/ws"),
    ".vscode/ws/a",
)
_FILES = ("f", "a/b/f", ".git/config", "a.pem", "a/HEAD", "gh/hosts.yml", ".aws/credentials", "nested/R/x", "src/a.py")
_LINKS = {
    "o": "../out",
    "k": "../out/id_rsa",
    "inner": "src",
    "a/o": "../../out",
    "settings": ".git",
    "self": "self",
    "plain": "a.pem",
    "hidden": "src/.env",
    "-l": "../out",
}
_WORDS = (
    *("f", "a", "a/b", "a/b/f", "src", "src/a.py", "missing", "missing/x/y", "o", "o/x", "k", "inner/a.py", "a/o/x"),
    *("settings", "settings/config", "self", "self/x", "plain", "hidden", "config", "config.toml", "credentials"),
    *("./f", "./o/x", "././f", ".//f", "./.git/config", "../R/f", "../out/x", "a/..", "a//b", "a/", ".", "..", "/", ""),
    *(".git/config", ".git", ".env", "src/.env", "id_rsa", "ID_RSA", "a.pem", "A.PEM", "x.pub", "HEAD", "a/head"),
    *("lefthook.yml", "library/launchagents", "library/x", ".github/workflows", "workflows", "auth.json", "hosts.yml"),
    *("token", "huggingface/token", "nested", "nested/R", "nested/R/x", ".hid/ws/f", "~", "~/f", "~/.ssh/x", "~me/x"),
    *("/etc/passwd", "/tmp/x", "*.pem", "*", "a/*", "?", "[ab]", "naïve", "ſ.KEY", "K.key", "he\u200dad"),
    *(".g\u200dit", "-x", "--output=o/x", "-oo", "a=/etc/b", "a:b", "HEAD.md", "x.key/y", "s.ssh/x", ".ssh/x"),
    "x" * 300,
)
_DIRECTORIES = ("a", "a/b", "o", "src", "missing/x", "..", ".git", ".aws", "nested", ".hid/ws", "~", "~/.ssh")
_PROGRAMS = ("cat", "tee", "cp", "rm", "ln -s", "mv", "sort", "./f")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("places").resolve()
    (base / "out").mkdir()
    (base / "home" / ".ssh").mkdir(parents=True)
    for name in ("out/id_rsa", "home/f"):
        (base / name).write_text("x")
    for name in _FOLDERS:
        (base / "R" / name).mkdir(parents=True)
    for name in _FILES:
        (base / "R" / name).write_text("x")
    for name, target in _LINKS.items():
        (base / "R" / name).symlink_to(target)
    return base


_ROOTS: Sequence[tuple[tuple[str, ...], str]] = (
    (("/R",), "/R"),
    (("/R", "/R/nested/R"), "/R"),
    (("/R/.hid/ws", "/R"), "/R/.hid/ws"),
    (("/R/.vscode/ws", "/R/.vscode/ws/a"), "/R/.vscode/ws"),
    (("/R",), "/R/a"),
    (("/R/src",), "/R"),
    (("/R/",), "/R"),
    (("/home",), "/R/inner"),
    ((), "/R"),
)
_COMMANDS = st.builds(
    lambda program, words, target: f"{program} {' '.join(words)}{target}",
    st.sampled_from(_PROGRAMS),
    st.lists(st.sampled_from([word for word in _WORDS if word]), max_size=3),
    st.sampled_from(("", "", "", " > o/x", " >> src/.env", " > f", " > HEAD")),
)
_CHANGES = st.lists(st.builds("cd {}".format, st.sampled_from(_DIRECTORIES)), max_size=5)


@settings(max_examples=300, deadline=None)
@example([], ["tee a"], (("/R/.vscode/ws", "/R/.vscode/ws/a"), "/R/.vscode/ws"))
@example([], ["tee he\u200dad"], (("/R",), "/R"))
@given(_CHANGES, st.lists(_COMMANDS, min_size=1, max_size=5), st.sampled_from(_ROOTS))
def test_places_are_those_of_each_path(
    base: Path, changes: list[str], commands: list[str], chosen: tuple[tuple[str, ...], str]
) -> None:
    text = "; ".join([*changes, *commands])
    roots, directory = tuple(f"{base}{root}" for root in chosen[0]), f"{base}{chosen[1]}"
    call = _call(text, roots, directory, home=f"{base}/home", lookup=FileSystemLookup())
    reference = _Reference(_call(text, roots, directory, home=f"{base}/home", lookup=FileSystemLookup()).facts)
    words = [word for effects in call.effects.values() for word in effects.paths]
    for word in words:
        assert (call.find_outside([word]) is None) == reference.is_inside_roots(word), word
        assert list(call.places(word)) == list(dict.fromkeys(reference.places(word))), word
    assert call.secret_files() == tuple(filter(is_secret_file, reference.read_paths(call)))
    warned = next((path for path in reference.written_paths(call) if call.control_reason(path)), None)
    assert str(call.control_file_warning() or "").partition(" is a control")[0] == (warned or "")
    assert list(call.paths) == reference.read_paths(call)
    assert list(call.written_paths) == reference.written_paths(call)


def _call(text: str, roots: tuple[str, ...], directory: str, *, home: str, lookup: PathLookup) -> ShellCall:
    line = parse_command_line(text)
    arguments = {"command": text}
    return ShellCall(
        CallFacts(
            "run_shell_command", Kind.EXECUTE, arguments, roots, home, line=line, directory=directory, lookup=lookup
        ),
        line,
    )


class _Reference:
    """The places of words, found for each word and each directory."""

    def __init__(self, facts: CallFacts) -> None:
        assert facts.line is not None
        assert facts.directory is not None
        self._facts = facts
        self._directories = working_directories(facts.line, facts.directory, home=facts.home, lookup=facts.lookup)

    def _joined(self, word: str) -> list[str]:
        return [join_path(word, directory=each, home=self._facts.home) for each in self._directories]

    def places(self, word: str) -> list[str]:
        real_path = self._facts.lookup.real_path
        found = [place for path in self._joined(word) for place in (normalize_path(path), real_path(path))]
        if any(character in word for character in "*?["):
            found += [real_path(match) for path in self._joined(word) for match in self._facts.lookup.expand(path)]
        return found

    def is_inside_roots(self, word: str) -> bool:
        if is_ambiguous(word) or len(self._directories) > 10:
            return False
        return all(is_beneath_any(self._facts.lookup.real_path(each), self._facts.roots) for each in self._joined(word))

    def read_paths(self, call: ShellCall) -> list[str]:
        words = [word for effects in call.effects.values() for word in effects.paths]
        words += [each.target for each in call.line.redirections if each.target is not None]
        return list(dict.fromkeys(place for word in words for place in self.places(word)))

    def written_paths(self, call: ShellCall) -> list[str]:
        changing = [effects for effects in call.effects.values() if effects.writes or effects.destroys]
        words = [word for effects in changing for word in effects.paths]
        written = [each for each in call.line.redirections if each.writes and not each.is_harmless]
        words += [each.target for each in written if each.target is not None]
        return list(dict.fromkeys(place for word in words for place in self.places(word)))


def test_ordinary_words_need_no_path_in_a_missing_directory(base: Path) -> None:
    """The paths are looked up where something may be: not below the directories that are missing."""
    text = "; ".join([*(f"cd gone{number}" for number in range(4)), *(f"cat w{number}" for number in range(100))])
    lookup, root = _Counting(), f"{base}/R"
    call = _call(text, (root,), root, home="/h", lookup=lookup)
    assert call.secret_files() == ()
    assert lookup.count < 200
    assert len(call.paths) > 1_600


class _Counting(FileSystemLookup):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def real_path(self, path: str) -> str:
        self.count += 1
        return super().real_path(path)
