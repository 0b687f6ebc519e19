# The part of `signal` that is written in C. The constants are plain numbers there.

from collections.abc import Callable, Iterable
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | None

SIG_DFL: int
SIG_IGN: int
SIG_SETMASK: int
SIGCHLD: int
SIGHUP: int
SIGINT: int
SIGKILL: int
SIGPIPE: int
SIGSTOP: int
SIGTERM: int
SIGXFSZ: int

def getsignal(signalnum: int, /) -> Handler: ...
def pthread_sigmask(how: int, mask: Iterable[int], /) -> set[int]: ...
def set_wakeup_fd(fd: int, /, *, warn_on_full_buffer: bool = ...) -> int: ...
def signal(signalnum: int, handler: Handler, /) -> Handler: ...
def valid_signals() -> set[int]: ...
