"""Scripts of models that several sessions use: they react to prompts, so each session can begin anywhere."""

import json
from collections.abc import Mapping
from typing import Any

from support.program import script_answer


def topic(when: str, *answers: str) -> str:
    """The answers to prompts with this text, from `script_answer`, or to all of them. The last one makes no calls."""
    lines = "".join(answers).replace("[[answer", "[[topic.answer")
    condition = f"when = {json.dumps(when)}\n" if when else ""
    return f"[[topic]]\n{condition}{lines}"


def call_topic(when: str, name: str, args: Mapping[str, object], *, then: str = "Done.") -> str:
    """One call, and an answer after it. If the call is refused or fails, the answer is `Then not.`"""
    call = script_answer(say="I do it.", otherwise="Then not.", calls=[(name, args)])
    return topic(when, f"{call}expect_error = false\n", script_answer(say=then))


def text_topic(when: str, text: str, **fields: Any) -> str:
    """One answer without calls; `fields` are other keys of it."""
    return topic(when, script_answer(say=text, **fields))
