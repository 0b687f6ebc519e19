"""Commands of Gemini CLI that do not exist here."""

import json

import pytest

from tejat.cli.main import main

SEND = "To send it to the model: tejat -p"
NO_ROUTER = "Tejat has no local router. To use a local model: tejat -m ollama:NAME."
NO_UPDATE = "Tejat does not update itself. Update it the way you installed it, for example: uv tool upgrade tejat."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gemma", "status"], f'{NO_ROUTER} {SEND} "gemma status"'),
        (["update"], f'{NO_UPDATE} {SEND} "update"'),
    ],
)
def test_they_are_refused(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 42
    assert capsys.readouterr() == ("", f"tejat: {told}\n")
    assert main([*words, "--output-format=json"]) == 42
    assert json.loads(capsys.readouterr().out)["error"] == {"type": "input", "message": told, "code": 42}


@pytest.mark.parametrize("word", ["gemma", "update"])
def test_help_says_the_same(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "--help"]) == 0
    assert "To send it to the model: tejat -p" in capsys.readouterr().out
