"""The agent for Inspect, against its mock model and its `local` sandbox. Skipped where the package is missing."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
pytest.importorskip("openai", reason="the package openai, which Inspect's bridge needs, is not installed")
inspect_ai: Any = pytest.importorskip("inspect_ai")
datasets: Any = pytest.importorskip("inspect_ai.dataset")
models: Any = pytest.importorskip("inspect_ai.model")
scorers: Any = pytest.importorskip("inspect_ai.scorer")
util: Any = pytest.importorskip("inspect_ai.util")
adapter: Any = pytest.importorskip("tejat.integrations.inspect_swe")

MODEL = "mockllm/model"


@scorers.scorer(metrics=[scorers.accuracy()])
def file_content() -> Callable[..., Any]:
    async def judge(_state: Any, target: Any) -> Any:
        try:
            text = await util.sandbox().read_file("hello.txt")
        except FileNotFoundError:
            text = ""
        return scorers.Score(value="C" if text == target.text else "I")

    return judge


@pytest.fixture(autouse=True)
def own_tejat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox is this machine: there `tejat` is the program under test, and folders are made below `tmp_path`."""
    program = tmp_path / "bin" / "tejat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tejat "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mock model counts tokens with a table that would be downloaded."""
    tiktoken = pytest.importorskip("tiktoken")

    class Words:
        def encode(self, text: str, **_: object) -> list[str]:
            return text.split()

    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: Words())


def run(directory: Path, *outputs: Any, expected: str, **options: Any) -> Any:
    task = inspect_ai.Task(
        dataset=[datasets.Sample(input="Write Hello to hello.txt", target=expected)],
        solver=adapter.tejat(version="sandbox", **options),
        scorer=file_content(),
        sandbox="local",
    )
    model = models.get_model(MODEL, custom_outputs=list(outputs))
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir=str(directory / "logs"))
    return log


WRITE = models.ModelOutput.for_tool_call(MODEL, "write_file", {"file_path": "hello.txt", "content": "Hello"})


def test_a_sample_is_solved_through_the_bridge(tmp_path: Path) -> None:
    log = run(tmp_path, WRITE, models.ModelOutput.from_content(MODEL, "Done."), expected="Hello")
    (sample,) = log.samples
    assert (log.status, sample.scores["file_content"].value) == ("success", "C")
    assert sample.messages[-1].text == "Done."
    assert sum(event.event == "model" for event in sample.events) == 2


def test_another_attempt_resumes_the_session(tmp_path: Path) -> None:
    answers = [models.ModelOutput.from_content(MODEL, text) for text in ("Done.", "Done again.")]
    log = run(tmp_path, WRITE, *answers, expected="Something else", attempts=2)
    (sample,) = log.samples
    assert sample.scores["file_content"].value == "I"
    assert [found.text for found in sample.messages[-3:]] == [
        "Done.",
        "Your submission was incorrect. Please proceed and attempt to find the correct answer.",
        "Done again.",
    ]


def test_a_failed_run_is_an_error_of_the_sample(tmp_path: Path) -> None:
    log = run(tmp_path, WRITE, expected="Hello", arguments=["--max-turns=0"])
    assert log.status == "error"
    assert "tejat ended with exit code" in log.error.message
