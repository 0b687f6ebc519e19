"""`/shells`: list, read and stop background processes."""

import signal
from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.sanitize import sanitize_summary
from tejat.core.text.paths import is_beneath_any
from tejat.core.text.time_format import format_time
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportTable, SourceListing, Tone, text_report
from tejat.workspace.jobs.store import Job, JobState, JobStore
from tejat.workspace.threads.offload import run_blocking

_USAGE = "/shells [list | tail PID [LINES] | stop PID]"
_DEFAULT_LINES = 20
_MAX_LINES = 1_000


class ShellsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.split():
            case [] | ["list"]:
                user.show(await self._list_report())
            case ["tail" | "read", pid]:
                user.show(await self._tail(_number(pid), _DEFAULT_LINES))
            case ["tail" | "read", pid, lines]:
                user.show(await self._tail(_number(pid), min(_number(lines), _MAX_LINES)))
            case ["stop" | "kill", pid]:
                await self._stop(_number(pid), user)
            case _:
                raise UsageError(_("Usage: {usage}", usage=_USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            options = [
                ("list", _("all background processes")),
                ("tail", _("the last lines of the output")),
                ("stop", _("stop a process and its children")),
            ]
            return complete_from(word, options)
        jobs = (await run_blocking(lambda _: self._jobs.list_jobs())).jobs
        shown = [job for job in jobs if word in ("tail", "read") or job.state is JobState.RUNNING]
        return complete_from(rest, [(str(job.pid), sanitize_summary(job.command)) for job in shown])

    @property
    def _jobs(self) -> JobStore:
        return JobStore(self.context.run_config.paths.jobs)

    async def _list_report(self) -> Report:
        everything = (await run_blocking(lambda _: self._jobs.list_jobs())).jobs
        jobs = [job for job in everything if is_beneath_any(job.directory, self.context.run_config.roots)]
        others = sum(job.state is JobState.RUNNING for job in everything) - sum(
            job.state is JobState.RUNNING for job in jobs
        )
        more = ngettext(
            "{count} process runs in another project. See `tejat jobs`.",
            "{count} processes run in other projects. See `tejat jobs`.",
            others,
        )
        elsewhere = (Paragraph(more, Tone.QUIET),) if others else ()
        if not jobs:
            return Report(blocks=(Paragraph(_("No background processes in this project.")), *elsewhere))
        rows = tuple(
            (str(job.pid), _state_text(job), format_time(job.started), sanitize_summary(job.command))
            for job in reversed(jobs)
        )
        running = sum(job.state is JobState.RUNNING for job in jobs)
        count = ngettext("{count} process is running.", "{count} processes are running.", running)
        return Report(
            _("Background processes"),
            (
                ReportTable(rows, (_("PID"), _("State"), _("Started"), _("Command"))),
                Paragraph(count),
                Paragraph(_("/shells tail PID shows its output, /shells stop PID stops it."), Tone.QUIET),
                *elsewhere,
            ),
        )

    async def _tail(self, pid: int, lines: int) -> Report:
        """Raises ToolFailure."""
        job = await run_blocking(lambda _: self._jobs.get(pid))
        part = await run_blocking(lambda _: self._jobs.read_log(pid, lines=lines))
        title = _("{pid} ({state}): {command}", pid=pid, state=_state_text(job), command=sanitize_summary(job.command))
        if not part.text.strip():
            return Report(title, (Paragraph(_("No output yet."), Tone.QUIET),))
        note = Paragraph(_("Full output: {path}", path=job.log), Tone.QUIET)
        return Report(title, (SourceListing(part.text.rstrip("\n")), note))

    async def _stop(self, pid: int, user: UserPrompter) -> None:
        """Raises ToolFailure."""
        job = await run_blocking(lambda _: self._jobs.get(pid))
        if job.state is not JobState.RUNNING:
            user.show(text_report(_("Process {pid} has already ended: {state}.", pid=pid, state=_state_text(job))))
            return
        question = _("Stop {pid}: {command}?", pid=pid, command=sanitize_summary(job.command))
        index = await user.choose(Choice(question, (Option(_("No")), Option(_("Yes"))), is_critical=True))
        if index != 1:
            user.show(text_report(_("Nothing was stopped.")))
            return
        stopped = await run_blocking(lambda _: self._jobs.stop(pid))
        user.show(text_report(_("Stopped {pid} ({state}).", pid=pid, state=_state_text(stopped)), Tone.GOOD))


def _number(word: str) -> int:
    """Raises UsageError."""
    if not (word.isascii() and word.isdigit() and 0 < len(word) <= len("4194304")):
        raise UsageError(_("{word} is not a process id. /shells lists them.\nUsage: {usage}", word=word, usage=_USAGE))
    return int(word)


def _state_text(job: Job) -> str:
    if job.state is JobState.RUNNING:
        return _("running")
    if job.exit_code is not None:
        return _("exit code {code}", code=job.exit_code)
    if job.signal is None:
        return _("killed")
    names = {number.value: number.name for number in signal.Signals}
    return names.get(job.signal) or _("signal {number}", number=job.signal)
