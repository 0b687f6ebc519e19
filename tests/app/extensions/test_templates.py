"""New extensions: every template passes the checks of `validate`."""

from pathlib import Path

import pytest

from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.templates import create_extension, template_names
from tejat.app.extensions.validation import validate_extension
from tejat.app.run_config import load_run_config


@pytest.fixture
def environment(tmp_path: Path) -> ExtensionEnvironment:
    (tmp_path / "home").mkdir()
    return ExtensionEnvironment(load_run_config([str(tmp_path)], environment={"HOME": str(tmp_path / "home")}))


@pytest.mark.parametrize("template", ["", *template_names(), "custom-commands", "exclude-tools"])
def test_templates_are_valid(environment: ExtensionEnvironment, tmp_path: Path, template: str) -> None:
    path = tmp_path / "demo"
    message = create_extension(str(path), template)
    assert message.endswith(f"tejat extensions link {path}")
    result = validate_extension(environment, str(path))
    assert (result.errors, result.warnings) == ((), ())
    assert result.contents is not None
    assert (result.contents.manifest.name, result.contents.manifest.version) == ("demo", "1.0.0")


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ExtensionFailure, match="exists already"):
        create_extension(str(tmp_path))
    with pytest.raises(ExtensionFailure, match="commands, context, hooks"):
        create_extension(str(tmp_path / "x"), "themes-example")
    with pytest.raises(ExtensionFailure, match="letters, digits and dashes"):
        create_extension(str(tmp_path / "a b"))
    assert not (tmp_path / "x").exists()
