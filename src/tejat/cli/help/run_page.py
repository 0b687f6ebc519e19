"""The page of `tejat --help`."""

from tejat.cli.help.page import HelpPage, HelpRow, HelpSection, format_page, terminal_width
from tejat.core.i18n import _


def help_text() -> str:
    return format_page(run_page(), terminal_width())


def run_page() -> HelpPage:
    return HelpPage(
        "tejat",
        ("tejat [options] [PROMPT]", "tejat COMMAND ..."),
        _(
            "A coding agent for the terminal. It reads, searches and edits files and runs commands in the current "
            "directory, and asks for approval as your rules require.\n\n"
            "At a terminal, tejat starts a conversation, with PROMPT as the first prompt. With -p, or without a "
            "terminal, it answers the prompt, prints the result and exits."
        ),
        (
            HelpSection(_("commands"), _commands()),
            HelpSection(_("prompt and model"), _prompt_flags()),
            HelpSection(_("approvals and sandbox"), _approval_flags()),
            HelpSection(_("sessions"), _session_flags()),
            HelpSection(_("workspace and extensions"), _workspace_flags()),
            HelpSection(_("plans, questions and sub-agents"), _delegation_flags()),
            HelpSection(_("limits"), _limit_flags()),
            HelpSection(_("other options"), _other_flags()),
        ),
        notes=_(
            "Flags may appear anywhere before `--`. Separate the items of a LIST with commas, or repeat the flag. Turn "
            "a switch off with --no-NAME or --NAME=false. API keys are read from GEMINI_API_KEY, OPENAI_API_KEY and "
            "ANTHROPIC_API_KEY. `tejat help COMMAND` shows the options of a command, `tejat docs` the documentation."
        ),
        examples=(
            HelpRow("tejat", _("start a conversation")),
            HelpRow('tejat "Why does this test fail?"', _("start it with a prompt")),
            HelpRow("git diff | tejat -p 'Review this'", _("answer and exit")),
            HelpRow("tejat --resume", _("resume the latest session")),
            HelpRow("tejat --approval-mode plan", _("read only, change nothing")),
        ),
    )


def _commands() -> tuple[HelpRow, ...]:
    return (
        HelpRow("demo", _("try Tejat with a scripted model; no key or network needed")),
        HelpRow("doctor", _("check the sandbox, model, key, settings and Gemini CLI setup")),
        HelpRow("docs", _("read the documentation")),
        HelpRow("batch", _("run many tasks, each in its own copy of a repository, and report on them")),
        HelpRow("sessions", _("list, search, show, resume, stop, answer, delete or import sessions")),
        HelpRow("attach", _("open a running session in this terminal")),
        HelpRow("export", _("write a session to an HTML, Markdown or JSON file")),
        HelpRow("web", _("show all sessions on a web page of this machine")),
        HelpRow("undo", _("list and revert file changes made by tool calls")),
        HelpRow("models", _("list models and prices, or update the catalogue")),
        HelpRow("tools", _("list the tools, or call one without a model")),
        HelpRow("policy", _("explain, list, revoke and test approval rules")),
        HelpRow("trust", _("show or decide which folders are trusted")),
        HelpRow("mcp", _("add, remove, list, test and serve MCP servers")),
        HelpRow("acp", _("serve an editor over the Agent Client Protocol")),
        HelpRow("agents", _("list sub-agents and check their files")),
        HelpRow("hooks", _("list the configured hooks")),
        HelpRow("skills", _("list, install and manage Agent Skills")),
        HelpRow("extensions", _("list installed Gemini CLI extensions")),
        HelpRow("jobs", _("list, read and stop background processes")),
        HelpRow("sandbox", _("test the sandbox, or build the container image")),
        HelpRow("completion", _("print a completion script for bash, zsh or fish")),
        HelpRow("help", _("show the help of a command")),
        HelpRow("version", _("show the version")),
    )


