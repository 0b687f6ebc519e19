"""`tejat trust`: what is shown, what is asked, and what is kept."""

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.cli.commands import trust
from tejat.config.paths import app_paths
from tejat.config.settings.types import Setting
from tejat.config.trust.decision import TrustLevel, decide_trust, list_trusted_folders, trust_parent

HOSTILE = {"mcpServers": {"x": {"command": "node", "args": ["\x1b[2J\nTrusted: everything"]}}}
NO_USER = "tejat: No terminal to ask on. Use --yes to trust it.\n"
QUESTION = "Trust this folder as it is now? [y]es / [n]o: "


def run(words: list[str], environment: dict[str, str]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", environment)
        return trust.run(words)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".gemini").mkdir(parents=True)
    (tmp_path / "project" / ".gemini" / "settings.json").write_text(json.dumps(HOSTILE))
    return (tmp_path / "project").resolve()


@pytest.fixture
def sit_down(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Terminal]:
    """A person at a terminal who types this; returns what they are shown on standard error."""

    def sit(typed: str) -> Terminal:
        shown = Terminal()
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        monkeypatch.setattr(sys, "stderr", shown)
        return shown

    return sit


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))


def level(environment: dict[str, str], root: Path) -> TrustLevel:
    places = app_paths(environment)
    on = Setting(value=True)
    return decide_trust(places, str(root), trust_for_run=False, environment=environment, folder_trust=on).level


def shown(root: Path, reason: str, note: str = "") -> str:
    return (
        f"{root}\n"
        f"  settings  .gemini/settings.json{note}\n"
        "      mcpServers.x runs: node '<U+001B>[2J<U+000A>Trusted: everything'\n"
        "      sets mcpServers\n"
        f"{root} is not trusted{reason}.\n"
    )


UNKNOWN = ": not decided yet"


