"""Names of built-in tools that other parts than the tools themselves know."""

ASK_USER = "ask_user"
INVOKE_AGENT = "invoke_agent"
RECALL = "recall"
WRITE_TODOS = "write_todos"
ENTER_PLAN_MODE = "enter_plan_mode"
EXIT_PLAN_MODE = "exit_plan_mode"

PLAN_TOOLS = (ENTER_PLAN_MODE, EXIT_PLAN_MODE)
PLAN_WRITERS = ("write_file", "replace")
"""The tools that write plan files."""
