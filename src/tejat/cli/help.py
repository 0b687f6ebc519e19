"""The text of `tejat --help`."""

from tejat.core.i18n import _


def help_text() -> str:
    return _("""\
usage: tejat [PROMPT | -p PROMPT] [options]
       tejat COMMAND ...

Tejat answers prompts with a model that reads, searches and edits files and runs commands in this directory, under your
rules. Without a prompt it takes what is piped in, and at a terminal it asks for one.

  -p, --prompt TEXT             the prompt; what is piped in comes before it
  -i, --prompt-interactive TEXT begin a conversation with this prompt
  -m, --model NAME              gemini-2.5-pro, openai:NAME, anthropic:NAME, ollama:NAME, scripted:FILE
  -o, --output-format FORMAT    text, json or stream-json
  -y, --yolo                    do everything that no rule forbids, without asking
  --approval-mode MODE          default, auto_edit, yolo or plan
  --allowed-tools LIST          what needs no confirmation, like run_shell_command(git log)
  --exclude-tools LIST          what may not be used at all
  --allowed-mcp-server-names LIST  only these MCP servers
  -s, --sandbox MODE            auto, required (-s) or off
  --include-directories LIST    more directories to work in
  --trust                       let this folder's own configuration count in this run
  -r, --resume [SESSION]        go on with a session: latest, a number or an id
  --list-sessions, --delete-session SESSION, --session-id ID
  --max-turns N, --max-tokens N, --max-cost DOLLARS, --timeout SECONDS
  --screen-reader               a conversation in plain lines and words, for screen readers
  --record FILE, --replay FILE  keep the model's side of a run, or play it again
  -d, --debug                   write details to the log, and show where an internal error happened

commands:
  demo                  see a whole run, without a key
  tools list            what tools there are
  tools call NAME ...   run one tool
  policy ...            what may run without asking, and why: explain, list, revoke, test
  undo ...              what was changed, and how to take it back
  jobs ...              commands left in the background
  trust ...             which folders' own configuration counts
  mcp ...               MCP servers: add, list, test and more; `mcp serve` gives these tools to other agents
  doctor                what works here and what was read from where: sandbox, model, key, settings

options:
  -h, --help            show this help
  -V, --version         show the version

Keys are taken from GEMINI_API_KEY, OPENAI_API_KEY and ANTHROPIC_API_KEY. The exit code is 0 where there is an answer.
`tejat COMMAND --help` tells more of a command.
""")
