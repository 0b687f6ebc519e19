"""Packages fetched into a private directory, from whatever their source is."""

import os
from collections.abc import Awaitable, Callable, Mapping

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.downloads.archive import unpack_archive
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.git import clone_repository
from tejat.workspace.downloads.github_release import GitHubReleases
from tejat.workspace.downloads.source import GitHubHost, PackageSource, SourceKind
from tejat.workspace.downloads.tree import check_tree, content_directory, copy_tree
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.offload import run_blocking


class PackageType(StrEnum):
    """How a package came here, in the words of install records."""

    GIT = "git"
    GITHUB_RELEASE = "github-release"
    LOCAL = "local"


class FetchedPackage(Frozen):
    """A package in a private directory: `directory` holds its content.

    `commit` is the one of a clone, `release_tag` that of a release.
    """

    directory: str
    type: PackageType
    commit: str = ""
    release_tag: str = ""


class PackageFetcher:
    """Fetches packages. Its `http` client and `supervisor` belong to the caller, who closes them.

    `ask_to_clone` is asked, with the reason, whether a repository shall be cloned because its releases cannot be
    reached; without it the reason is an error. `report_progress` gets a line now and then.
    """

    def __init__(
        self,
        *,
        http: HttpClient,
        supervisor: ProcessSupervisor,
        environment: Mapping[str, str],
        github: GitHubHost,
        ask_to_clone: Callable[[str], Awaitable[bool]] | None = None,
        report_progress: Callable[[str], None] | None = None,
    ) -> None:
        self._http = http
        self._supervisor = supervisor
        self._environment = environment
        self._github = github
        self._ask_to_clone = ask_to_clone
        self._report_progress = report_progress

    async def fetch(
        self, source: PackageSource, staging: str, *, marker: str, ref: str = "", pre_release: bool = False
    ) -> FetchedPackage:
        """Fetch a package into `staging`, an empty private directory.

        `marker` is the file that its top directory has, such as the manifest; an archive may have one directory around
        it. Nothing of the package is run. Raises DownloadFailure.
        """
        tree = os.path.join(staging, "tree")
        try:
            if source.kind is SourceKind.GIT:
                fetched = await self._fetch_git(source, staging, ref=ref, pre_release=pre_release)
            elif source.kind is SourceKind.ARCHIVE:
                await run_blocking(lambda stop: unpack_archive(source.address, tree, stop=stop))
                fetched = FetchedPackage(tree, PackageType.LOCAL)
            else:
                await run_blocking(lambda stop: copy_tree(source.address, tree, stop=stop))
                fetched = FetchedPackage(tree, PackageType.LOCAL)
            top = content_directory(fetched.directory, marker)
        except OSError as error:
            raise DownloadFailure(_format_os_error(error)) from error
        return FetchedPackage(top, fetched.type, fetched.commit, fetched.release_tag)

    async def _fetch_git(self, source: PackageSource, staging: str, *, ref: str, pre_release: bool) -> FetchedPackage:
        tree = os.path.join(staging, "tree")
        if source.repository:
            try:
                fetched = await self._fetch_release(source, staging, tree, ref=ref, pre_release=pre_release)
            except DownloadFailure as failure:
                # A release with bad content is not a release that cannot be reached.
                if os.path.lexists(tree) or self._ask_to_clone is None or not await self._ask_to_clone(str(failure)):  # noqa: ASYNC240 -- one stat
                    raise
                fetched = None
            if fetched is not None:
                return fetched
        commit = await clone_repository(
            source,
            tree,
            ref=ref,
            supervisor=self._supervisor,
            environment=self._environment,
            report_progress=self._report_progress,
        )
        await run_blocking(lambda stop: check_tree(tree, stop=stop))
        return FetchedPackage(tree, PackageType.GIT, commit=commit)

    async def _fetch_release(
        self, source: PackageSource, staging: str, tree: str, *, ref: str, pre_release: bool
    ) -> FetchedPackage | None:
        """The files of a release, None if the repository has none."""
        releases = GitHubReleases(self._http, source.repository, host=self._github, environment=self._environment)
        release = await releases.find(ref=ref, pre_release=pre_release)
        if release is None:
            return None
        downloads = os.path.join(staging, "download")
        os.mkdir(downloads, 0o700)
        archive = await releases.download(release, downloads, report_progress=self._report_progress)
        await run_blocking(lambda stop: unpack_archive(archive, tree, stop=stop))
        return FetchedPackage(tree, PackageType.GITHUB_RELEASE, release_tag=release.tag)


def _format_os_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return lazy("The package could not be stored: {reason}", reason=reason)
    return lazy("{path}: {reason}", path=str(error.filename), reason=reason)
