"""What the model is told about its work: short, complete, and written for it alone."""

from pathlib import Path

import pytest

from tejat.engine.prompt import templates as words
from tejat.engine.prompt.templates import load_template

DIRECTORY = Path(words.__file__).parent
SUBJECTS = [
    *("approved_plan", "compress", "context", "edit_correction", "editing", "headless", "init", "interactive"),
    *("lean", "memory", "plan_mode", "router", "sandboxed", "shell", "subagent", "system", "unsandboxed"),
]


def test_there_are_no_others() -> None:
    assert sorted(path.stem for path in DIRECTORY.glob("*.md")) == SUBJECTS


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_subject_has_its_words(subject: str) -> None:
    told = load_template(subject)
    assert told == (DIRECTORY / f"{subject}.md").read_text(encoding="utf-8").strip()
    assert 100 < len(told) < 4000


def test_an_unknown_subject() -> None:
    with pytest.raises(FileNotFoundError):
        load_template("nothing")
