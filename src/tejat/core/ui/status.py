"""Status line data, and preferences of the user interface."""

from enum import StrEnum

from tejat.core.frozen import frozen


@frozen
class ServerCounts:
    """The number of MCP servers: all, ready and failed. The rest is starting."""

    total: int = 0
    ready: int = 0
    failed: int = 0


@frozen
class Status:
    """Data of the status line.

    `folder` has `~` for the home. `context_used` is a fraction of the context window, None if that is unknown. `cost`
    is in dollars. `sandbox` is that of commands, empty if there is none.
    """

    model: str
    mode: str
    folder: str
    branch: str = ""
    context_used: float | None = None
    tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    servers: ServerCounts = ServerCounts()
    is_trusted: bool = True
    sandbox: str | None = None


class ThemeName(StrEnum):
    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"
    PLAIN = "plain"


@frozen
class Preferences:
    """User interface settings. If `editor` is None, VISUAL or EDITOR decide.

    With `escapes_pasted_at` an `@` in pasted text never mentions a file.
    """

    theme: ThemeName = ThemeName.AUTO
    vi_mode: bool = False
    editor: str | None = None
    animations: bool = True
    escapes_pasted_at: bool = False
