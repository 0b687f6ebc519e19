"""When servers may ask something: only while there is work, and not for longer."""

import asyncio

import pytest

from support.raw_server import run_checked
from tejat.app.mcp.request_gate import RequestGate
from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem

NOT_NOW = "Nothing is asked while there is nothing to do."


async def at_once(alias: str, params: JsonObject) -> JsonObject:
    return {"alias": alias, **params}


async def never(*_: object) -> JsonObject:
    await asyncio.Event().wait()
    return {}


async def wrongly(*_: object) -> JsonObject:
    raise McpFailure("There is nothing to answer.", McpProblem.REFUSED, code=-32602)


def test_what_is_asked_is_answered_as_it_would_be() -> None:
    async def main() -> None:
        asking = RequestGate()
        assert await asking.guard(at_once)("bad", {"a": 1}) == {"alias": "bad", "a": 1}
        with pytest.raises(McpFailure, match="There is nothing to answer") as caught:
            await asking.guard(wrongly)("bad", {})
        assert caught.value.code == -32602

    run_checked(main())


def test_nothing_is_asked_until_there_is_work_again() -> None:
    async def main() -> None:
        asking = RequestGate()
        answer = asking.guard(at_once)
        await asking.close()
        await asking.close()
        with pytest.raises(McpFailure, match=NOT_NOW):
            await answer("bad", {})
        asking.open()
        assert await answer("bad", {}) == {"alias": "bad"}

    run_checked(main())


def test_what_is_open_is_dropped_before_anything_else_happens() -> None:
    happened: list[str] = []

    async def thoughtful(alias: str, params: JsonObject) -> JsonObject:
        try:
            return await never(alias, params)
        finally:
            await asyncio.sleep(0.01)
            happened.append(alias)

    async def main() -> None:
        asking = RequestGate()
        answer = asking.guard(thoughtful)
        tasks = [asyncio.ensure_future(answer(alias, {})) for alias in ("a", "b")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asking.close()
        assert sorted(happened) == ["a", "b"]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(outcome) for outcome in outcomes] == [NOT_NOW] * 2

    run_checked(main())


def test_a_server_that_takes_its_question_back() -> None:
    async def main() -> None:
        asking = RequestGate()
        task = asyncio.ensure_future(asking.guard(never)("bad", {}))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asking.close()

    run_checked(main())
