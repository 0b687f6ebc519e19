"""The names of our own commands, what each is for and how it is called."""

from tejat.core.commands import CommandSummary
from tejat.core.words import say


def own_commands() -> list[CommandSummary]:
    """In the order of the alphabet."""
    return sorted([*_that_look_and_set(), *_of_sessions()], key=lambda command: command.name)


def own_names() -> frozenset[str]:
    """All names that mean a command of ours."""
    return frozenset(name for command in own_commands() for name in (command.name, *command.aliases))


def _that_look_and_set() -> list[CommandSummary]:
    return [
        CommandSummary("about", say("Version, model, sandbox and where things are kept")),
        CommandSummary("bug", say("How to report a defect"), say("/bug TITLE")),
        CommandSummary("context", say("What the model gets with every request, and how much room is left")),
        CommandSummary("copy", say("Copy the last answer to the clipboard")),
        CommandSummary("docs", say("Where the documentation is")),
        CommandSummary("editor", say("Choose the editor that texts are opened in"), say("/editor [COMMAND]")),
        CommandSummary("help", say("Commands and keys"), say("/help [COMMAND]"), aliases=("?",)),
        CommandSummary("hooks", say("Hooks of this session"), say("/hooks [list | enable NAME | disable NAME]")),
        CommandSummary("init", say("Write a GEMINI.md for this project with the model")),
        CommandSummary(
            "mcp",
            say("MCP servers and what they offer"),
            say("/mcp [list | desc | nodesc | schema | auth NAME | refresh | enable NAME | disable NAME]"),
        ),
        CommandSummary(
            "memory",
            say("What the model is told from context files"),
            say("/memory show | add TEXT | refresh | list"),
        ),
        CommandSummary(
            "permissions",
            say("Rules that were saved or count for this session, and trust of the folder"),
            say("/permissions [list | revoke N | trust]"),
        ),
        CommandSummary(
            "policy",
            say("Which rules decide about calls, and how they decide one"),
            say("/policy [list | explain CALL | mode MODE]"),
        ),
        CommandSummary(
            "settings",
            say("Look at settings and change them"),
            say("/settings [list | NAME [VALUE] | unset NAME]"),
        ),
        CommandSummary(
            "stats", say("Requests, tokens, calls and times"), say("/stats [model | tools]"), aliases=("usage",)
        ),
        CommandSummary("theme", say("Choose the colours"), say("/theme [auto | dark | light | plain]")),
        CommandSummary("tools", say("Tools that the model can call"), say("/tools [desc | nodesc]")),
        CommandSummary("vim", say("Switch the keys of vi on or off"), say("/vim [on | off]")),
    ]


def _of_sessions() -> list[CommandSummary]:
    return [
        CommandSummary(
            "chat",
            say("Save the conversation under a name, go back to one"),
            say("/chat save|resume|list|delete|share [NAME]"),
        ),
        CommandSummary("clear", say("Clear the screen and start a new conversation")),
        CommandSummary("compress", say("Summarise the conversation to make room")),
        CommandSummary(
            "directory",
            say("The directories of this session"),
            say("/directory show | add PATH[,PATH]"),
            aliases=("dir",),
        ),
        CommandSummary("model", say("Choose the model"), say("/model [NAME [--persist]]")),
        CommandSummary("quit", say("Leave"), aliases=("exit",)),
        CommandSummary("restore", say("Put files back as a call found them"), say("/restore [NAME]")),
        CommandSummary("resume", say("Take up an earlier session"), say("/resume [SESSION]")),
        CommandSummary("rewind", say("Go back to an earlier prompt"), say("/rewind [NUMBER]")),
        CommandSummary("undo", say("Take back what was changed in files"), say("/undo [NUMBER]")),
    ]
