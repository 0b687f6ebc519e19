"""Use of a model client in tests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tejat.core.model import ModelClient

_Result = TypeVar("_Result")


def use_client(client: ModelClient, work: Callable[[ModelClient], Awaitable[_Result]]) -> _Result:
    """Run `work` with a client, and close it."""

    async def main() -> _Result:
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(main())
