"""Repositories fetched with git, in an environment in which nothing of theirs or of the user's configuration runs."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_summary
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.source import PackageSource, check_ref
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.files.regular_file import regular_file_opener
from tejat.workspace.helper_program import find_program
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.output_collector import CommandEndReason, TimeLimits, collect_output, open_pipe
from tejat.workspace.processes.spawn import ProcessSpec
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

IDLE_SECONDS = 120.0
_MAX_OUTPUT = 64 * 1024
_MAX_LINE = 4096
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256_LENGTH = 64
_PASSED_ON = (
    *("PATH", "SSH_AUTH_SOCK", "TMPDIR", "USER", "LOGNAME"),
    *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
# These win over every configuration file.
_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.symlinks", "true"),
    ("credential.helper", ""),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("init.defaultBranch", "main"),
    ("protocol.ext.allow", "never"),
    ("transfer.fsckObjects", "true"),
    ("safe.bareRepository", "all"),
    ("safe.directory", "*"),
)
_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\thooksPath = /dev/null
{object_format}[remote "origin"]
\turl = "{address}"
\tfetch = +HEAD:refs/remotes/origin/HEAD
"""


async def clone_repository(
    source: PackageSource,
    destination: str,
    *,
    ref: str = "",
    supervisor: ProcessSupervisor,
    environment: Mapping[str, str],
    report_progress: Callable[[str], None] | None = None,
    idle_seconds: float = IDLE_SECONDS,
) -> str:
    """Fetch the newest commit of a branch, tag or commit (default: HEAD) into a new directory; return its hash.

    `.git` is kept, with a configuration that is written here. Submodules are not fetched. Raises DownloadFailure.
    """
    wanted = check_ref(ref) if ref else "HEAD"
    git = _Git(source, supervisor, environment, report_progress, idle_seconds)
    commit = await git.resolve(wanted)
    os.mkdir(destination, 0o700)
    is_sha256 = len(commit) == _SHA256_LENGTH
    object_format = "--object-format=sha256" if is_sha256 else "--object-format=sha1"
    await git.run("init", "--quiet", "--template=", object_format, directory=destination)
    _write_config(destination, source.address, is_sha256=is_sha256)
    options = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--progress")
    await git.run("fetch", *options, "origin", wanted, directory=destination)
    await git.run("-c", "advice.detachedHead=false", "checkout", "--detach", "FETCH_HEAD", directory=destination)
    got = (await git.run("rev-parse", "HEAD", directory=destination)).strip()
    _write_config(destination, source.address, is_sha256=is_sha256)
    os.chmod(destination, 0o755)
    return got


async def remote_commit(
    source: PackageSource,
    *,
    ref: str = "",
    supervisor: ProcessSupervisor,
    environment: Mapping[str, str],
    idle_seconds: float = IDLE_SECONDS,
) -> str:
    """The hash of the commit that a branch or tag (default: HEAD) has at the source. Raises DownloadFailure."""
    git = _Git(source, supervisor, environment, None, idle_seconds)
    return await git.resolve(check_ref(ref) if ref else "HEAD")


