"""Fixtures for pytest. Importing this loads nothing of Tejat: every pytest run does it where Tejat is installed."""

from collections.abc import Callable, Generator, Iterable, Iterator
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
def tejat_model(request: pytest.FixtureRequest) -> "Iterator[Callable[..., ScriptedModel]]":
    """Makes scripted models. A test in which an answer of them was not asked for fails."""
    from tejat.testing import ScriptedModel

    made: list[ScriptedModel] = []

    def make(answers: "Iterable[AnswerLike]", **options: Any) -> ScriptedModel:
        made.append(ScriptedModel(answers, **options))
        return made[-1]

    yield make
    if not request.node.stash.get(_HAS_FAILED, False):  # then the rest of the answers is no news
        for model in made:
            model.assert_exhausted()


_HAS_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None:
        item.stash[_HAS_FAILED] = True
    return report
