"""Sub-agents: a headline, the task, a place for their blocks, and the result."""

from support.html_checks import HtmlCheck, text_of
from tejat.core.agent.events import Answered
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.messages.history import model_message
from tejat.core.model import ModelResponse, Usage
from tejat.ui.html.agent_block import AgentBlock, children_slot

STARTED = AgentStarted("reader-1", "reader", "call", "Find the parser.\nAll of it.", "m")


def test_a_running_agent_shows_its_figures() -> None:
    block = AgentBlock(STARTED, root="/w")
    block.record(Answered(ModelResponse(model_message("x"), usage=Usage(10, 0, 2)), 1.0))
    shown = block.render("b3")
    assert text_of(shown).startswith("● reader-1 Find the parser. (1 turn, 12 tokens, 0 s)")
    assert "All of it." in text_of(shown)
    assert shown.count(children_slot("b3")) == 1
    assert HtmlCheck(shown).tags[0] == ("details", {"class": "block agent running", "id": "b3"})


def test_an_agent_that_failed_says_why() -> None:
    block = AgentBlock(STARTED, root="/w")
    block.end(AgentEnded("reader-1", "reader", SubagentEnd.TIMEOUT, calls=2, error="Too slow.", seconds=60.0))
    shown = block.render("b3")
    assert 'class="block agent timed-out"' in shown
    assert text_of(shown).startswith("◷ TIMEOUT reader · 2 calls · 0 tokens · 1 min")
    assert "Too slow." in text_of(shown)


def test_changes_that_could_not_be_kept_are_shown() -> None:
    block = AgentBlock(STARTED, root="/w")
    block.end(AgentEnded("reader-1", "reader", SubagentEnd.GOAL, patch="--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"))
    assert '<tr class="added">' in block.render("b3")
