"""Real jobs in the background, for tests of whatever lists, reads and stops them."""

import os
import time

from tejat.workspace.jobs import Job, Jobs, JobState
from tejat.workspace.processes.launching import Launch


def start(jobs: Jobs, command: str) -> Job:
    directory = os.open("/", os.O_RDONLY)
    try:
        launch = Launch(("/bin/bash", "-c", command), directory, {"PATH": "/usr/bin:/bin"})
        return jobs.start(launch, command=command, directory="/where", when_over=lambda: None)
    finally:
        os.close(directory)


def ended(jobs: Jobs, command: str) -> Job:
    job = start(jobs, command)
    deadline = time.monotonic() + 10
    while (job := jobs.job(job.pid)).state is not JobState.EXITED:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return job
