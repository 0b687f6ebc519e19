"""The person's language: found as gettext finds it, and never a reason not to start."""

import gettext
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from support.terminal.pseudo_locale import compile_catalogue, find_english, pseudo_environment
from tejat.cli.help.parsers import all_parsers
from tejat.cli.help.run_page import run_page
from tejat.cli.main import main
from tejat.cli.startup.language import choose_language
from tejat.core.i18n import _, ngettext, use_translations

HEAD = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"


@pytest.fixture(autouse=True)
def _english_afterwards() -> Generator[None]:
    before = gettext.textdomain()
    yield
    use_translations(None)
    gettext.textdomain(before)


def put(directory: Path, language: str, **texts: str) -> None:
    place = directory / language / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "tejat.mo").write_bytes(compile_catalogue({"": HEAD, **texts}))


@pytest.fixture
def words(tmp_path: Path) -> Path:
    put(tmp_path, "de", yes="ja")
    put(tmp_path, "pt", yes="sim")
    put(tmp_path, "pt_BR", yes="é")
    put(tmp_path, "sr@latin", yes="da")
    return tmp_path


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "yes"),
        ({"LANG": "C"}, "yes"),
        ({"LANG": "C.UTF-8"}, "yes"),
        ({"LANG": "POSIX"}, "yes"),
        ({"LANG": "en_US.UTF-8"}, "yes"),
        ({"LANG": "de_DE.UTF-8"}, "ja"),
        ({"LANG": "de"}, "ja"),
        ({"LANG": "pt_PT.UTF-8"}, "sim"),
        ({"LANG": "pt_BR.UTF-8"}, "é"),
        ({"LANG": "sr_RS.UTF-8@latin"}, "da"),
        ({"LANG": "fr_FR.UTF-8"}, "yes"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "de_AT.UTF-8"}, "ja"),
        ({"LC_MESSAGES": "de_AT.UTF-8", "LC_ALL": "pt_BR"}, "é"),
        ({"LANGUAGE": "fr:pt:de", "LANG": "de_DE.UTF-8"}, "sim"),
        ({"LANGUAGE": "fr:en:de", "LANG": "de_DE.UTF-8"}, "yes"),
        ({"LANGUAGE": "", "LANG": "de_DE.UTF-8"}, "ja"),
        ({"LANG": "../de"}, "yes"),
        ({"LANG": "/"}, "yes"),
    ],
)
def test_the_language_of_the_environment(words: Path, environment: dict[str, str], said: str) -> None:
    choose_language({"TEXTDOMAINDIR": str(words), **environment})
    assert _("yes") == said


@pytest.mark.parametrize("content", [b"", b"no catalogue", b"\xde\x12\x04\x95" + b"\xff" * 40, b"\xde\x12\x04\x95\0"])
def test_a_broken_catalogue_is_none(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "de", yes="ja")
    (tmp_path / "de" / "LC_MESSAGES" / "tejat.mo").write_bytes(content)
    choose_language({"TEXTDOMAINDIR": str(tmp_path), "LANG": "de_DE"})
    assert _("yes") == "yes"


def test_a_catalogue_with_a_bad_plural_is_none(tmp_path: Path) -> None:
    place = tmp_path / "de" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "tejat.mo").write_bytes(compile_catalogue({"": HEAD.replace("n != 1", "n ~ 1"), "yes": "ja"}))
    choose_language({"TEXTDOMAINDIR": str(tmp_path), "LANG": "de_DE"})
    assert _("yes") == "yes"


def test_counts_and_values(tmp_path: Path) -> None:
    put(tmp_path, "de", **{"{count} file\0{count} files": "{count} Datei\0{count} Dateien", "in {place}": "im {wrong}"})
    choose_language({"TEXTDOMAINDIR": str(tmp_path), "LANG": "de_DE"})
    assert [ngettext("{count} file", "{count} files", count) for count in (1, 2)] == ["1 Datei", "2 Dateien"]
    assert _("in {place}", place="x") == "in x"


COMMANDS = [
    *([], ["tools"], ["policy"], ["undo"], ["jobs"], ["trust"], ["mcp"], ["doctor"], ["demo"]),
    *(["tools", "list"], ["tools", "call"], ["policy", "explain"], ["policy", "list"], ["policy", "revoke"]),
    *(["policy", "test"], ["mcp", "add"], ["mcp", "remove"], ["mcp", "list"], ["mcp", "test"], ["mcp", "enable"]),
    *(["mcp", "disable"], ["mcp", "auth"], ["mcp", "serve"], ["sessions"], ["hooks"], ["extensions"], ["completion"]),
    *(["skills"], ["gemma"], ["update"], ["models"], ["sandbox"]),
]
# What is typed as it is, or named so in files.
NAMES = {
    *("gemini-2.5-pro", "JSON", "KEY", "VALUE", "DIR", "LIST", "NAME", "ID", "FILE", "TEXT", "PORT", "MS", "URL"),
    *("PATHS", "WORD", "skills list", "skills", "doctr", "doctor", "uv tool upgrade"),
    *("git", "worktree", "worktrees", "add", "gemini"),
    *("default", "auto_edit", "yolo", "plan", "auto", "required", "off", "user", "project", "stdio", "sse", "http"),
    *("OPTIONS", "COMMAND", "ARGUMENT", "name", "arguments", "directory", "tool", "run_shell_command"),
    *(
        '[[case]]\n  tool = "run_shell_command"\n  command = "git push"\n  expect = "deny"',
        "git log",
        "command",
        "file",
    ),
}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_help_is_translated(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in pseudo_environment(tmp_path, "accented").items():
        monkeypatch.setenv(name, value)
    with suppress(SystemExit):
        main([*words, "--help"])
    out, err = capsys.readouterr()
    assert (find_english(out, {*NAMES, *typed_words(), f"tejat {' '.join(words)}", *words}), err) == ([], "")


def typed_words() -> set[str]:
    """Command lines, flags and arguments, which are the same in every language."""
    pages = [run_page(), *(parser.page() for parser in all_parsers())]
    rows = [row for page in pages for section in (*page.sections, page.example_section) for row in section.rows]
    return {*(usage for page in pages for usage in page.usages), *(row.label for row in rows)}


WRONG = [
    *(["tools"], ["policy", "x"], ["undo", "x"], ["undo", "restore", "x"], ["undo"], ["jobs"], ["jobs", "x"]),
    *(["trust", "--list"], ["mcp", "list"], ["mcp", "test", "x"], ["mcp", "remove", "x"], ["mcp", "add"]),
    *(["sessions", "x"], ["sessions", "show", "x"], ["sessions", "import"], ["hooks", "migrate"], ["skills", "list"]),
    *(
        ["doctr"],
        ["-m", "x", "doctor"],
        ["--acp", "x"],
        ["-w"],
        ["--verison"],
        ["--yolo=x"],
        ["-e", "x"],
        ["completion"],
    ),
    *(["--nonsense"], ["-p", "a", "-i", "b"], ["--max-turns", "x"], ["--list-sessions"], ["tools", "call"]),
    *(
        ["tools", "call", "read_file", "x"],
        ["tools", "call", "--nonsense"],
        ["policy", "revoke"],
        ["mcp", "enable", "x"],
    ),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_wrong_is_said_in_the_language(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in pseudo_environment(tmp_path, "right_to_left").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with suppress(SystemExit):
        main(words)
    told = "".join(capsys.readouterr())
    assert told
    assert find_english(told, {*NAMES, *typed_words(), f"tejat {' '.join(words[:2])}"}) == []
