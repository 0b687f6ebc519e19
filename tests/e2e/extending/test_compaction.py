"""Todos, the approved plan and active skills outlive summaries."""

import json
from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.agent.events import Compressed, CompressionStatus

LONG = " ".join(map(str, range(3000)))
SNAPSHOT = script_answer(say="<state_snapshot>short</state_snapshot>", purpose="compression")
TODOS = [{"description": "Write the parser", "status": "in_progress"}]


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    env = InteractiveEnv(tmp_path)
    skill = env.home / ".gemini" / "skills" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Fills forms.\n---\nBODY-4711 of the skill.\n")
    return env


def test_everything_is_whole_after_three_summaries_and_a_resume(env: InteractiveEnv) -> None:
    first = script_answer(calls=[("activate_skill", {"name": "pdf"}), ("write_todos", {"todos": TODOS})])
    script = first + text_script(LONG, LONG, "c") + 2 * (text_script(LONG, LONG) + SNAPSHOT) + SNAPSHOT
    plan = {"path": "/plans/plan.md", "digest": "d", "mode": "default", "text": "PLAN-4712"}

    async def work(runner: InteractiveRunner) -> list[str]:
        texts: list[str] = []
        for prompts in (("one", "two", "three"), ("four", "five"), ("six", "seven")):
            for prompt in prompts:
                await runner.prompt(prompt)
            runner.session.state.set("plan", plan)
            await runner.run_command("/compress")
            texts.append(runner.texts[0])
        statuses = [event.status for event in runner.events_of(Compressed)]
        assert statuses == [CompressionStatus.COMPRESSED] * 3
        return texts

    async def resumed(runner: InteractiveRunner) -> str:
        await runner.prompt("eight")
        await runner.run_command("/compress --preview")
        return json.dumps(runner.texts)

    kept = ("BODY-4711 of the skill.", "1. [in_progress] Write the parser", "PLAN-4712")
    for text in env.run_with(work, script=script):
        assert [text.count(each) for each in kept] == [1, 1, 1]
    again = env.run_with(resumed, script=text_script("ok"), resume="latest")
    assert [again.count(each) for each in kept] == [1, 1, 1]