class TestAsking:
    @pytest.mark.parametrize("answer", ["y\n", " YES \n", "y"])
    def test_yes(
        self,
        environment: dict[str, str],
        root: Path,
        sit_down: Callable[[str], Terminal],
        capsys: pytest.CaptureFixture[str],
        answer: str,
    ) -> None:
        asked = sit_down(answer)
        assert run([str(root)], environment) == 0
        assert capsys.readouterr().out == shown(root, UNKNOWN) + f"Trusted: {root}\n"
        assert asked.getvalue().rstrip("\n") == QUESTION
        assert level(environment, root) is TrustLevel.TRUSTED

    @pytest.mark.parametrize("answer", ["n\n", "\n", "", "yeah\n", "always\n"])
    def test_anything_else_is_a_no(
        self, environment: dict[str, str], root: Path, sit_down: Callable[[str], Terminal], answer: str
    ) -> None:
        asked = sit_down(answer)
        assert run([str(root)], environment) == 3
        assert asked.getvalue().endswith("Nothing was changed.\n")
        assert os.listdir(environment["HOME"]) == []

    @pytest.mark.usefixtures("nobody")
    def test_nobody_to_ask(self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run([str(root)], environment) == 3
        assert capsys.readouterr() == (shown(root, UNKNOWN), NO_USER)
        assert os.listdir(environment["HOME"]) == []

    @pytest.mark.usefixtures("nobody")
    def test_yes_beforehand(
        self,
        environment: dict[str, str],
        root: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(root)
        assert run(["--yes"], environment) == 0
        assert capsys.readouterr() == (shown(root, UNKNOWN) + f"Trusted: {root}\n", "")
        assert level(environment, root) is TrustLevel.TRUSTED

    def test_what_changes_while_the_question_stands_is_not_agreed_to(
        self, environment: dict[str, str], root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Slow(Terminal):
            def readline(self, size: int | None = -1, /) -> str:
                (root / ".mcp.json").write_text("{}")
                return "y\n"

        monkeypatch.setattr(sys, "stdin", Slow())
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert run([str(root)], environment) == 0
        assert level(environment, root) is TrustLevel.CHANGED

    def test_trusted_already(self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run([str(root), "--yes"], environment)
        capsys.readouterr()
        assert run([str(root)], environment) == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"{root} is trusted: you trusted it."

    @pytest.mark.usefixtures("nobody")
    def test_what_changed_is_marked(
        self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (root / ".env").write_text("A=1")
        run([str(root), "--yes"], environment)
        (root / ".env").unlink()
        (root / ".gemini" / "settings.json").write_text(json.dumps(HOSTILE) + " ")
        capsys.readouterr()
        assert run([str(root)], environment) == 3
        lines = shown(root, "", "  (changed)").splitlines()[:-1]
        reason = f"{root} is no longer trusted. Changed since then: .gemini/settings.json, .env."
        assert capsys.readouterr().out.splitlines() == [*lines, "  .env  (gone)", reason]

    @pytest.mark.usefixtures("nobody")
    def test_a_folder_that_brings_nothing(
        self, environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "bare").mkdir()
        assert run([str(tmp_path / "bare"), "--yes"], environment) == 0
        assert "  has no configuration that needs trust\n" in capsys.readouterr().out

    @pytest.mark.usefixtures("nobody")
    def test_a_variable_for_one_run_is_no_lasting_trust(self, environment: dict[str, str], root: Path) -> None:
        assert run([str(root)], {**environment, "GEMINI_CLI_TRUST_WORKSPACE": "true"}) == 3

    def test_settings_of_the_folder_that_cannot_be_read_do_not_matter(
        self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (root / ".gemini" / "settings.json").write_text("{")
        assert run([str(root), "--yes"], environment) == 0
        assert "      cannot be read: " in capsys.readouterr().out

    def test_json_asks_nothing(
        self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([str(root), "--json"], environment) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["path"], told["level"], told["changed"]) == (str(root), "unknown", [])
        assert [(item["path"], item["what"]) for item in told["items"]] == [(".gemini/settings.json", "settings")]
        assert os.listdir(environment["HOME"]) == []


class TestDeciding:
    def test_never(self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--never", str(root)], environment) == 0
        assert capsys.readouterr() == (f"Never trusted, including all subfolders: {root}\n", "")
        assert level(environment, root) is TrustLevel.NOT_TRUSTED

    def test_revoke(self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run([str(root), "--yes"], environment)
        capsys.readouterr()
        assert run(["--revoke", str(root)], environment) == 0
        assert run(["--revoke", str(root)], environment) == 0
        assert capsys.readouterr() == (f"Decision removed: {root}\nThere is no decision about {root}.\n", "")
        assert level(environment, root) is TrustLevel.UNKNOWN

    def test_what_gemini_was_told_still_holds(
        self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rules = Path(environment["HOME"], ".gemini", "trustedFolders.json")
        rules.parent.mkdir()
        rules.write_text(json.dumps({str(root): "TRUST_FOLDER"}))
        rules.chmod(0o600)
        assert run(["--revoke", str(root)], environment) == 0
        assert capsys.readouterr().out.endswith(
            f"{root} is trusted: you trusted {root} in Gemini CLI. Use `tejat trust --never` to override that.\n"
        )

    def test_a_folder_that_is_gone(self, environment: dict[str, str], tmp_path: Path) -> None:
        (tmp_path / "gone").mkdir()
        run([str(tmp_path / "gone"), "--yes"], environment)
        (tmp_path / "gone").rmdir()
        assert run(["--revoke", str(tmp_path / "gone")], environment) == 0
        assert list_trusted_folders(app_paths(environment)) == []

    def test_a_parent_is_marked(
        self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        root.parent.chmod(0o700)
        trust_parent(app_paths(environment), str(root), items=())
        assert run(["--list"], environment) == 0
        first, second = capsys.readouterr().out.splitlines()
        assert first.endswith(f"  {root.parent}  (with all folders in it)")
        assert second.endswith(f"  {root}")

    def test_list(self, environment: dict[str, str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--list"], environment) == 0
        assert capsys.readouterr().out == "No folder has been trusted or refused yet.\n"
        odd = root / "a\x1b[2J\nb"
        odd.mkdir()
        run(["--never", str(odd)], environment)
        run([str(root), "--yes"], environment)
        capsys.readouterr()
        assert run(["--list"], environment) == 0
        first, second = capsys.readouterr().out.splitlines()
        assert (first[:13], first.partition("  /")[2]) == ("trusted      ", str(root)[1:])
        assert (second[:13], second.partition("  /")[2]) == ("not trusted  ", f"{root}/a<U+001B>[2J<U+000A>b"[1:])
        assert run(["--list", "--json"], environment) == 0
        assert [(folder["path"], folder["level"]) for folder in json.loads(capsys.readouterr().out)] == [
            (str(root), "trusted"),
            (str(odd), "not trusted"),
        ]


class TestWrong:
    @pytest.mark.parametrize("words", [["--list", "--revoke", "x"], ["--never"], ["a", "b"], ["--nonsense"]])
    def test_bad_usage(self, environment: dict[str, str], words: list[str]) -> None:
        with pytest.raises(SystemExit) as stopped:
            run(words, environment)
        assert stopped.value.code == 2

    @pytest.mark.parametrize("flag", [[], ["--never"], ["--yes"]])
    def test_no_such_folder(
        self, environment: dict[str, str], tmp_path: Path, flag: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        missing = str(tmp_path / "missing")
        assert run([*flag, missing], environment) == 2
        assert capsys.readouterr() == ("", f"tejat: Could not read {missing}: No such file or directory.\n")

    @pytest.mark.parametrize("words", [["--list"], ["--yes"], [], ["--never", "."], ["--revoke", "."]])
    def test_a_broken_store_stays_as_it_is(
        self,
        environment: dict[str, str],
        root: Path,
        words: list[str],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        store = Path(app_paths(environment).trust_store)
        store.parent.mkdir(parents=True)
        store.write_text("{")
        store.chmod(0o600)
        monkeypatch.chdir(root)
        assert run(words, environment) == 52
        assert f"Cannot use {store}: not JSON." in "".join(capsys.readouterr())
        assert store.read_text() == "{"


class TestInstructions:
    def test_changed_ones_are_shown_before_a_yes(
        self,
        environment: dict[str, str],
        root: Path,
        sit_down: Callable[[str], Terminal],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        (root / "GEMINI.md").write_text("Be kind.\n")
        assert run(["--yes", str(root)], environment) == 0
        (root / "GEMINI.md").write_text("Be \x1b[2Jquick.\nNow.\n")
        capsys.readouterr()
        sit_down("n\n")
        assert run([str(root)], environment) == 3
        shown = capsys.readouterr().out
        assert "not used yet:\n  GEMINI.md\n      Be [2Jquick.\n      Now.\n" in shown
        sit_down("y\n")
        assert run([str(root)], environment) == 0
        capsys.readouterr()
        assert run([str(root)], environment) == 0
        assert "GEMINI.md" not in capsys.readouterr().out