def _prompt_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("-p, --prompt TEXT", _("answer this prompt and exit; piped input is put before it")),
        HelpRow("-i, --prompt-interactive TEXT", _("start a conversation with this prompt")),
        HelpRow(
            "-m, --model NAME",
            _("auto, gemini-3.8-flash, openai:NAME, anthropic:NAME, ollama:NAME, scripted:FILE, ..."),
        ),
        HelpRow("-o, --output-format FORMAT", _("text, json or stream-json")),
        HelpRow("--raw-output", _("print the model's text without removing control characters")),
        HelpRow("--accept-raw-output-risk", _("do not warn about --raw-output")),
        HelpRow("--screen-reader", _("plain lines instead of a drawn screen")),
    )


def _approval_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("--approval-mode MODE", _("default (ask), auto_edit (edit without asking), plan (read-only) or yolo")),
        HelpRow("-y, --yolo", _("run everything without asking, except what a rule denies")),
        HelpRow("--allowed-tools LIST", _('tools that need no approval, for example "run_shell_command(git log)"')),
        HelpRow("--exclude-tools LIST", _("tools to disable")),
        HelpRow("--allowed-mcp-server-names LIST", _("the only MCP servers to start")),
        HelpRow("--policy PATHS", _("policy files or directories, instead of ~/.gemini/policies")),
        HelpRow("--admin-policy PATHS", _("policy files or directories with administrator precedence")),
        HelpRow(
            "-s, --sandbox [WORD]",
            _("require a sandbox, or choose: auto, required, off, docker, podman, runsc, sandbox-exec"),
        ),
        HelpRow("--trust, --skip-trust", _("trust this folder's configuration for this run")),
        HelpRow("--strict-settings", _("refuse unknown settings and wrong values")),
    )


def _session_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("-r, --resume [SESSION]", _("resume a session: latest, a number or an id")),
        HelpRow("--session-id ID", _("the id of the new session")),
        HelpRow("--session-file FILE", _("continue a chat saved by Gemini CLI, as a new session")),
        HelpRow("--detach", _("answer the prompt in the background; tejat attach opens the session")),
        HelpRow("--session-server", _("let other terminals and the web page use this session (the default)")),
        HelpRow("--list-sessions", _("list the sessions of this project")),
        HelpRow("--delete-session SESSION", _("delete a session")),
    )


def _workspace_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("--include-directories LIST", _("additional directories to work in")),
        HelpRow("-w, --worktree [NAME]", _("not available yet")),
        HelpRow("-e, --extensions LIST", _("the only extensions to use, or none")),
        HelpRow("-l, --list-extensions", _("list installed Gemini CLI extensions")),
    )


def _delegation_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("--answer HEADER=VALUE", _("answer a question of the model in advance; may be repeated")),
        HelpRow("--require-answers", _("fail if the model asks a question that nobody can answer")),
        HelpRow("--approve-plan MODE", _("approve the model's plan in advance: default or auto_edit")),
        HelpRow("--agents-in-copies", _("let sub-agents change copies of the files, and return a diff")),
    )


def _limit_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("--max-turns N", _("stop after this many requests to the model")),
        HelpRow("--max-tokens N", _("stop after this many tokens")),
        HelpRow("--max-cost DOLLARS", _("stop when the run has cost this much")),
        HelpRow("--timeout SECONDS", _("stop after this time")),
    )


def _other_flags() -> tuple[HelpRow, ...]:
    return (
        HelpRow("--record FILE", _("record the answers of the model in a file")),
        HelpRow("--replay FILE", _("replay a recording instead of asking a model")),
        HelpRow("-d, --debug", _("write details to the log, and show tracebacks of internal errors")),
        HelpRow("--acp", _("serve an editor over the Agent Client Protocol, same as `tejat acp`")),
        HelpRow("--login", _("enter an API key at the terminal, then exit")),
        HelpRow("-h, --help", _("show this help, or the help of a command")),
        HelpRow("-v, --version", _("show the version")),
    )
