"""Status line data, and preferences of the user interface."""

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.todos import TodoList
from tejat.core.ui.theme_colours import ThemeColours


class ServerCounts(Frozen):
    """The number of MCP servers: all, ready and failed. The rest is starting."""

    total: int = 0
    ready: int = 0
    failed: int = 0


class SandboxState(StrEnum):
    """What the sandbox of commands encloses."""

    UNKNOWN = "unknown"
    """Not probed yet."""
    NONE = "none"
    FILES = "files"
    FILES_AND_NETWORK = "files and network"


class Status(Frozen):
    """Data of the status line and of the first screen.

    `folder` has `~` for the home. `context_used` is a fraction of the context window, None if that is unknown. `cost`
    is in dollars. With `runs_sandboxed` some sandboxed commands run without asking. `line_changes` are the lines that
    tools added and removed, `memory` is that of this process in bytes. `todos` is the list of the model.
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
    sandbox: SandboxState = SandboxState.UNKNOWN
    runs_sandboxed: bool = False
    version: str = ""
    session_id: str = ""
    host: str = ""
    memory: int = 0
    line_changes: tuple[int, int] = (0, 0)
    todos: TodoList = TodoList()


class ModeChange(Frozen):
    """The approval mode after a switch, and why other modes were left out, if any were."""

    mode: str
    note: str = ""


class StatusItem(StrEnum):
    """An item of the status line that settings can name. The values are those of Gemini CLI."""

    WORKSPACE = "workspace"
    BRANCH = "git-branch"
    SANDBOX = "sandbox"
    MODEL = "model-name"
    CONTEXT = "context-used"
    QUOTA = "quota"
    MEMORY = "memory-usage"
    SESSION = "session-id"
    HOST = "hostname"
    AUTH = "auth"
    CHANGES = "code-changes"
    TOKENS = "token-count"


class StatusLineOptions(Frozen):
    """The items of the status line: those in `items` in this order, else the usual ones without those that are hidden.

    What warns the user is always shown.
    """

    items: tuple[StatusItem, ...] | None = None
    hidden: frozenset[StatusItem] = frozenset()
    is_hidden: bool = False


class WelcomeOptions(Frozen):
    """The parts of the first screen that are hidden."""

    hides_banner: bool = False
    hides_tips: bool = False


class TitleOptions(Frozen):
    """The window title: none, the name alone, or also the state and the subject of the model's thoughts."""

    is_hidden: bool = False
    is_dynamic: bool = True
    shows_thoughts: bool = False


class NotificationMethod(StrEnum):
    """How the terminal is asked to notify the user. The values are those of Gemini CLI."""

    AUTO = "auto"
    OSC9 = "osc9"
    OSC777 = "osc777"
    BELL = "bell"


class NotificationOptions(Frozen):
    """Notifications of questions and of the end of long turns."""

    is_enabled: bool = False
    method: NotificationMethod = NotificationMethod.AUTO


class ThemeName(StrEnum):
    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"
    PLAIN = "plain"


class Preferences(Frozen):
    """User interface settings. `colours` are those of a named theme, which is made for the background of `theme`.

    `uses_backgrounds` and `shows_line_numbers` are for diffs. If `editor` is None, VISUAL or EDITOR decide; some can
    open a new window for each text. With `escapes_pasted_at` an `@` in pasted text never mentions a file.
    `shows_thoughts` prints thoughts above the answer, `shows_model` the model below it. With `compact_results` long
    results are folded and neighbouring reads grouped.
    """

    theme: ThemeName = ThemeName.AUTO
    colours: ThemeColours | None = None
    uses_backgrounds: bool = True
    shows_line_numbers: bool = True
    vi_mode: bool = False
    editor: str | None = None
    editor_new_window: bool = False
    animations: bool = True
    escapes_pasted_at: bool = False
    status_line: StatusLineOptions = StatusLineOptions()
    shows_thoughts: bool = False
    shows_model: bool = False
    compact_results: bool = True
    welcome: WelcomeOptions = WelcomeOptions()
    title: TitleOptions = TitleOptions()
    notifications: NotificationOptions = NotificationOptions()
