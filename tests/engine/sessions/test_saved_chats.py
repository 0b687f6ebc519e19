"""Conversations that are kept under a name."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.errors import UsageError
from tejat.core.messages.history import Message, model_message, user_message
from tejat.engine.sessions.saved_chats import SavedChat, SavedChats

OPENING = (user_message("where we are"), model_message("Got it."))
TALK = (*OPENING, user_message("apples"), model_message("About apples."))


def parts(messages: tuple[Message, ...]) -> list[tuple[object, ...]]:
    return [message.parts for message in messages]


def save(checkpoints: SavedChats, tag: str, messages: tuple[Message, ...] = TALK) -> None:
    checkpoints.save(tag, messages, preamble_length=2, session_id="an-id", model="a-model")


@pytest.fixture
def checkpoints(tmp_path: Path) -> SavedChats:
    return SavedChats(str(tmp_path / "chats"), str(tmp_path), secrets=["a-secret-of-some-length"])


def test_there_and_back(checkpoints: SavedChats) -> None:
    save(checkpoints, "mine")
    loaded = checkpoints.load("mine")
    assert loaded is not None
    assert parts(loaded.messages) == parts(TALK)
    assert (loaded.preamble_length, loaded.session_id, loaded.model, loaded.repairs, loaded.problems) == (
        *(2, "an-id", "a-model"),
        *((), ()),
    )


def test_only_the_user_can_read_it(checkpoints: SavedChats, tmp_path: Path) -> None:
    save(checkpoints, "mine")
    (path,) = (tmp_path / "chats").rglob("*.jsonl")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_last_one_counts(checkpoints: SavedChats, tmp_path: Path) -> None:
    save(checkpoints, "mine", OPENING)
    save(checkpoints, "mine")
    loaded = checkpoints.load("mine")
    assert loaded is not None
    assert len(loaded.messages) == 4
    assert len(list((tmp_path / "chats").rglob("*.jsonl*"))) == 1


def test_listed_by_age(checkpoints: SavedChats, tmp_path: Path) -> None:
    for seconds, tag in enumerate(("b", "a", "c/d")):
        save(checkpoints, tag)
        files = (path for path in (tmp_path / "chats").rglob("*") if path.is_file())
        (path,) = (path for path in files if path.stem.endswith(tag[-1:]))
        os.utime(path, (seconds, seconds))
    assert checkpoints.list_chats() == [SavedChat("b", 0.0), SavedChat("a", 1.0), SavedChat("c/d", 2.0)]


def test_missing(checkpoints: SavedChats) -> None:
    assert (checkpoints.load("no"), checkpoints.delete("no"), checkpoints.exists("no"), checkpoints.list_chats()) == (
        *(None, False, False),
        [],
    )


def test_deleted(checkpoints: SavedChats) -> None:
    save(checkpoints, "mine")
    assert checkpoints.exists("mine")
    assert checkpoints.delete("mine")
    assert checkpoints.load("mine") is None


def test_another_project_has_its_own(checkpoints: SavedChats, tmp_path: Path) -> None:
    save(checkpoints, "mine")
    (tmp_path / "other").mkdir()
    assert SavedChats(str(tmp_path / "chats"), str(tmp_path / "other")).load("mine") is None


def test_secrets_are_left_out(checkpoints: SavedChats, tmp_path: Path) -> None:
    save(checkpoints, "mine", (*OPENING, user_message("it is a-secret-of-some-length")))
    (path,) = (tmp_path / "chats").rglob("*.jsonl")
    assert "a-secret-of-some-length" not in path.read_text()


def test_a_link_in_its_place_is_not_followed(checkpoints: SavedChats, tmp_path: Path) -> None:
    save(checkpoints, "mine")
    (path,) = (tmp_path / "chats").rglob("*.jsonl")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        checkpoints.load("mine")
    assert checkpoints.list_chats() == []


def test_a_name_that_no_file_can_have(checkpoints: SavedChats) -> None:
    with pytest.raises(UsageError, match=r"^This name is too long\. Choose a shorter one\.$"):
        save(checkpoints, "x" * 300)


@given(st.text(min_size=1, max_size=20))
def test_every_name_is_one_file(tmp_path_factory: pytest.TempPathFactory, tag: str) -> None:
    directory = tmp_path_factory.mktemp("state")
    checkpoints = SavedChats(str(directory), "/")
    save(checkpoints, tag)
    (path,) = directory.rglob("*.jsonl")
    assert path.parent.parent == directory
    assert [each.tag for each in checkpoints.list_chats()] == [tag]
    assert checkpoints.delete(tag)
