"""What the tools for the web stand on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.model import Ability, Ask
from tejat.core.value import field, value
from tejat.core.words import phrase

if TYPE_CHECKING:
    from tejat.workspace.fetch.fetch import Fetcher
    from tejat.workspace.fetch.search_endpoint import SearchEndpoint


def _none() -> frozenset[Ability]:
    return frozenset()


@value
class Web:
    """The way to the web of one session.

    `fetcher` and `search` are made when they are first needed. Without `ask` there is no model that could be asked
    about pages. `abilities` are those of the model now. `secrets` are values that must not leave in an address or a
    query. `private_origins` are places on private networks that the person allowed once for all.
    """

    fetcher: "Callable[[], Fetcher]"
    ask: Ask | None = None
    abilities: Callable[[], frozenset[Ability]] = _none
    search: "Callable[[], SearchEndpoint] | None" = None
    secrets: Callable[[], Sequence[str]] = field(default=tuple, repr=False)
    private_origins: frozenset[str] = frozenset()


def refuse_secrets(web: Web, text: str) -> None:
    """Raises ToolFailure when a known secret stands in a text that would go to a stranger. It is not repeated."""
    spellings = (text.casefold(), unquote(text).casefold())
    for secret in web.secrets():
        if len(secret) >= _SHORTEST_SECRET and any(secret.casefold() in spelling for spelling in spellings):
            raise ToolFailure(
                phrase("This would send a secret of the user, such as a key, to somebody else. Leave it out."),
                ErrorType.POLICY_VIOLATION,
            )


_SHORTEST_SECRET = 8
