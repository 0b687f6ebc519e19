"""The C library for programs that have to start fast.

Importing `ctypes` would take them about half as long as the bare start of the interpreter.
"""

from _ctypes import FUNCFLAG_CDECL, FUNCFLAG_USE_ERRNO, CFuncPtr, addressof, dlopen, dlsym, get_errno
from _ctypes import _SimpleCData as SimpleData  # pyright: ignore[reportPrivateUsage]
from posix import strerror  # without `os`, which the helper of the sandbox does not load


def call(name: str, *arguments: int | bytes) -> int:
    """Call a function whose answer fits into a C int. Numbers are passed as C longs, bytes as a pointer to them.

    Raises OSError for a negative answer.
    """
    answer: int = _find(name)(*(_Long(each) if isinstance(each, int) else each for each in arguments))
    if answer < 0:
        number = get_errno()
        raise OSError(number, strerror(number))
    return answer


class Pinned:
    """A copy of bytes at an `address` that stays the same as long as this object lives."""

    def __init__(self, data: bytes) -> None:
        self._copy = (_Byte * len(data)).from_buffer(bytearray(data))
        self.address: int = addressof(self._copy)


class _Byte(SimpleData):  # pyright: ignore[reportMissingTypeArgument]
    _type_ = "B"


class _Long(SimpleData):  # pyright: ignore[reportMissingTypeArgument] -- it takes none at run time
    _type_ = "l"


class _Int(SimpleData):  # pyright: ignore[reportMissingTypeArgument]
    _type_ = "i"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Int


def _find(name: str) -> _Function:
    if name not in _functions:
        _functions[name] = _Function(dlsym(_library, name))
    return _functions[name]


_library = dlopen(None, 0)  # pyright: ignore[reportArgumentType] -- None is the program itself
_functions: dict[str, _Function] = {}
