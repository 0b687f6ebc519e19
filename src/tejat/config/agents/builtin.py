"""The built-in sub-agents."""

from tejat.config.agents.prompts import load_prompt
from tejat.core.agent.subagents import SubagentDefinition, SubagentOutput
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Party, Provenance

INVESTIGATOR = "codebase_investigator"
GENERALIST = "generalist"
HELP = "cli_help"

DESCRIPTIONS = {
    INVESTIGATOR: (
        "Explores the codebase, read-only, and reports how it works, where things are and what a change would affect. "
        "Use it before large changes, and for vague requests, bugs of unknown cause and questions about architecture."
    ),
    GENERALIST: (
        "Works with all your tools. Use it for a part of the task with many steps or long output: edits in many files, "
        "test runs, research."
    ),
    HELP: "Answers questions about Tejat itself: its commands, settings and features.",
}
"""The built-in agents, as the model is told about them."""

_BUILT_IN = Provenance(Party.BUILT_IN)
_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}


def builtin_definition(name: str) -> SubagentDefinition:
    """The definition of a built-in agent."""
    match name:
        case "codebase_investigator":
            return SubagentDefinition(
                name,
                DESCRIPTIONS[name],
                load_prompt(name),
                _BUILT_IN,
                display_name="Codebase Investigator",
                tools=("list_directory", "read_file", "glob", "search_file_content"),
                temperature=0.1,
                max_turns=50,
                timeout_minutes=10.0,
                input_name="objective",
                output=SubagentOutput("report", _INVESTIGATION),
            )
        case "generalist":
            return SubagentDefinition(
                name,
                DESCRIPTIONS[name],
                load_prompt(name),
                _BUILT_IN,
                display_name="Generalist",
                max_turns=20,
                timeout_minutes=10.0,
                input_name="request",
                output=SubagentOutput("result", _RESPONSE),
            )
        case _:
            return SubagentDefinition(
                name,
                DESCRIPTIONS[name],
                load_prompt(name),
                _BUILT_IN,
                display_name="CLI Help",
                tools=("get_internal_docs",),
                temperature=0.1,
                max_turns=10,
                timeout_minutes=3.0,
                input_name="question",
                output=SubagentOutput("report", _ANSWER),
            )


_INVESTIGATION: JsonObject = {
    "type": "object",
    "description": "The report of the investigation.",
    "properties": {
        "SummaryOfFindings": {"type": "string", "description": "The answer to the objective."},
        "ExplorationTrace": {**_TEXTS, "description": "The steps of the investigation, in order."},
        "RelevantLocations": {
            "type": "array",
            "description": "The files that matter, most important first.",
            "items": {
                "type": "object",
                "properties": {
                    "FilePath": {"type": "string"},
                    "Reasoning": {"type": "string", "description": "Why this file matters."},
                    "KeySymbols": {**_TEXTS, "description": "The functions, classes and settings involved."},
                },
                "required": ["FilePath", "Reasoning", "KeySymbols"],
            },
        },
    },
    "required": ["SummaryOfFindings", "ExplorationTrace", "RelevantLocations"],
}
_RESPONSE: JsonObject = {
    "type": "object",
    "description": "The result of the task.",
    "properties": {
        "response": {"type": "string", "description": "What was done or found, and what is left."},
    },
    "required": ["response"],
}
_ANSWER: JsonObject = {
    "type": "object",
    "description": "The answer to the question.",
    "properties": {
        "answer": {"type": "string", "description": "The answer, as Markdown."},
        "sources": {**_TEXTS, "description": "The pages of the documentation that were used."},
    },
    "required": ["answer", "sources"],
}
