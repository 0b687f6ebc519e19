"""`tejat tools list --all`: every tool that a session here would have, those of others too."""

import argparse
import asyncio
import sys

from tejat.app.tools import ToolSession, open_tools
from tejat.cli.show import show_tools
from tejat.core.exit_codes import EXIT_OK
from tejat.core.json_text import dump_json
from tejat.core.visible import visible
from tejat.core.words import translated


def list_all(options: argparse.Namespace) -> int:
    """Start what has to be started, show what is there, end it again, and return the exit code. Raises UsageError."""
    with open_tools(options.root or ["."], None) as session:
        problems = [*session.notes, *asyncio.run(_looked_for(session))]
        if not options.json:
            show_tools(session.registry.entries(), problems)
            return EXIT_OK
        print(dump_json([declaration.to_json() for declaration in session.registry.declarations()], indent=2))
    for problem in problems:
        print(f"tejat: {visible(translated(problem))}", file=sys.stderr)
    return EXIT_OK


async def _looked_for(session: ToolSession) -> list[str]:
    try:
        return await session.look_for_tools()
    finally:
        await session.close()
