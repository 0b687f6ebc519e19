"""Files of a prompt stand where their labels are."""

import pytest

from support.media_files import png
from tejat.core.messages.prompt import Attachment
from tejat.core.messages.types import InlineData, Text
from tejat.engine.prompt.attachments import MAX_ATTACHED_BYTES, InvalidAttachment
from tejat.ui.web.session.attachments import AttachedFiles


def test_labels_become_files_once() -> None:
    files = AttachedFiles()
    picture, notes = files.add("a.png", png()), files.add("n.txt", b"milk")
    prompt = files.expand(f"look {picture} and\n{notes}")
    assert isinstance(prompt, tuple)
    assert prompt[0] == "look "
    assert isinstance(prompt[1], Attachment)
    assert any(isinstance(part, InlineData) for part in prompt[1].parts)
    assert prompt[2] == " and\n"
    assert isinstance(prompt[3], Attachment)
    assert prompt[3].label == "[n.txt]"
    assert isinstance(prompt[3].parts[0], Text)
    assert files.expand(f"again {notes}") == f"again {notes}", "a file is sent once"


def test_a_prompt_without_files_stays_as_it_is() -> None:
    files = AttachedFiles()
    files.add("n.txt", b"milk")
    assert files.expand("no [n.txt] here") == "no [n.txt] here"


def test_removed_files_are_not_sent() -> None:
    files = AttachedFiles()
    label = files.add("n.txt", b"milk")
    files.remove(label)
    files.remove("unknown")
    assert files.expand(label) == label


def test_names_cannot_imitate_other_labels() -> None:
    files = AttachedFiles()
    assert files.add("a] [b\x1b[0m.txt\n", b"x").count("[") == 1


@pytest.mark.parametrize(("data", "problem"), [(b"", "empty"), (bytes(range(256)) * 4, "binary")])
def test_what_no_model_takes_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidAttachment, match=problem):
        AttachedFiles().add("odd", data)


def test_all_files_together_are_limited() -> None:
    files = AttachedFiles()
    files.add("a.txt", b"x" * (MAX_ATTACHED_BYTES // 2))
    with pytest.raises(InvalidAttachment, match="20 MB"):
        files.add("b.txt", b"x" * (MAX_ATTACHED_BYTES // 2 + 1))
