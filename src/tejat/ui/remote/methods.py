"""Names of the messages between a session and a front end in another process."""

PROTOCOL = 1
"""Changes when a front end of another version would not understand a session."""

# Requests of a front end.
INFO = "info"
ATTACH = "attach"
PROMPT = "prompt"
STEER = "steer"
INTERRUPT = "interrupt"
STOP = "stop"
ANSWER = "answer"
COMMAND = "command"
COMPLETE = "complete"
FILES = "files"
SHELL = "shell"
MODE = "mode"
SANDBOX = "sandbox"

# Requests of the session, for the user of a command that a front end runs.
PAGE = "page"
CHOOSE = "choose"
ENTER = "enter"
EDIT = "edit"
COPY = "copy"

# Notifications to a front end.
EVENT = "event"
STATE = "state"
OUTPUT = "output"
SHOW = "show"
