"""`tejat tools call`: one call as a person makes it, or a stream of them."""

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

from tejat.app.tools import ToolSession, one_call_at_a_time, open_tools
from tejat.cli.arguments import read_arguments
from tejat.cli.confirm import SayYes, TerminalApprover, can_ask
from tejat.cli.jsonl import serve
from tejat.cli.policy_flags import policy_flags
from tejat.cli.show import show_result
from tejat.cli.style import Style
from tejat.config.load import load_settings
from tejat.config.places import places_of
from tejat.core.confirm import Approver
from tejat.core.errors import ErrorType, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.json_text import dump_json
from tejat.core.tool import ToolResult
from tejat.core.types import FunctionCall
from tejat.core.visible import visible
from tejat.core.words import say, translated

# A result may hold a hundred thousand paths, and next to nothing here is a cycle: looking for cycles at every 700th
# object costs a tenth of such a call and finds none.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def call_one(options: argparse.Namespace) -> int:
    """Run one tool and return the exit code. Raises UsageError."""
    if options.name is None:
        raise UsageError(say("which tool? `tejat tools list` shows them"))
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    with _opened(options, _approver(options)) as session:
        name, result = asyncio.run(_called(session, options.name, options.arguments))
    if options.json:
        print(dump_json({"name": name, **result.to_json()}))
    else:
        show_result(result)
    return _exit_code(result)


async def _called(session: ToolSession, name: str, words: Sequence[str]) -> tuple[str, ToolResult]:
    """The name of the tool and what the call came to. Raises UsageError."""
    try:
        if name not in session.registry:
            _tell(session.notes)
        await _look_for(session, name)
        tool = session.registry.get(name)
        arguments = read_arguments(words, tool.argument_type if tool else lambda _: None)
        return tool.name if tool else name, await session.scheduler.run(FunctionCall(name, arguments))
    finally:
        await session.close()


async def _look_for(session: ToolSession, name: str) -> None:
    """A tool that nobody knows may be one of a command or of a server."""
    if name in session.registry:
        return
    _tell(await session.look_for_tools())
    why = None if name in session.registry else session.why_missing(name)
    if why is not None:
        _tell([why])


def _tell(problems: Sequence[str]) -> None:
    for problem in problems:
        print(f"tejat: {visible(translated(problem))}", file=sys.stderr)


def call_stream(options: argparse.Namespace) -> int:
    """Answer the calls on standard input and return the exit code. Raises UsageError."""
    if options.name is not None:
        raise UsageError(say("--jsonl reads the calls from standard input, so no tool is named"))
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    approver = SayYes() if options.yes else None
    with _opened(options, approver) as session, one_call_at_a_time():
        _tell(session.notes)

        async def run(call: FunctionCall) -> ToolResult:
            await _look_for(session, call.name)
            return await session.scheduler.run(call)

        serve(run, sys.stdin.buffer, sys.stdout.buffer, session.close)
    return EXIT_OK


def _opened(options: argparse.Namespace, approver: Approver | None) -> AbstractContextManager[ToolSession]:
    flags = policy_flags(options)
    return open_tools(
        flags.roots, approver, allowed_tools=flags.allowed_tools, mode=flags.mode, sandbox=options.sandbox
    )


def _approver(options: argparse.Namespace) -> Approver | None:
    if options.yes:
        return SayYes()
    if not can_ask():
        return None
    roots = policy_flags(options).roots
    # What a project says about editors must not be run.
    settings = load_settings(places_of(os.environ), roots, trusted=False, environment=os.environ)
    preferred = settings.preferred_editor and settings.preferred_editor.value
    return TerminalApprover(
        Style(sys.stderr), preferred_editor=preferred, untrusted=tuple(map(os.path.realpath, roots))
    )


def _exit_code(result: ToolResult) -> int:
    if result.error is None:
        return EXIT_OK
    return EXIT_NOT_CONFIRMED if result.error.type in _NOT_CONFIRMED else EXIT_FAILED


_NOT_CONFIRMED = frozenset({ErrorType.POLICY_VIOLATION, ErrorType.CANCELLED})
