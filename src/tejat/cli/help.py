"""The text of `tejat --help`."""

from tejat.core.i18n import _


def help_text() -> str:
    return _flags_help() + _commands_help()


def _flags_help() -> str:
    return _("""\
usage: tejat [PROMPT | -p PROMPT] [options]
       tejat COMMAND ...

A coding agent for the terminal: it reads, searches and edits files and runs commands in this directory, under your
rules. At a terminal it starts a conversation, with PROMPT as the first prompt. With -p, or without a terminal, it
answers the prompt and what is piped in, and exits.

prompt and model:
  -p, --prompt TEXT             answer this prompt and exit; what is piped in comes before it
  -i, --prompt-interactive TEXT start a conversation with this prompt
  -m, --model NAME              auto, gemini-3.8-flash, openai:NAME, anthropic:NAME, ollama:NAME, scripted:FILE
  -o, --output-format FORMAT    text, json or stream-json
  --raw-output                  print the text of the model without removing control characters
  --accept-raw-output-risk      do not warn about --raw-output
  --screen-reader               a conversation in plain lines, for screen readers

approvals and sandbox:
  -y, --yolo                    run everything that no rule denies, without asking
  --approval-mode MODE          default, auto_edit, yolo or plan
  --allowed-tools LIST          tools that need no approval, for example "run_shell_command(git log)"
  --exclude-tools LIST          tools that are switched off
  --allowed-mcp-server-names LIST  only these MCP servers
  --policy PATHS                policy files or directories, instead of ~/.gemini/policies
  --admin-policy PATHS          policy files or directories with the precedence of an administrator's
  -s, --sandbox [WORD]          require a sandbox, or: auto, required, off, docker, podman, runsc, sandbox-exec
  --trust, --skip-trust         trust this folder's own configuration for this run
  --strict-settings             refuse settings that are unknown or have wrong values

workspace and extensions:
  --include-directories LIST    more directories to work in
  -w, --worktree [NAME]         not available yet
  -e, --extensions LIST         only "none": extensions are not loaded yet
  -l, --list-extensions         list the extensions of Gemini CLI found here

sessions:
  -r, --resume [SESSION]        resume a session: latest, a number or an id
  --session-id ID               the id of the new session
  --session-file FILE           continue a chat that Gemini CLI saved, as a new session
  --list-sessions               list the sessions of this project
  --delete-session SESSION      delete a session

limits and recording:
  --max-turns N, --max-tokens N, --max-cost DOLLARS, --timeout SECONDS
  --record FILE, --replay FILE  record the answers of the model, or replay a recording
  -d, --debug                   write details to the log, and show where an internal error happened
  --acp                         not available yet

""")


def _commands_help() -> str:
    return _("""\
commands:
  demo         show a complete run without a key
  tools        list the tools, or run one: list, call
  models       list models and their prices: list, update
  policy       show and test the approval rules: explain, list, revoke, test
  undo         list and revert changes: list, show, restore
  jobs         manage commands in the background: list, read, stop
  sessions     manage stored sessions: list, show, delete, export, import
  trust        show and decide which folders are trusted
  mcp          manage MCP servers: add, remove, list, test, enable, disable, auth, serve
  hooks        list the hooks
  extensions   list the extensions of Gemini CLI found here
  sandbox      build the image for container sandboxes, or test the sandbox: build, test
  doctor       check the sandbox, model, key and settings, and the set-up carried over from Gemini CLI
  completion   print a completion script for bash, zsh or fish
  help         show the help of a command
  version      show the version

options:
  -h, --help     show this help, or with a command its own
  -v, --version  show the version

Flags may appear anywhere before `--`. Separate the items of a LIST by commas, or repeat the flag. Turn a switch off
with --no-NAME or --NAME=false. API keys are read from GEMINI_API_KEY, OPENAI_API_KEY and ANTHROPIC_API_KEY.
""")
