"""Which tools a model is told of: those in use that no rule forbids altogether."""

from tejat.core.tool import FunctionDeclaration
from tejat.engine.permission import Permission
from tejat.tools.registry import ToolRegistry


class Declared:
    """The declarations as they are now. As long as nothing changes it is the same tuple, which is encoded once."""

    def __init__(self, registry: ToolRegistry, permission: Permission) -> None:
        self._registry = registry
        self._permission = permission
        self._last: tuple[FunctionDeclaration, ...] = ()

    def __call__(self) -> tuple[FunctionDeclaration, ...]:
        policy = self._permission.policy
        now = tuple(declaration for declaration in self._registry.declarations() if not policy.hides(declaration.name))
        if len(now) != len(self._last) or any(new is not old for new, old in zip(now, self._last, strict=True)):
            self._last = now
        return self._last
