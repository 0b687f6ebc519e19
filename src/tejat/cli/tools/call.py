"""`tejat tools call`: one tool call, or a stream of them."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset, run_blocking_inline
from tejat.cli.messages import print_error, print_errors
from tejat.cli.policy_flags import policy_flags
from tejat.cli.tools.arguments import parse_arguments
from tejat.cli.tools.jsonl import serve_jsonl
from tejat.cli.tools.view import print_result
from tejat.config.paths import app_paths
from tejat.config.settings.loader import load_settings
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import ErrorType, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_NOT_CONFIRMED, EXIT_OK
from tejat.core.garbage import collect_rarely
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.ui.plain.approver import AutoApprover, ConsoleApprover, is_interactive
from tejat.ui.plain.style import Style


def call_one(options: argparse.Namespace) -> int:
    """Run one tool and return the exit code. Raises UsageError."""
    if options.name is None:
        raise UsageError(_("Missing tool name. `tejat tools list` lists the tools."))
    collect_rarely()
    with _open_tools(options, _make_approver(options)) as session:
        session.services.on_warning = print_error
        name, result = asyncio.run(_call(session, options.name, options.arguments))
    if options.json:
        print(dump_json({"name": name, **result.to_json()}))
    else:
        print_result(result)
    return _exit_code(result)


async def _call(session: Toolset, name: str, words: Sequence[str]) -> tuple[str, ToolResult]:
    """Run the call and return the tool's name with the result. Raises UsageError."""
    try:
        if name not in session.registry:
            print_errors(session.notes)
        await _find_tool(session, name)
        tool = session.registry.get(name)
        arguments = parse_arguments(words, tool.argument_type if tool else lambda _: None)
        return tool.name if tool else name, await session.scheduler.run(FunctionCall(name, arguments))
    finally:
        await session.close()


async def _find_tool(session: Toolset, name: str) -> None:
    """Discover external tools if the tool is not built in."""
    if name in session.registry:
        return
    print_errors(await session.discover_tools())
    if name not in session.registry and (why := session.why_missing(name)) is not None:
        print_error(why)


def call_stream(options: argparse.Namespace) -> int:
    """Answer the calls on standard input and return the exit code. Raises UsageError."""
    if options.name is not None:
        raise UsageError(_("--jsonl reads calls from standard input and takes no tool name."))
    collect_rarely()
    approver = AutoApprover() if options.yes else None
    with _open_tools(options, approver) as session, run_blocking_inline():
        session.services.on_warning = print_error
        print_errors(session.notes)

        async def run(call: FunctionCall) -> ToolResult:
            await session.wait_until_current()
            await _find_tool(session, call.name)
            return await session.scheduler.run(call)

        def has_servers() -> bool:
            return session.mcp_manager is not None

        serve_jsonl(run, sys.stdin.buffer, sys.stdout.buffer, session.close, is_listening=has_servers)
    return EXIT_OK


def _open_tools(options: argparse.Namespace, approver: Approver | None) -> AbstractContextManager[Toolset]:
    flags = policy_flags(options)
    return open_tools(
        flags.roots,
        approver,
        allowed_tools=flags.allowed_tools,
        mode=options.approval_mode,
        sandbox=options.sandbox,
        policy_paths=flags.policy_paths,
        admin_policy_paths=flags.admin_policy_paths,
    ).for_command_line()


def _make_approver(options: argparse.Namespace) -> Approver | None:
    if options.yes:
        return AutoApprover()
    if not is_interactive():
        return None
    roots = policy_flags(options).roots
    # A project's editor setting must not be run.
    settings = load_settings(app_paths(os.environ), roots, trusted=False, environment=os.environ)
    preferred = settings.preferred_editor and settings.preferred_editor.value
    return ConsoleApprover(
        Style(sys.stderr),
        preferred_editor=preferred,
        new_window=settings.editor_new_window.value,
        untrusted=tuple(map(os.path.realpath, roots)),
    )


def _exit_code(result: ToolResult) -> int:
    if result.error is None:
        return EXIT_OK
    return EXIT_NOT_CONFIRMED if result.error.type in _NOT_CONFIRMED else EXIT_FAILED


_NOT_CONFIRMED = frozenset({ErrorType.POLICY_VIOLATION, ErrorType.CANCELLED})
