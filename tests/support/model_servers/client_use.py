"""Use of a model client in tests."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from tejat.core.model import Chunk, ModelClient, TextDelta

_Result = TypeVar("_Result")


def use_client(client: ModelClient, work: Callable[[ModelClient], Awaitable[_Result]]) -> _Result:
    """Run `work` with a client, and close it."""

    async def main() -> _Result:
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(main())


def joined_text(chunks: Iterable[Chunk]) -> str:
    """The text of chunks that are pieces of text, however it is cut: pieces that arrive together become one."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
