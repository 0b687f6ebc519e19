"""Background processes that a run left behind."""

import os
from contextlib import suppress

from tejat.core.errors import ToolFailure
from tejat.workspace.jobs.store import JobState, JobStore


def stop_background_jobs(directory: str) -> None:
    """Stop the background processes that a run left: nothing may change the tree any more. Blocks for seconds."""
    if not os.path.isdir(directory):
        return
    jobs = JobStore(directory)
    for job in jobs.list_jobs().jobs:
        if job.state is JobState.RUNNING:
            with suppress(ToolFailure):
                jobs.stop(job.pid)
