"""Which tools a model is told of: those in use that no rule forbids altogether."""

from collections.abc import Callable

from tejat.core.tool import FunctionDeclaration
from tejat.tools.registry import ToolRegistry


class Declared:
    """The declarations as they are now. As long as nothing changes it is the same tuple, which is encoded once."""

    def __init__(self, registry: ToolRegistry, is_forbidden: Callable[[str], bool]) -> None:
        self._registry = registry
        self._is_forbidden = is_forbidden
        self._last: tuple[FunctionDeclaration, ...] = ()

    def __call__(self) -> tuple[FunctionDeclaration, ...]:
        declared = self._registry.declarations()
        now = tuple(declaration for declaration in declared if not self._is_forbidden(declaration.name))
        if len(now) != len(self._last) or any(new is not old for new, old in zip(now, self._last, strict=True)):
            self._last = now
        return self._last