class _Git:
    """Runs git for one source."""

    def __init__(
        self,
        source: PackageSource,
        supervisor: ProcessSupervisor,
        environment: Mapping[str, str],
        report_progress: Callable[[str], None] | None,
        idle_seconds: float,
    ) -> None:
        program = find_program("git")
        if program is None:
            raise DownloadFailure(lazy("git is not installed. Install it, or use an archive or a directory."))
        self._program = program
        self._source = source
        self._supervisor = supervisor
        self._environment = git_environment(source, environment)
        self._report_progress = report_progress
        self._idle_seconds = idle_seconds

    async def resolve(self, ref: str) -> str:
        """The hash of a branch, tag or commit at the source; a hash stands for itself."""
        if _COMMIT.fullmatch(ref):
            return ref
        listed = await self.run("ls-remote", "--quiet", "--", self._source.address, ref, f"{ref}^{{}}", directory="/")
        lines = (line.partition("\t") for line in listed.splitlines())
        found = {name: commit for commit, _tab, name in lines}
        names = (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", ref)
        commit = next((found[name] for name in names if name in found), "")
        if not _COMMIT.fullmatch(commit):
            where = self._source.written
            if ref == "HEAD":
                raise DownloadFailure(lazy("{source} has no commits.", source=where))
            raise DownloadFailure(lazy("{source} has no branch or tag {ref!r}.", source=where, ref=ref))
        return commit

    async def run(self, *words: str, directory: str) -> str:
        """The output of a git command. Raises DownloadFailure if it fails or makes no progress."""
        out, err = (BoundedBuffer(head=_MAX_OUTPUT, tail=_MAX_OUTPUT, spool=None, spool_limit=0) for _ in range(2))
        with ExitStack() as ours:
            with ExitStack() as theirs:
                stdout, stdout_end = _pipe(ours, theirs)
                stderr, stderr_end = _pipe(ours, theirs)
                directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                theirs.callback(os.close, directory_fd)
                spec = ProcessSpec((self._program, *words), directory_fd, self._environment)
                try:
                    running = await self._supervisor.start(spec, stdout=stdout_end, stderr=stderr_end)
                except OSError as error:
                    raise DownloadFailure(lazy("git could not be started: {error}", error=error)) from error
            ended = await collect_output(
                running,
                stdout,
                stderr,
                out=out,
                err=err,
                limits=TimeLimits(idle=self._idle_seconds, total=None),
                on_output=self._on_output,
                stop_survivors=True,
            )
        if ended.reason is CommandEndReason.IDLE:
            seconds = f"{self._idle_seconds:g}"
            message = lazy(
                "{source} did not answer for {seconds} seconds.", source=self._source.written, seconds=seconds
            )
            raise DownloadFailure(message)
        if ended.exit is None or ended.exit.code != 0:
            raise self._failure(err.head_bytes + err.tail_bytes)
        return (out.head_bytes + out.tail_bytes).decode("utf-8", "replace")

    def _on_output(self, piece: memoryview) -> None:
        if self._report_progress is not None:
            lines = bytes(piece).decode("utf-8", "replace").replace("\r", "\n").split("\n")
            last = next((line for line in reversed(lines) if line.strip()), "")
            if "%" in last:
                self._report_progress(sanitize_summary(last.removeprefix("remote: ")))

    def _failure(self, errors: bytes) -> DownloadFailure:
        lines = [line.strip() for line in errors.decode("utf-8", "replace").replace("\r", "\n").split("\n")]
        telling = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "remote:", "Permission"))]
        reason = sanitize_summary("; ".join(telling[:3]) or next(filter(None, lines), "git failed"))
        return DownloadFailure(
            lazy("{source} could not be fetched with git: {reason}", source=self._source.written, reason=reason)
        )


def git_environment(source: PackageSource, environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of git: no configuration of the system or the user, no questions, one protocol.

    A home directory is not passed on either, so that no stored login is sent. ssh finds its own files.
    """
    passed = {name: environment[name] for name in _PASSED_ON if environment.get(name)}
    certificates = passed.pop("SSL_CERT_FILE", ""), passed.pop("SSL_CERT_DIR", "")
    for name, value in zip(("GIT_SSL_CAINFO", "GIT_SSL_CAPATH"), certificates, strict=True):
        if value:
            passed.setdefault(name, value)
    settings = {"GIT_CONFIG_COUNT": str(len(_SETTINGS))}
    for index, (key, value) in enumerate(_SETTINGS):
        settings |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    path = os.pathsep.join(entry for entry in passed.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry))
    return {
        **passed,
        **settings,
        "PATH": path,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=30",
        "GIT_ALLOW_PROTOCOL": _protocol(source),
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def _protocol(source: PackageSource) -> str:
    if source.is_path:
        return "file"
    return source.address.partition("://")[0] if "://" in source.address else "ssh"


def _write_config(repository: str, address: str, *, is_sha256: bool) -> None:
    """Replace the configuration of a repository. Raises OSError."""
    text = _CONFIG.format(
        version=1 if is_sha256 else 0,
        object_format="[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else "",
        address=address.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"),
    )
    write_private_file(os.path.join(repository, ".git", "config"), text, follow_symlinks=False)


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    readable, writable = open_pipe()
    ours.callback(os.close, readable)
    theirs.callback(os.close, writable)
    return readable, writable


def local_commit(directory: str) -> str:
    """The hash of the commit that a clone has checked out, "" if unknown. Reads files without running git."""
    head = _read_line(os.path.join(directory, ".git", "HEAD"))
    if not head.startswith("ref: "):
        return head if _COMMIT.fullmatch(head) else ""
    name = head.removeprefix("ref: ").strip()
    if ".." in name.split("/"):
        return ""
    commit = _read_line(os.path.join(directory, ".git", name))
    return commit if _COMMIT.fullmatch(commit) else ""


def _read_line(path: str) -> str:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            return file.read(_MAX_LINE).decode("utf-8", "replace").strip()
    except OSError:
        return ""
