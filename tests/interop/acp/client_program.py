"""A client in a process of its own, to be killed: it opens a session, sends a prompt and waits for ever.

Its arguments are the project, the prompt and the command of the agent. It prints the session id and the agent's pid.
"""

import asyncio
import sys

from acp import spawn_agent_process, text_block

from support.acp.sdk_client import SdkClient


async def main(project: str, prompt: str, *command: str) -> None:
    client = SdkClient()
    async with spawn_agent_process(client, *command, observers=[client.log.observe]) as (connection, process):
        await connection.initialize(protocol_version=1)
        session = (await connection.new_session(cwd=project)).session_id
        sys.stdout.write(f"{session} {process.pid}\n")
        sys.stdout.flush()
        await connection.prompt(session_id=session, prompt=[text_block(prompt)])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
