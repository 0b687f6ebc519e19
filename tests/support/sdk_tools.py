"""Tools to be called in conversations with SDKs: a note and a picture to read, without approval."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.media_files import png
from support.model_servers.conversation import Call
from tejat.core.messages.sdk import SdkName, sdk_format
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.models.sdk.turn import SdkTurn
from tejat.tools import builtin_registry
from tejat.tools.registry import ToolRegistry
from tejat.workspace.context import Workspace

NOTE = "The word is heron.\n"
PICTURE = png()
READ_NOTE = Call("read_file", {"path": "note.txt"})
READ_PICTURE = Call("read_file", {"path": "picture.png"})
READ_NOTHING = Call("read_file", {"path": "nothing.txt"})


@contextmanager
def open_registry(directory: Path) -> Iterator[ToolRegistry]:
    """The built-in tools in a directory with a note and a picture."""
    (directory / "note.txt").write_text(NOTE, encoding="utf-8")
    (directory / "picture.png").write_bytes(PICTURE)
    with Workspace([directory]) as workspace:
        yield builtin_registry(workspace)


def run(registry: ToolRegistry, call: FunctionCall) -> ToolResult:
    return asyncio.run(validate_and_execute(registry[call.name], call.args))


def answer(sdk: SdkName, registry: ToolRegistry, response: object) -> list[object]:
    """What continues the conversation after the calls in a response."""
    turn = SdkTurn(sdk_format(sdk), response, registry.declarations())
    return turn.encode([run(registry, call) for call in turn.calls])
