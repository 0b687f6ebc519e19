"""What the tools for the web stand on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import field, frozen
from tejat.core.i18n import gettext_lazy
from tejat.core.model import AskModel, Capability

if TYPE_CHECKING:
    from tejat.workspace.web.fetcher import Fetcher
    from tejat.workspace.web.search_endpoint import SearchEndpoint


def _no_capabilities() -> frozenset[Capability]:
    return frozenset()


@frozen
class WebAccess:
    """The way to the web of one session.

    `fetcher` and `search` are made when they are first needed. Without `ask` there is no model that could be asked
    about pages. `capabilities` are those of the model now. `secrets` are values that must not leave in an address or a
    query. `private_origins` are places on private networks that the person allowed once for all.
    """

    fetcher: "Callable[[], Fetcher]"
    ask: AskModel | None = None
    capabilities: Callable[[], frozenset[Capability]] = _no_capabilities
    search: "Callable[[], SearchEndpoint] | None" = None
    secrets: Callable[[], Sequence[str]] = field(default=tuple, repr=False)
    private_origins: frozenset[str] = frozenset()


def reject_secrets(web: WebAccess, text: str) -> None:
    """Raises ToolFailure when a known secret stands in a text that would go to a stranger. It is not repeated."""
    spellings = (text.casefold(), unquote(text).casefold())
    for secret in web.secrets():
        if len(secret) >= _MIN_SECRET_LENGTH and any(secret.casefold() in spelling for spelling in spellings):
            raise ToolFailure(
                gettext_lazy("This would send a secret of the user, such as a key, to somebody else. Leave it out."),
                ErrorType.POLICY_VIOLATION,
            )


_MIN_SECRET_LENGTH = 8
