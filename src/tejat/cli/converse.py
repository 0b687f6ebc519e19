"""`tejat` at a terminal: a conversation, one prompt after the other."""

import asyncio
import os
import sys

from tejat.app.desk import open_desk
from tejat.cli.confirm import TerminalApprover
from tejat.cli.plain_talk import PlainApprover, converse_plainly, plain_face
from tejat.cli.run_options import RunOptions, agent_options
from tejat.cli.start_failures import explain
from tejat.cli.style import Style
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_INTERRUPTED
from tejat.core.visible import visible


def converse(options: RunOptions) -> int:
    """Answer prompts until the person has no more, and return the exit code."""
    try:
        with ending_in_order():
            return asyncio.run(_in_lines(options))
    except TejatError as error:
        print(f"tejat: {visible(str(error))}", file=sys.stderr)
        return explain(error)[1]
    except Terminated as terminated:
        return terminated.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


async def _in_lines(options: RunOptions) -> int:
    """Raises TejatError where nothing could be begun."""
    face = plain_face()
    approver = PlainApprover(TerminalApprover(Style(sys.stderr), untrusted=(os.getcwd(),)), face)
    async with open_desk(agent_options(options), approver) as desk:
        return await converse_plainly(desk, face, first=options.prompt_interactive)
