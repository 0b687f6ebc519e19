"""Program: an agent that runs the command in its second argument, in the directory in its first one, to be killed.

Its output is shown in a terminal of a client, which goes on without it and writes the states of its terminals into the
file `states.json` of the directory.
"""

import asyncio
import sys
from pathlib import Path

from support.acp.terminals import open_shell


async def main(directory: Path, command: str) -> None:
    async with open_shell(directory, states_file=directory / "states.json") as env:
        await env.run(command)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
