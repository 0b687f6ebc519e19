"""Every word that a person reads can be translated: messages are literals, and what is filled in has its place."""

import runpy
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WORDS: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "words"), run_name="words")
fields: Callable[[str], set[str]] = WORDS["fields"]


def calls() -> tuple[Any, ...]:
    found = WORDS["calls"]()
    assert len(found) > 100
    return found


def test_the_template_is_what_the_script_writes() -> None:
    assert WORDS["TEMPLATE"].read_text(encoding="utf-8") == WORDS["render"](), "run scripts/words"


def test_every_message_is_a_literal() -> None:
    wrong = [f"{call.file}:{call.line}" for call in calls() if None in call.messages or not call.messages]
    assert wrong == []


def test_every_message_says_something() -> None:
    """The empty text is the header of a catalogue."""
    wrong = [f"{call.file}:{call.line}" for call in calls() if any(text == "" for text in call.messages)]
    assert wrong == []


def misfit(call: Any) -> str | None:
    """What is wrong with the places in a message and what is filled in there."""
    given = set(call.values) | ({"count"} if len(call.messages) == 2 else set())
    if None in given:
        return "is given values nobody can see here"
    for text in call.messages:
        if not given:  # then nothing is filled in, and braces are braces
            found = set(WORDS["NAME_IN_BRACES"].findall(text))
            if found:
                return f"nobody gives {sorted(found)}"
            continue
        try:
            found = fields(text)
        except ValueError as error:
            return str(error)
        if not found <= given:
            return f"nobody gives {sorted(found - given)}"
    used = set().union(*(fields(text) for text in call.messages)) if given else set()
    unused = given - used - ({"count"} if len(call.messages) == 2 else set())
    return f"nothing takes {sorted(unused)}" if unused else None


def test_what_is_filled_in_fits() -> None:
    wrong = {f"{call.file}:{call.line}": misfit(call) for call in calls() if None not in call.messages}
    assert {place: why for place, why in wrong.items() if why} == {}


def test_one_text_has_one_plural() -> None:
    plurals: dict[str, set[str]] = {}
    for call in calls():
        if len(call.messages) == 2 and None not in call.messages:
            plurals.setdefault(call.messages[0], set()).add(call.messages[1])
    assert {one: sorted(many) for one, many in plurals.items() if len(many) > 1} == {}


def test_the_template_can_be_compiled(tmp_path: Path) -> None:
    msgfmt = shutil.which("msgfmt")
    if msgfmt is None:
        pytest.skip("there is no msgfmt here")
    template = tmp_path / "tejat.po"
    form = WORDS["render"]().replace("nplurals=INTEGER; plural=EXPRESSION;", "nplurals=2; plural=n != 1;")
    template.write_text(form, encoding="utf-8")
    done = subprocess.run(
        [msgfmt, "--check-format", "-o", tmp_path / "tejat.mo", template], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
