"""Helpers for tests of programs that use Tejat: a scripted model, temporary workspaces, assertions.

The names are loaded on first access, because pytest imports this package for the fixtures of `pytest_plugin`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.testing.assertions import assert_called as assert_called
    from tejat.testing.assertions import assert_not_called as assert_not_called
    from tejat.testing.assertions import assert_text as assert_text
    from tejat.testing.scripted_model import Answer as Answer
    from tejat.testing.scripted_model import AnswerLike as AnswerLike
    from tejat.testing.scripted_model import ScriptedModel as ScriptedModel
    from tejat.testing.scripted_model import call as call
    from tejat.testing.temporary_workspace import TemporaryWorkspace as TemporaryWorkspace

_MODULES = {
    "assertions": "assert_called assert_not_called assert_text",
    "scripted_model": "Answer AnswerLike ScriptedModel call",
    "temporary_workspace": "TemporaryWorkspace",
}
_NAMES = {name: f"tejat.testing.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = [*_NAMES]  # noqa: PLE0604 -- names  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'tejat.testing' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_NAMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
