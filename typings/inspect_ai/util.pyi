from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

_Result = TypeVar("_Result")

class ExecResult(Generic[_Result]):
    success: bool
    returncode: int
    stdout: _Result
    stderr: _Result

@dataclass
class ExecRemoteAwaitableOptions:
    cwd: str | None = None
    env: dict[str, str] | None = None
    user: str | None = None
    concurrency: bool = True

class SandboxEnvironment:
    async def exec(self, cmd: list[str], *, cwd: str | None = None, user: str | None = None) -> ExecResult[str]: ...
    async def exec_remote(
        self, cmd: list[str], options: ExecRemoteAwaitableOptions | None = None, *, stream: Literal[False]
    ) -> ExecResult[str]: ...
    async def write_file(self, file: str, contents: str | bytes) -> None: ...

class Store:
    def get(self, key: str, default: _Result) -> _Result: ...
    def set(self, key: str, value: Any) -> None: ...

def sandbox(name: str | None = None) -> SandboxEnvironment: ...
def store() -> Store: ...
