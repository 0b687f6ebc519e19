"""Languages are found by the names of files, and each has a lexer."""

import pytest

from tejat.ui.shared.text import languages
from tejat.ui.shared.text.languages import find_lexer, language_of


@pytest.mark.parametrize("language", [*sorted(languages._LANGUAGES), *languages._LANGUAGE_ALIASES])
def test_every_language_has_a_lexer(language: str) -> None:
    assert find_lexer(language) is not None


def test_other_words_have_no_lexer() -> None:
    assert find_lexer("text") is None
    assert find_lexer("../../python") is None


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("src/price.py", "py"),
        ("A.TSX", "tsx"),
        ("lib.hpp", "cpp"),
        ("Makefile", "makefile"),
        ("docker/Dockerfile", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        (".bashrc", "bash"),
        ("data.jsonc", "jsonc"),
        ("notes.txt", ""),
        ("README", ""),
        ("", ""),
    ],
)
def test_languages_of_files(name: str, language: str) -> None:
    assert language_of(name) == language
