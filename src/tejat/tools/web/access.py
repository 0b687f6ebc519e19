"""Web access of the web tools."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.model import AskModel, Capability

if TYPE_CHECKING:
    from tejat.workspace.web.fetcher import Fetcher
    from tejat.workspace.web.search_endpoint import SearchEndpoint


class WebAccess(Frozen):
    """Web access of one session.

    `fetcher` and `search` are created on first use. `ask` is None if there is no model to read pages. `capabilities`
    are those of the current model. `secrets` must not appear in URLs or queries. `private_origins` are origins on
    private networks that the user has allowed permanently.
    """

    fetcher: "Callable[[], Fetcher]"
    ask: AskModel | None = None
    capabilities: Callable[[], frozenset[Capability]] = frozenset[Capability]
    search: "Callable[[], SearchEndpoint] | None" = None
    secrets: Callable[[], Sequence[str]] = field(default=tuple, repr=False)
    private_origins: frozenset[str] = frozenset()


def reject_secrets(web: WebAccess, text: str) -> None:
    """Raise ToolFailure if a text to be sent out contains a known secret. The message does not repeat it."""
    spellings = (text.casefold(), unquote(text).casefold())
    for secret in web.secrets():
        if len(secret) >= _MIN_SECRET_LENGTH and any(secret.casefold() in spelling for spelling in spellings):
            raise ToolFailure(
                lazy("This would send one of the user's secrets, such as an API key, to a third party. Remove it."),
                ErrorType.POLICY_VIOLATION,
            )


_MIN_SECRET_LENGTH = 8
