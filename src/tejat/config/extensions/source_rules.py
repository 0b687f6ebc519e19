"""Settings that say which extensions may be installed and loaded, by their source."""

from typing import TYPE_CHECKING, Protocol, cast

from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.config.settings.types import Setting, Settings

_MAX_MEMORY = 1 << 20
"""Bounds a compiled expression."""


class _Expression(Protocol):
    def search(self, text: str) -> object: ...


class SourceRules(Frozen):
    """What the machine and the user allow. `disabled_by` is the source of the switch that turns all off, or empty.

    A source must match an expression of each list in `allowed`.
    """

    disabled_by: str = ""
    allowed: tuple[tuple[_Expression, ...], ...] = ()
    blocks_git: bool = False

    @classmethod
    def of(cls, settings: "Settings") -> "SourceRules":
        """Raises ConfigurationError for an invalid expression."""
        enabled = settings.extensions_enabled
        return cls(
            "" if enabled.value else enabled.source,
            tuple(_compile_list(given) for given in settings.allowed_extensions if given.value),
            settings.block_git_extensions.value,
        )

    def find_refusal(self, record: InstallRecord | None) -> str:
        """The reason why an extension must not be loaded, empty if it may."""
        if self.disabled_by:
            return lazy("extensions are disabled by admin.extensions.enabled in {source}", source=self.disabled_by)
        if self.allowed and record is None:
            return lazy('it has no source, and the "allowedExtensions" security setting requires one')
        return "" if record is None else self.find_source_refusal(record.source, record.type)

    def find_source_refusal(self, source: str, kind: InstallType) -> str:
        """The reason why an extension must not be installed or loaded from a source, empty if it may."""
        if self.allowed:
            if all(any(expression.search(source) for expression in each) for each in self.allowed):
                return ""
            return lazy(
                'Installing extension from source "{source}" is not allowed by the "allowedExtensions" security '
                "setting.",
                source=source,
            )
        if self.blocks_git and kind in (InstallType.GIT, InstallType.GITHUB_RELEASE):
            return lazy('extensions from git are not allowed by the "blockGitExtensions" security setting')
        return ""


def _compile_list(given: "Setting[tuple[str, ...]]") -> tuple[_Expression, ...]:
    # Imported late: few people restrict sources.
    import re2

    engine = cast("_Re2", re2)
    options = engine.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return tuple(engine.compile(expression, options) for expression in given.value)
    except (engine.error, UnicodeEncodeError):
        raise ConfigurationError(
            lazy("{source}: security.allowedExtensions has an invalid expression.", source=given.source)
        ) from None


class _Options(Protocol):
    log_errors: bool
    max_mem: int


class _Re2(Protocol):
    # The package has no type annotations.
    @property
    def error(self) -> type[Exception]: ...
    def Options(self) -> _Options: ...  # noqa: N802 - its name there
    def compile(self, pattern: str, options: _Options) -> _Expression: ...
