"""Modules of the standard library that are loaded at their first use.

asyncio imports them all, and most runs of the program need none: they are for HTTPS, tracebacks and representations.
`importlib.util.LazyLoader` is not enough, because every further `import` of a module looks at its
`__spec__`, which makes it load the module.
"""

from __future__ import annotations

import sys
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
else:
    Loader, ModuleType = object, type(sys)

LAZY_MODULES = frozenset(
    {
        *("asyncio.sslproto", "asyncio.staggered", "base64", "hashlib", "inspect", "ipaddress"),
        *("linecache", "locale", "ssl", "textwrap"),
    }
)
_OWN_ATTRIBUTES = frozenset({"__class__", "__loader__", "__name__", "__spec__"})
_loading = RLock()


def load_lazily() -> None:
    """Load these modules at their first use from now on, unless they are loaded already."""
    sys.meta_path.insert(0, _LazyFinder())


class _LazyFinder:
    """Finds the modules with the finders behind it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in LAZY_MODULES:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                return make_lazy(spec)
        return None


def make_lazy(spec: ModuleSpec) -> ModuleSpec:
    """Let the module of this specification be loaded at its first use."""
    if spec.loader is not None:
        spec.loader = LazyLoader(spec.loader)
    return spec


class LazyLoader(Loader):
    """Leaves a module empty until it is used."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _LazyModule


class _LazyModule(ModuleType):
    """A module that is loaded when one of its attributes is used."""

    def __getattribute__(self, name: str) -> object:
        if name not in _OWN_ATTRIBUTES:
            if name == "SSLSocket" and _is_asyncio(sys._getframe(1).f_globals):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                return _NoSocket
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _OWN_ATTRIBUTES:
            _load(self)
        ModuleType.__setattr__(self, name, value)


class _NoSocket:
    """The class of no socket. asyncio checks for each one that it is no `ssl.SSLSocket`, also without TLS."""


def _is_asyncio(names: dict[str, object]) -> bool:
    return str(names.get("__name__")).startswith("asyncio.")


def _load(module: ModuleType) -> None:
    """Load a module once. Other threads wait; the module itself may import modules that use it."""
    with _loading:
        spec = module.__spec__
        if spec is not None and isinstance(spec.loader, LazyLoader):
            loader = spec.loader = module.__loader__ = spec.loader.loader
            try:
                loader.exec_module(module)
            finally:
                module.__class__ = ModuleType
