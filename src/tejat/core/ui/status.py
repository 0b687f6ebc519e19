"""What a person can see at a glance while they work, and how they like to see it."""

from enum import StrEnum

from tejat.core.frozen import frozen


@frozen
class ServerCounts:
    """How many MCP servers there are, how many of them can be used, how many failed; the rest is being started."""

    total: int = 0
    ready: int = 0
    failed: int = 0


@frozen
class Status:
    """`context_used` is the share of the model's window, None where the window is unknown. `cost` is in dollars."""

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
    sandbox: str = ""


class ThemeName(StrEnum):
    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"
    PLAIN = "plain"


@frozen
class Preferences:
    """What the settings say about the screen and the keys. `editor` is None where VISUAL or EDITOR decide."""

    theme: ThemeName = ThemeName.AUTO
    vi_mode: bool = False
    editor: str | None = None
    animations: bool = True
