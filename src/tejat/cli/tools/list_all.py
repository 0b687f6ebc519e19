"""`tejat tools list --all`: every tool of a session here, including external ones."""

import argparse
import asyncio

from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset
from tejat.cli.messages import print_errors
from tejat.cli.tools.view import print_tools
from tejat.core.exit_codes import EXIT_OK
from tejat.core.json_text import dump_json


def list_all_tools(options: argparse.Namespace) -> int:
    """Discover and list all tools, and return the exit code. Raises UsageError."""
    with open_tools(options.root or ["."], None).for_command_line() as session:
        problems = [*session.notes, *asyncio.run(_discover(session))]
        if not options.json:
            print_tools([entry for entry in session.registry.entries() if entry.is_declared()], problems)
            return EXIT_OK
        print(dump_json([declaration.to_json() for declaration in session.registry.declarations()], indent=2))
    print_errors(problems)
    return EXIT_OK


async def _discover(session: Toolset) -> list[str]:
    try:
        return await session.discover_tools()
    finally:
        await session.close()
