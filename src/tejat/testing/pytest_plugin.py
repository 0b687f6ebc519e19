"""Fixtures for pytest. Importing this loads nothing of Tejat: every pytest run does it where Tejat is installed."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tejat.testing import AnswerLike, ScriptedModel, TemporaryWorkspace


@pytest.fixture
def tejat_workspace(tmp_path: Path) -> "TemporaryWorkspace":
    """An empty project for agents, with a home directory of its own."""
    from tejat.testing import TemporaryWorkspace

    within = tmp_path / "tejat"
    within.mkdir()
    return TemporaryWorkspace(within=within)


@pytest.fixture
def tejat_model() -> "Iterator[Callable[..., ScriptedModel]]":
    """Makes scripted models. A test in which an answer of them was not asked for fails."""
    from tejat.testing import ScriptedModel

    made: list[ScriptedModel] = []

    def make(answers: "Iterable[AnswerLike]", **options: Any) -> ScriptedModel:
        made.append(ScriptedModel(answers, **options))
        return made[-1]

    yield make
    for model in made:
        model.assert_exhausted()
