"""`tejat doctor`: what works here, told to people and programs, with the exit codes that scripts rely on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tejat.app.inspection import run_checks
from tejat.cli.commands import doctor
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import SandboxUnavailable, UsageError

CHECKS = [
    DoctorCheck("sandbox", "in use", passed=True, detail="bubblewrap"),
    DoctorCheck("sandbox", "control files", passed=False, detail="a command can\x1b[2J"),
    DoctorCheck("programs", "git", passed=True, detail="/usr/bin/git"),
]


class Examined:
    """Answers with these checks and remembers what it was asked."""

    def __init__(self, outcome: list[DoctorCheck] | Exception) -> None:
        self.outcome = outcome
        self.asked: list[tuple[list[str], str | None]] = []

    def __call__(self, directories: Sequence[str], wish: str | None, *, is_strict: bool = False) -> list[DoctorCheck]:
        self.asked.append((list(directories), "strict" if is_strict else wish))
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
        shown = [line.split()[0] == "yes" for line in lines if line.startswith("  ")]
        assert shown == [check["works"] for check in told]

    def test_nothing_is_enforced_where_everything_is_open(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--root", "/"], run_checks) == 0
        why = "the root directory is /, which leaves nothing to fence off"
        assert [line.split() for line in capsys.readouterr().out.splitlines()[:3]] == [
            ["sandbox"],
            f"NO in use NO SANDBOX: {why}. Open a directory below /.".split(),
            ["programs"],
        ]

    def test_required_where_everything_is_open(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["--root", "/", "--sandbox", "required"], run_checks) == 44
        out, err = capsys.readouterr()
        assert " A sandbox is required and none works here " in out.splitlines()[1]
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
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr == b"tejat: No home directory is known. Set HOME to one.\n"
