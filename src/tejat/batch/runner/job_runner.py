"""Runner of jobs: the working copy, the agent, the records and the check of each task."""

from typing import Self

from tejat.batch.engines.contract import ReportActivity
from tejat.batch.git.mirror import Mirror
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskResult
from tejat.batch.runner.attempt import JobAttempt
from tejat.batch.runner.template_client import TemplateProcess
from tejat.workspace.threads.daemon import run_in_daemon


class JobRunner:
    """Runs jobs, any number at once, in processes forked from one template process.

    An async context manager. At its end everything that still runs is killed.
    """

    def __init__(self) -> None:
        self._template: TemplateProcess | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        template, self._template = self._template, None
        if template is not None:
            await run_in_daemon(template.close)

    async def run(self, job: TaskJob, report: ReportActivity, *, mirror: Mirror | None = None) -> TaskResult:
        """Run a job to its end and return its result; everything else is in the folder of the task.

        `mirror` is the repository if it is on this machine already. On cancellation the run is stopped and the patch of
        what it did so far is written; the folder stays as it is. Raises JobLost if the run was killed from outside.
        """
        return await JobAttempt(job, report, self._open_template).execute(mirror)

    def _open_template(self) -> TemplateProcess:
        """The running template, a new one if it has died. Raises OSError."""
        if self._template is not None and not self._template.is_alive:
            self._template.close()
            self._template = None
        if self._template is None:
            self._template = TemplateProcess()
        return self._template
