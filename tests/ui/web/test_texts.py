"""The scripts and the list of texts fit together."""

import re
from importlib.resources import files

from tejat.ui.web.texts import page_texts


def scripts() -> str:
    folder = files("tejat.ui.web") / "static"
    entries = (*folder.iterdir(), *(folder / "session").iterdir())
    return "\n".join(entry.read_text(encoding="utf-8") for entry in entries if entry.name.endswith(".js"))


def test_every_text_of_a_script_exists() -> None:
    text = scripts()
    used = set(re.findall(r'\bt\("(\w+)"', text))
    used |= {key for pair in re.findall(r'\bplural\("(\w+)", "(\w+)"', text) for key in pair}
    used |= {key for pair in re.findall(r'\bt\([^()"]* \? "(\w+)" : "(\w+)"', text) for key in pair}
    assert len(used) > 80
    assert used - set(page_texts()) == set()


def test_every_text_is_used() -> None:
    literals = set(re.findall(r'"(\w+)"', scripts()))
    groups = {f"group_{name}" for name in ("waiting", "working", "idle", "ended")}
    assert set(page_texts()) - literals == groups


def test_names_stay_for_the_scripts() -> None:
    assert page_texts()["attached"] == "Attached {name}."
    assert page_texts()["servers_ready"] == "{ready} of {total} ready"
