"""Extensions in use."""

from tejat.config.extensions.active import ActiveExtension

EXTENSION = ActiveExtension("demo", "1.0", "/e/demo", values={"MY_KEY": "sk-secret"})


def test_texts_for_the_model_get_places_and_no_values() -> None:
    text = "${extensionPath}${/}x ${workspacePath} ${MY_KEY} $MY_KEY ${other}"
    assert EXTENSION.expand_places(text, "/p") == "/e/demo/x /p ${MY_KEY} $MY_KEY ${other}"


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    assert EXTENSION.expand_places("${workspacePath}", "/${extensionPath}") == "/${extensionPath}"


def test_values_are_not_shown() -> None:
    assert "sk-secret" not in repr(EXTENSION)
