"""The question before a call of a Python function, from its `confirm` option."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast, get_args

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.i18n import lazy
from tejat.workspace.threads.daemon import run_detached

ConfirmAnswer: TypeAlias = bool | str | Confirmation | None
"""Whether a call needs confirmation. A text is shown to the user; None is no."""
Confirm: TypeAlias = bool | Callable[..., ConfirmAnswer | Awaitable[ConfirmAnswer]]
"""The `confirm` option of `@tool`."""

_CONFIRMATIONS = get_args(Confirmation)


class CallConfirmation:
    """The `confirm` option of one tool, bound to its parameters.

    A callable gets the parsed arguments by name, those that it takes, with the defaults of the function.
    """

    def __init__(self, confirm: Confirm, parameters: Sequence[str], *, tool: str) -> None:
        """Raises TypeError for an option that is neither a bool nor a callable that fits the parameters."""
        if not isinstance(confirm, bool) and not callable(confirm):
            raise TypeError(f"{tool}: confirm must be a bool or a function, not {confirm!r}")
        self._confirm = confirm
        self._names = () if isinstance(confirm, bool) else _accepted_names(confirm, parameters, tool=tool)

    @property
    def is_off(self) -> bool:
        return self._confirm is False

    async def ask(self, arguments: Mapping[str, object], *, title: str, description: str) -> Confirmation | None:
        """The confirmation that a call needs, or None. Raises what the callable raises, and TypeError."""
        answer = await self._answer(arguments)
        if answer is None or answer is False:
            return None
        if answer is True:
            answer = description
        if isinstance(answer, str):
            return InfoConfirmation(title=lazy("Confirm: {tool}", tool=title), prompt=answer or description)
        if not isinstance(answer, _CONFIRMATIONS):
            raise TypeError(f"confirm returned {answer!r}, and not a bool, a str or a confirmation")
        return answer

    async def _answer(self, arguments: Mapping[str, object]) -> ConfirmAnswer:
        if isinstance(self._confirm, bool):
            return self._confirm
        call = partial(self._confirm, **{name: arguments[name] for name in self._names})
        if inspect.iscoroutinefunction(self._confirm):
            return await cast("Awaitable[ConfirmAnswer]", call())
        answer = await run_detached(call)
        return await answer if inspect.isawaitable(answer) else answer


def _accepted_names(confirm: Callable[..., object], parameters: Sequence[str], *, tool: str) -> Sequence[str]:
    """The parameters of the tool that a callable takes. Raises TypeError if it needs others."""
    try:
        wanted = inspect.signature(confirm).parameters.values()
    except ValueError:
        raise TypeError(f"{tool}: the parameters of confirm={confirm!r} are unknown; use a function") from None
    if any(each.kind is each.VAR_KEYWORD for each in wanted):
        return parameters
    for each in wanted:
        is_named = each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        is_optional = each.default is not each.empty or each.kind is each.VAR_POSITIONAL
        if not (is_named and each.name in parameters) and not is_optional:
            known = ", ".join(parameters) or "no parameters"
            raise TypeError(f"{tool}: confirm takes {each.name!r}, which is no argument of the tool ({known})")
    return [each.name for each in wanted if each.name in parameters]
