"""Transcripts: the conversation as Markdown, without secrets and control characters."""

from pathlib import Path

import pytest

from support.batch_jobs import JobCase, saying, shell, with_limits, writing
from tejat.app.run_config import load_run_config
from tejat.batch.runner.transcript import write_transcript


def test_calls_and_answers(case: JobCase) -> None:
    case.run(case.job(writing("b.txt", "two\n"), saying("All\tis well.")))
    text = case.text("transcript.md")
    assert text.startswith("# Do it.\n")
    for part in ("**Call of write_file**", "**Result of write_file**", "All\tis well."):
        assert part in text
    assert Path(case.task().transcript).stat().st_mode & 0o777 == 0o600


def test_secrets_are_masked(case: JobCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-of-a-test-1234567890")
    case.run(case.job(shell("echo a-key-of-a-test-1234567890"), saying("It is a-key-of-a-test-1234567890.")))
    assert "a-key-of-a-test" not in case.text("transcript.md")


def test_control_characters_are_shown(case: JobCase) -> None:
    case.run(case.job(saying("red \u202e text")))
    assert "\u202e" not in case.text("transcript.md")


def test_a_run_that_failed_has_one(case: JobCase) -> None:
    case.run(with_limits(case.job(writing("b.txt", "two\n"), saying()), turns=1))
    assert "**Call of write_file**" in case.text("transcript.md")


def test_without_a_session_nothing_is_written(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path / "home")}
    write_transcript(load_run_config([str(tmp_path)], environment=environment), str(tmp_path / "transcript.md"))
    assert not (tmp_path / "transcript.md").exists()


def test_a_place_that_cannot_be_written_is_no_error(case: JobCase) -> None:
    job = case.job(writing("b.txt", "two\n"), saying(), keeps_tree=True)
    case.run(job)
    environment = {"HOME": str(case.base), "XDG_STATE_HOME": case.task().state}
    run_config = load_run_config([case.task().tree], environment=environment)
    write_transcript(run_config, str(case.base / "missing" / "transcript.md"))
    write_transcript(run_config, str(case.base / "again.md"))
    assert "**Call of write_file**" in (case.base / "again.md").read_text()
