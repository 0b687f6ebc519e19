"""Modules of the standard library that are loaded at their first use.

asyncio imports them all, and most runs of the program need none: they are for HTTPS, tracebacks, logs and programs that
are started. Some are asked for a name by modules that import them, which is answered without loading them.
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
    from types import FrameType, ModuleType
else:
    Loader, ModuleType = object, type(sys)

LAZY_MODULES = frozenset(
    {
        *("asyncio.sslproto", "asyncio.staggered", "base64", "concurrent.futures", "hashlib", "inspect", "ipaddress"),
        *("linecache", "locale", "logging", "ssl", "subprocess", "textwrap", "traceback"),
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
            own_name = ModuleType.__getattribute__(self, "__name__")
            answer = _ANSWERS.get((own_name, name)) or _answer_asyncio(own_name, name)
            if answer is not None:
                return answer
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _OWN_ATTRIBUTES:
            _load(self)
        ModuleType.__setattr__(self, name, value)


class _NoSocket:
    """The class of no socket. asyncio checks for each one that it is no `ssl.SSLSocket`, also without TLS."""


def _extract_stack(frame: FrameType | None = None, limit: int | None = None) -> object:
    """`traceback.extract_stack`, which asyncio keeps for its debug mode."""
    traceback = sys.modules["traceback"]
    _load(traceback)
    return traceback.extract_stack(frame or sys._getframe(1), limit)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


_ANSWERS: dict[tuple[str, str], object] = {
    **{("concurrent.futures", name): name for name in ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")},
    **{("subprocess", name): value for name, value in (("PIPE", -1), ("STDOUT", -2), ("DEVNULL", -3))},
    ("logging", "DEBUG"): 10,
    ("traceback", "extract_stack"): _extract_stack,
}
"""Names that asyncio asks for when it is imported, which mean the same whether the module is loaded or not."""


def _answer_asyncio(module: str, name: str) -> object:
    """What asyncio gets for a name that means something else to it than to other modules, else None."""
    if (module, name) not in (("ssl", "SSLSocket"), ("logging", "getLogger")):
        return None
    caller = str(sys._getframe(2).f_globals.get("__name__"))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    if not caller.startswith("asyncio."):
        return None
    if name == "SSLSocket":
        return _NoSocket
    from tejat.core.log import LazyLogger

    return LazyLogger


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
