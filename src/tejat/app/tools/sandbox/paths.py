"""The paths that the sandbox of a session is built from, and whether it is still in use."""

import os
from collections.abc import Sequence

from tejat.config.files.directory import make_private_directory
from tejat.config.paths import AppPaths
from tejat.policy.control_files import control_paths, plantable_paths
from tejat.workspace.files.roots import RootDirectory
from tejat.workspace.jobs.store import JobState, JobStore
from tejat.workspace.sandbox.session_sandbox import SandboxPaths


def sandbox_paths(paths: AppPaths, roots: Sequence[RootDirectory]) -> SandboxPaths:
    own = (paths.config, paths.state, paths.shared_state, paths.runtime, *paths.hidden)
    return SandboxPaths(
        roots=tuple(root.real_path for root in roots),
        home=os.path.realpath(paths.home),
        own_directories=tuple(map(os.path.realpath, own)),
        control_paths=control_paths(),
        blocked_paths=plantable_paths(),
        state_directory=make_private_directory(paths.sandbox),
    )


def has_running_jobs(paths: AppPaths) -> bool:
    """Whether a command of any session still runs in the background."""
    return any(job.state is JobState.RUNNING for job in JobStore(paths.jobs).list_jobs().jobs)
