"""Prompts, answers and thoughts as blocks."""

from support.html_checks import HtmlCheck, text_of
from tejat.core.agent.events import EndReason, Noticed, PlanPresented, RunEnded, Severity
from tejat.ui.html.blocks import (
    MAX_SEGMENT_CHARS,
    AnswerBlock,
    NoticeBlock,
    PlanBlock,
    PromptBlock,
    RunEndBlock,
    ThoughtBlock,
)
from tejat.ui.shared.labels.run_summary import RunSummary


def test_a_long_prompt_is_shown_in_part_and_whole_on_demand() -> None:
    check = HtmlCheck(PromptBlock("\n".join(f"line {number}" for number in range(100))).render("b1"))
    assert check.problems == []
    assert "92 more lines" in check.text
    assert "line 99" in check.text
    assert [tag for tag, _attributes in check.tags].count("details") == 1
    assert check.tags[:2] == [("article", {"class": "block prompt", "id": "b1"}), ("h2", {"class": "visually-hidden"})]
    assert check.text.startswith("Your prompt")


def test_a_huge_prompt_is_cut() -> None:
    assert "more characters]" in text_of(PromptBlock("x" * 5_000_000).render("b1"))


def test_an_answer_is_split_between_paragraphs_only() -> None:
    block = AnswerBlock()
    block.append("a" * MAX_SEGMENT_CHARS)
    assert block.split() == ()
    block.append("\n\nnext paragraph")
    assert block.split() == ()  # its line is not complete, so it may become something else
    block.append(" that ends\n")
    (rest,) = block.split()
    assert rest.text == "next paragraph that ends\n"
    assert block.text == "a" * MAX_SEGMENT_CHARS + "\n\n"
    assert block.split() == ()


def test_a_long_text_is_split_at_once() -> None:
    text = "".join(f"paragraph {number} of many\n\n" for number in range(20_000))
    block = AnswerBlock()
    block.append(text)
    segments = [block, *block.split()]
    assert "".join(segment.text for segment in segments) == text
    assert all(MAX_SEGMENT_CHARS <= len(segment.text) < 1.1 * MAX_SEGMENT_CHARS for segment in segments[:-1])


def test_a_long_block_that_cannot_be_split_is_rarely_shown_again() -> None:
    block = AnswerBlock()
    assert block.append("```\n")
    shown = [len(block.text) for _ in range(20_000) if block.append("value = compute()\n")]
    assert sum(length for length in shown if length > 4 * MAX_SEGMENT_CHARS) < 12 * len(block.text)
    assert len(block.text) - shown[-1] < len(block.text) / 8


def test_code_is_not_split() -> None:
    block = AnswerBlock()
    block.append("```\n" + "x\n\n" * MAX_SEGMENT_CHARS)
    assert block.split() == ()


def test_other_line_separators_do_not_shift_the_split() -> None:
    block = AnswerBlock()
    block.append("\u2028\x0b\x85\r" * 50 + "a" * MAX_SEGMENT_CHARS + "\r\n\r\nsecond\n\nthird\n")
    (rest,) = block.split()
    assert rest.text == "second\n\nthird\n"


def test_thoughts_are_short_while_they_are_streamed_and_whole_afterwards() -> None:
    block = ThoughtBlock()
    block.append("**First**\n\nbeginning " + "x " * 50_000)
    assert len(block.render("b1")) < 5_000
    block.close()
    assert "beginning" in text_of(block.render("b1"))


def test_notices_have_a_word_for_their_severity() -> None:
    assert text_of(NoticeBlock(Noticed("Full.", Severity.ERROR)).render("b1")) == "✗ Error: Full."
    assert text_of(NoticeBlock(Noticed("Full.", Severity.NOTE)).render("b1")) == "• Full."


def test_plans_say_whether_they_were_approved() -> None:
    assert text_of(PlanBlock(PlanPresented("/p.md", "# A", "default")).render("b1")).startswith("Approved plan: /p.md")
    assert text_of(PlanBlock(PlanPresented("/p.md", "# A")).render("b1")).startswith("Plan: /p.md")


def test_a_run_that_finished_quickly_has_no_end() -> None:
    assert RunEndBlock(RunEnded(EndReason.FINISHED), None, was_cut=False).is_empty
    block = RunEndBlock(RunEnded(EndReason.FINISHED), RunSummary(12.0), was_cut=False)
    assert text_of(block.render("b1")) == "12 s"
