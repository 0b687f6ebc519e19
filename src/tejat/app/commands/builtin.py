"""Names, summaries and usages of the built-in slash commands."""

from tejat.app.commands.ways_back import ways_back
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandSummary


def builtin_commands() -> list[CommandSummary]:
    """The built-in commands in alphabetical order."""
    return sorted((command for group in command_groups() for command in group), key=lambda command: command.name)


def command_groups() -> list[list[CommandSummary]]:
    """The built-in commands by group, in the order of `/help`."""
    groups = (
        (_("Conversation"), _conversation_commands()),
        (_("Changes"), _change_commands()),
        (_("Context"), _context_commands()),
        (_("Permissions"), _permission_commands()),
        (_("Tools"), _tool_commands()),
        (_("Preferences"), _preference_commands()),
        (_("Help"), _help_commands()),
    )
    return [[replace(command, group=title) for command in commands] for title, commands in groups]


def builtin_names() -> frozenset[str]:
    """All names and aliases of built-in commands."""
    return frozenset(name for command in builtin_commands() for name in (command.name, *command.aliases))


def _conversation_commands() -> list[CommandSummary]:
    return [
        CommandSummary("clear", _("Clear the screen and start a new conversation"), aliases=("new",)),
        CommandSummary("resume", _("Resume an earlier session"), _("/resume [SESSION]")),
        CommandSummary(
            "rewind", _("Go back to before an earlier prompt"), _("/rewind [N]"), details=ways_back(besides="rewind")
        ),
        CommandSummary(
            "chat", _("Save and resume named conversations"), _("/chat save|resume|list|delete|share [NAME]")
        ),
        CommandSummary(
            "compress",
            _("Summarize the conversation to free context"),
            _("/compress [--preview]"),
            aliases=("compact", "summarize"),
        ),
        CommandSummary("copy", _("Copy the last answer to the clipboard")),
        CommandSummary(
            "export",
            _("Write the conversation to a Markdown or JSON file"),
            _("/export [FILE | md | json]"),
            aliases=("export-session",),
        ),
        CommandSummary("quit", _("Show session statistics and quit"), aliases=("exit",)),
    ]


def _change_commands() -> list[CommandSummary]:
    return [
        CommandSummary("diff", _("Show file changes made in this session"), _("/diff [last | N | ID]")),
        CommandSummary(
            "undo",
            _("Undo file changes made by the last tool calls"),
            _("/undo [N | list | ID]"),
            details=ways_back(besides="undo"),
        ),
        CommandSummary(
            "restore",
            _("Restore files and conversation to before a tool call"),
            _("/restore [ID]"),
            details=ways_back(besides="restore"),
        ),
        CommandSummary("init", _("Let the model write a GEMINI.md for this project")),
    ]


def _context_commands() -> list[CommandSummary]:
    return [
        CommandSummary("model", _("Choose the model"), _("/model [NAME [--persist]]")),
        CommandSummary("context", _("Show what uses the context window")),
        CommandSummary(
            "memory", _("Show and edit what the model remembers"), _("/memory show | add TEXT | refresh | list")
        ),
        CommandSummary(
            "directory",
            _("Show or add workspace directories"),
            _("/directory show | add PATH[,PATH]"),
            aliases=("dir",),
        ),
        CommandSummary(
            "stats",
            _("Show requests, tokens, cost and times"),
            _("/stats [session | model | tools | agents]"),
            aliases=("usage",),
        ),
    ]


def _permission_commands() -> list[CommandSummary]:
    return [
        CommandSummary(
            "permissions",
            _("Show and revoke saved approvals; trust this folder"),
            _("/permissions [list | revoke N | trust]"),
        ),
        CommandSummary(
            "policy",
            _("Show rules, explain a decision, change the approval mode"),
            _("/policy [list | explain CALL | mode MODE]"),
            aliases=("policies",),
        ),
        CommandSummary("plan", _("Plan before changing anything, or show the plans"), "/plan [GOAL|show|copy|list]"),
        CommandSummary("privacy", _("Show what is sent where and what is stored")),
    ]


def _tool_commands() -> list[CommandSummary]:
    return [
        CommandSummary("tools", _("List the tools that the model can call"), _("/tools [desc | nodesc]")),
        CommandSummary(
            "mcp",
            _("Show and manage MCP servers"),
            _("/mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"),
        ),
        CommandSummary(
            "skills",
            _("List and manage Agent Skills"),
            _("/skills [list [all] [nodesc] | show NAME | enable NAME | disable NAME | link PATH | reload]"),
            aliases=("skill",),
        ),
        CommandSummary(
            "agents",
            _("List, configure and stop sub-agents"),
            _(
                "/agents [list | show NAME|ID | enable NAME | disable NAME | config NAME | reload | stop ID | "
                "review ID]"
            ),
            aliases=("agent",),
        ),
        CommandSummary(
            "hooks", _("List hooks, enable or disable them"), _("/hooks [list | enable NAME | disable NAME]")
        ),
        CommandSummary(
            "extensions",
            _("List, install, update and switch extensions"),
            _(
                "/extensions [list | review NAME | enable NAME | disable NAME | config NAME | update NAME | "
                "install SOURCE | link PATH | uninstall NAME | reload | explore]"
            ),
        ),
        CommandSummary(
            "shells",
            _("List, read and stop background processes"),
            _("/shells [list | tail PID [LINES] | stop PID]"),
            aliases=("bashes", "tasks", "background", "bg"),
        ),
        CommandSummary("commands", _("List and reload custom commands"), _("/commands [list | reload]")),
    ]


def _preference_commands() -> list[CommandSummary]:
    return [
        CommandSummary(
            "login", _("Add, change or remove an API key"), _("/login [SERVICE | remove]"), aliases=("auth",)
        ),
        CommandSummary("settings", _("View and change settings"), _("/settings [list | NAME [VALUE] | unset NAME]")),
        CommandSummary("theme", _("Choose the theme"), _("/theme [NAME]")),
        CommandSummary("editor", _("Choose the external editor"), _("/editor [COMMAND]")),
        CommandSummary("vim", _("Turn Vim mode on or off"), _("/vim [on | off]")),
        CommandSummary("terminal-setup", _("Set up Shift-Enter for new lines"), _("/terminal-setup [TERMINAL]")),
    ]


def _help_commands() -> list[CommandSummary]:
    return [
        CommandSummary("help", _("List commands and keys"), _("/help [all | keys | COMMAND]"), aliases=("?",)),
        CommandSummary("about", _("Show version, model, sandbox and configuration"), _("/about [setup]")),
        CommandSummary("docs", _("List and read the documentation"), _("/docs [PAGE]")),
        CommandSummary("bug", _("Prepare a bug report"), _("/bug TITLE")),
    ]
