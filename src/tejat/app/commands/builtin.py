"""Names, summaries and usages of the built-in slash commands."""

from tejat.core.i18n import _
from tejat.core.ui.commands import CommandSummary


def builtin_commands() -> list[CommandSummary]:
    """The built-in commands in alphabetical order."""
    return sorted([*_information_commands(), *_session_commands()], key=lambda command: command.name)


def builtin_names() -> frozenset[str]:
    """All names and aliases of built-in commands."""
    return frozenset(name for command in builtin_commands() for name in (command.name, *command.aliases))


def _information_commands() -> list[CommandSummary]:
    return [
        CommandSummary("about", _("Version, model, sandbox and where things are kept"), _("/about [setup]")),
        CommandSummary("bug", _("How to report a defect"), _("/bug TITLE")),
        CommandSummary("context", _("What the model gets with every request, and how much room is left")),
        CommandSummary("copy", _("Copy the last answer to the clipboard")),
        CommandSummary("docs", _("Where the documentation is")),
        CommandSummary("editor", _("Choose the editor that texts are opened in"), _("/editor [COMMAND]")),
        CommandSummary("help", _("Commands and keys"), _("/help [COMMAND]"), aliases=("?",)),
        CommandSummary("hooks", _("Hooks of this session"), _("/hooks [list | enable NAME | disable NAME]")),
        CommandSummary("init", _("Write a GEMINI.md for this project with the model")),
        CommandSummary(
            "mcp",
            _("MCP servers and what they offer"),
            _("/mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"),
        ),
        CommandSummary(
            "memory", _("What the model is told from context files"), _("/memory show | add TEXT | refresh | list")
        ),
        CommandSummary(
            "permissions",
            _("Rules that were saved or count for this session, and trust of the folder"),
            _("/permissions [list | revoke N | trust]"),
        ),
        CommandSummary(
            "policy",
            _("Which rules decide about calls, and how they decide one"),
            _("/policy [list | explain CALL | mode MODE]"),
        ),
        CommandSummary(
            "settings", _("Look at settings and change them"), _("/settings [list | NAME [VALUE] | unset NAME]")
        ),
        CommandSummary(
            "stats", _("Requests, tokens, calls and times"), _("/stats [model | tools]"), aliases=("usage",)
        ),
        CommandSummary("theme", _("Choose the colours"), _("/theme [auto | dark | light | plain]")),
        CommandSummary("tools", _("Tools that the model can call"), _("/tools [desc | nodesc]")),
        CommandSummary("vim", _("Switch the keys of vi on or off"), _("/vim [on | off]")),
    ]


def _session_commands() -> list[CommandSummary]:
    return [
        CommandSummary(
            "chat",
            _("Save the conversation under a name, go back to one"),
            _("/chat save|resume|list|delete|share [NAME]"),
        ),
        CommandSummary("clear", _("Clear the screen and start a new conversation")),
        CommandSummary("compress", _("Summarise the conversation to make room")),
        CommandSummary(
            "directory", _("The directories of this session"), _("/directory show | add PATH[,PATH]"), aliases=("dir",)
        ),
        CommandSummary("model", _("Choose the model"), _("/model [NAME [--persist]]")),
        CommandSummary("quit", _("Leave"), aliases=("exit",)),
        CommandSummary("restore", _("Put files back as a call found them"), _("/restore [NAME]")),
        CommandSummary("resume", _("Take up an earlier session"), _("/resume [SESSION]")),
        CommandSummary("rewind", _("Go back to an earlier prompt"), _("/rewind [NUMBER]")),
        CommandSummary("undo", _("Take back what was changed in files"), _("/undo [NUMBER]")),
    ]
