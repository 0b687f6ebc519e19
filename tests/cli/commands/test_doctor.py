"""`tejat doctor`: what works here, told to people and programs, with the exit codes that scripts rely on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tejat.app.inspection.openers import run_checks
from tejat.cli.commands import doctor
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import SandboxUnavailable, UsageError

CHECKS = [
    DoctorCheck("sandbox", "in use", passed=True, detail="bubblewrap"),
    DoctorCheck("sandbox", "control files", passed=False, detail="a command can\x1b[2J", fix="install it"),
    DoctorCheck("programs", "git", passed=True, detail="/usr/bin/git"),
]


class Examined:
    """Answers with these checks and remembers what it was asked."""

    def __init__(self, outcome: list[DoctorCheck] | Exception) -> None:
        self.outcome = outcome
        self.asked: list[tuple[list[str], str | None]] = []

    def __call__(
        self, directories: Sequence[str], wish: str | None, *, is_strict: bool = False, model: str | None = None
    ) -> list[DoctorCheck]:
        self.asked.append((list(directories), "strict" if is_strict else wish or model))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def run(words: list[str], examine: Callable[..., list[DoctorCheck]]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctor, "run_checks", examine)
        return doctor.run(words)


class TestWords:
    def test_a_table_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run([], Examined(CHECKS)) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert out.splitlines() == [
            "sandbox",
            "  yes  in use         bubblewrap",
            "  NO   control files  a command can<U+001B>[2J",
            "                      Fix: install it",
            "programs",
            "  yes  git            /usr/bin/git",
        ]

    def test_json_for_programs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--json"], Examined(CHECKS)) == 0
        out, err = capsys.readouterr()
        assert (json.loads(out), err) == ([check.to_json() for check in CHECKS], "")

    @pytest.mark.parametrize(
        ("words", "asked"),
        [
            ([], (["."], None)),
            (["--root", "a", "--root", "b"], (["a", "b"], None)),
            (["--sandbox", "required"], (["."], "required")),
            (["--strict-settings"], (["."], "strict")),
            (["-m", "gemini-2.5-pro"], (["."], "gemini-2.5-pro")),
            (["--model=gemini-2.5-pro"], (["."], "gemini-2.5-pro")),
        ],
    )
    def test_what_is_examined(self, words: list[str], asked: tuple[list[str], str | None]) -> None:
        examined = Examined(CHECKS)
        run(words, examined)
        assert examined.asked == [asked]

    @pytest.mark.parametrize(("error", "code"), [(SandboxUnavailable("no \x1b[2J"), 44), (UsageError("no \x1b[2J"), 2)])
    @pytest.mark.parametrize("words", [[], ["--json"]])
    def test_what_cannot_be_examined(
        self, words: list[str], error: Exception, code: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(words, Examined(error)) == code
        assert capsys.readouterr() == ("", "tejat: no <U+001B>[2J\n")

    @pytest.mark.parametrize(("codes", "code"), [((0,), 0), ((0, 44), 44), ((44, 52, 0), 52)])
    def test_a_check_that_would_end_a_run_gives_its_exit_code(self, codes: tuple[int, ...], code: int) -> None:
        failed = [DoctorCheck("any", "check", passed=False, detail="no", exit_code=each) for each in codes]
        assert run([], Examined([*CHECKS, *failed])) == code

    @pytest.mark.parametrize("words", [["--sandbox", "maybe"], ["more"], ["--root"], ["--nonsense"]])
    def test_bad_usage(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        examined = Examined(CHECKS)
        with pytest.raises(SystemExit) as stopped:
            run(words, examined)
        assert (stopped.value.code, examined.asked, capsys.readouterr().out) == (2, [], "")


class TestForReal:
    def test_the_same_for_people_and_programs(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for directory in ("home", "project"):
            (tmp_path / directory).mkdir()
        for name in [name for name in os.environ if name.startswith(("XDG_", "GEMINI_")) or "PROXY" in name.upper()]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        root = ["--root", str(tmp_path / "project")]
        assert run([*root, "--json"], run_checks) == 0
        told = json.loads(capsys.readouterr().out)
        assert [(check["group"], check["name"]) for check in told] == [
            *(("sandbox", name) for name in ("in use", "files", "attributes", "network", "processes")),
            *(("sandbox", name) for name in ("control files", "secrets", "inside", "outside")),
            *(("programs", name) for name in ("shell", "git", "rg")),
            *(("model", name) for name in ("name", "key", "prices")),
            ("policy", "mode at start"),
            *(("files", "sessions"), ("trust", "unknown")),
            *([("user", "account")] if os.geteuid() == 0 else []),
            ("terminal", "locale"),
        ]
        assert run(root, run_checks) == 0
        lines = capsys.readouterr().out.splitlines()
        shown = [line.split()[0] == "yes" for line in lines if line.startswith(("  yes ", "  NO "))]
        assert shown == [check["works"] for check in told]

    def test_nothing_is_enforced_where_everything_is_open(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--root", "/"], run_checks) == 0
        why = "the workspace is /, so there is nothing to isolate"
        assert [line.split() for line in capsys.readouterr().out.splitlines()[:3]] == [
            ["sandbox"],
            f"NO in use NO SANDBOX: {why}. Start Tejat in a directory below /.".split(),
            ["programs"],
        ]

    def test_required_where_everything_is_open(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--root", "/", "--sandbox", "required"], run_checks) == 44
        out, err = capsys.readouterr()
        assert " A sandbox is required, but none works here " in out.splitlines()[1]
        assert "programs" in out
        assert err == ""

    def test_a_root_that_is_missing(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--root", str(tmp_path / "missing")], run_checks) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert str(tmp_path / "missing") in err

    def test_as_a_program_without_a_home(self, tmp_path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "tejat", "doctor"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "HOME": os.devnull},
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (2, b"")
        lines = done.stdout.decode().splitlines()
        assert lines[1].split()[:3] == ["NO", "home", os.devnull]
        assert "programs" in lines


def found_problems(home: Path, monkeypatch: pytest.MonkeyPatch, *, model: str | None = None) -> list[DoctorCheck]:
    """The failed checks of a run with this home, without those that every such run has."""
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("XDG_", "GEMINI_"))]:
        monkeypatch.delenv(name)
    (home.parent / "project").mkdir(exist_ok=True)
    checks = run_checks([str(home.parent / "project")], "off", model=model)
    assert any(check.group == "programs" for check in checks)  # the rest of the report is there
    usual = {("sandbox", "in use"), ("model", "key"), ("trust", "unknown"), ("user", "account")}
    return [check for check in checks if not check.passed and (check.group, check.name) not in usual]


class TestBrokenFiles:
    @pytest.mark.parametrize(
        ("name", "content", "group", "words", "fix"),
        [
            (".gemini/settings.json", b'{\n"a": ', "settings", "line 2", "$EDITOR +2 {path}"),
            (".gemini/settings.json", b"[1]", "settings", "must be an object", "$EDITOR +1 {path}"),
            (".gemini/settings.json", b"{}\n\xff", "settings", "not UTF-8 (line 2)", "$EDITOR +2 {path}"),
            (".gemini/settings.json", b'{"ui": {"theme": "x"}}', "settings", "a known theme", "$EDITOR +1 {path}"),
            (
                ".gemini/settings.json",
                b'{"hooks": {"BeforeTool": 3}}',
                "settings",
                "hooks.BeforeTool",
                "$EDITOR +1 {path}",
            ),
            (".gemini/policies/a.toml", b"[[rule]", "policy", "invalid TOML", "$EDITOR +1 {path}"),
            (".gemini/policies/a.toml", b"\n\xff", "policy", "not UTF-8 (line 2)", "$EDITOR +2 {path}"),
            (".gemini/trustedFolders.json", b"{", "trust", "Error in {path}", "$EDITOR {path}"),
            (".config/tejat/trust.json", b"{", "trust", "Cannot use {path}", "$EDITOR {path}"),
            (".config/tejat/keys.env", b"\xff", "settings", "not UTF-8 (line 1)", "$EDITOR +1 {path}"),
            (".gemini/.env", b"A=1\nB=\xff", "settings", "not UTF-8 (line 2)", "$EDITOR +2 {path}"),
        ],
    )
    def test_is_a_row_with_file_line_and_fix(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        content: bytes,
        group: str,
        words: str,
        fix: str,
    ) -> None:
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        path.chmod(0o600)
        (found,) = found_problems(tmp_path / "home", monkeypatch)
        assert found.group == group
        assert str(path) in str(found.detail)
        assert words.format(path=path) in str(found.detail)
        assert found.fix == fix.format(path=path)

    @pytest.mark.parametrize("name", [".gemini/settings.json", ".config/tejat/keys.env", ".gemini/.env"])
    def test_a_file_that_others_can_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}")
        path.chmod(0o666)
        found = found_problems(tmp_path / "home", monkeypatch)
        assert [check.fix for check in found] == ([f"chmod o-w {path}"] if found else [])

    def test_a_directory_in_place_of_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "home" / ".gemini" / "settings.json"
        path.mkdir(parents=True)
        (found,) = found_problems(tmp_path / "home", monkeypatch)
        assert found.fix == f"mv {path} {path}.old"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_cannot_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "home" / ".gemini" / "settings.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}")
        path.chmod(0)
        (found,) = found_problems(tmp_path / "home", monkeypatch)
        assert found.fix == f"chmod u+r {path}"

    def test_a_home_that_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = found_problems(tmp_path / "none", monkeypatch)
        assert (found[0].group, found[0].name) == ("files", "home")
        assert found[0].fix.startswith("export HOME=")


class TestModel:
    @pytest.mark.parametrize(
        ("name", "failed"),
        [("gemini-2.5-pro", []), ("ollama:qwen3", []), ("openai:gpt-99", ["price"]), ("foo", ["name"])],
    )
    def test_what_is_known_about_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, failed: list[str]
    ) -> None:
        found = found_problems(tmp_path / "home", monkeypatch, model=name)
        assert [check.name for check in found if check.group == "model"] == failed

    def test_window_and_price(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        checks = run_checks([str(tmp_path)], "off", model="gemini-2.5-pro")
        rows = {check.name: str(check.detail) for check in checks if check.group == "model"}
        assert rows["name"] == "gemini-2.5-pro (-m)"
        assert rows["context window"] == "1,048,576 tokens"
        assert rows["price"].startswith("$")


@pytest.mark.parametrize("flag", ["--setup", "--from-gemini"])
def test_the_set_up_does_not_call_a_useless_value_effective(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"ui": {"theme": "nope"}, "tools": {"sandbox": "foo"}}')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_SANDBOX", raising=False)
    assert doctor.run([flag, "--root", str(tmp_path), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert (counts["obeyed"], counts["wrong value"]) == (0, 2)
