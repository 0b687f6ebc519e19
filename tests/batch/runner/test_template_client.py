"""The client of the template process."""

import asyncio
import os
import signal

import pytest

from support.batch_jobs import JobCase, saying, shell
from support.process_marks import living_pids
from support.wait import wait_until_async
from tejat.batch.engines.contract import JobLost
from tejat.batch.runner import template_client
from tejat.batch.runner.child_request import ChildRequest, ChildWork
from tejat.batch.runner.template_client import JobProcess, TemplateProcess


async def start(template: TemplateProcess, case: JobCase, *answers: str) -> JobProcess:
    request = ChildRequest(ChildWork.RUN, case.job(*answers), "/")
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        return await template.start(request, stdout=null, stderr=null, on_message=lambda _kind, _fields: None)
    finally:
        os.close(null)


async def use_template(case: JobCase, mark: str) -> None:
    await case.run_async(case.job(saying(), keeps_tree=True))
    template = TemplateProcess()
    try:
        quick = await start(template, case, saying())
        assert quick.pid > 0
        assert await quick.wait() == 0
        quick.release()
        slow = await start(template, case, shell(f"sleep {mark}"), saying())
        await wait_until_async(lambda: living_pids(mark))
        await slow.stop()
        assert slow.was_stopped
        await wait_until_async(lambda: not living_pids(mark))
        slow.release()
        forgotten = await start(template, case, shell(f"sleep {mark}"), saying())
        await wait_until_async(lambda: living_pids(mark))
        forgotten.release()
        await wait_until_async(lambda: not living_pids(mark))
    finally:
        await asyncio.to_thread(template.close)


def test_children_end_stop_and_are_killed_when_released(case: JobCase, mark: str) -> None:
    asyncio.run(use_template(case, mark))


def test_a_template_that_is_gone(case: JobCase) -> None:
    async def main() -> None:
        template = TemplateProcess()
        os.kill(template.pid, signal.SIGKILL)
        await wait_until_async(lambda: not template.is_alive)
        with pytest.raises(JobLost):
            await start(template, case, saying())
        template.close()

    asyncio.run(main())


def test_a_template_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_client, "_CLOSE_SECONDS", 0.1)
    template = TemplateProcess()
    os.kill(template.pid, signal.SIGSTOP)
    template.close()
    assert not template.is_alive
