"""Calls of Python hooks, with the limits of command hooks."""

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any, cast

from tejat.config.hooks import HookConfig
from tejat.core.agent.hooks import HookAnswer, HookFunction
from tejat.core.errors import CallbackFailure
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json, load_json
from tejat.core.messages.types import JsonObject
from tejat.engine.hooks.result import HookResult, failed_result, parse_answer
from tejat.workspace.threads.daemon import run_detached

_STOP_SECONDS = 2.0
"""Time for an `async` function to end after it was cancelled. One that ignores that is left behind."""


async def call_function(hook: HookConfig, function: HookFunction, payload: JsonObject) -> HookResult:
    """Call a Python hook. One that takes too long has failed. Raises CallbackFailure with what it raised."""
    given = cast("dict[str, Any]", load_json(dump_json(payload)))  # a copy, which it may change
    calling = asyncio.ensure_future(_call(function, given))
    try:
        await asyncio.wait((calling,), timeout=hook.timeout)
    finally:
        is_late = not calling.done()
        await _stop(calling)
    if is_late:
        return failed_result(hook, lazy("took longer than {seconds:g} seconds", seconds=hook.timeout))
    try:
        return parse_answer(hook, calling.result())
    except CallbackFailure:
        raise
    except asyncio.CancelledError:
        error = RuntimeError(f"The hook {hook.name!r} ({hook.event}) was cancelled from within.")
        raise CallbackFailure(error) from None
    except Exception as error:
        raise CallbackFailure(error) from error


async def _call(function: HookFunction, given: dict[str, Any]) -> object:
    """Call a function that may be `async`. Any other gets a thread, because the event loop must not wait for it."""
    answer: HookAnswer | Awaitable[HookAnswer]
    if inspect.iscoroutinefunction(function):
        answer = cast("Awaitable[HookAnswer]", function(given))
    else:
        answer = await run_detached(lambda: function(given), grace=0)
    try:
        return await answer if isinstance(answer, Awaitable) else answer
    except SystemExit as error:
        raise RuntimeError(f"SystemExit was raised: {error}") from error


async def _stop(calling: "asyncio.Future[object]") -> None:
    """Cancel a call that is still running, and wait a moment for its end."""
    if not calling.done():
        calling.cancel()
        await asyncio.wait((calling,), timeout=_STOP_SECONDS)
    if calling.done() and not calling.cancelled():
        calling.exception()  # retrieved, so that it is not reported as lost
