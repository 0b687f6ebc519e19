"""Sandbox of macOS: a profile for sandbox-exec, with every path passed as a parameter."""

import os
from collections.abc import Callable, Iterator, Sequence

from tejat.core.errors import UsageError
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.sandbox.paths import ancestors
from tejat.workspace.sandbox.types import SandboxedCommand, SandboxPolicy

# The last matching rule wins. System services are listed one by one, because some of them start programs for others.
_BASE = """(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow system-socket (socket-domain AF_SYSTEM))
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.PowerManagement.control")
  (global-name "com.apple.logd")
  (global-name "com.apple.diagnosticd"))
(allow file-read*)
(allow file-ioctl (regex #"^/dev/tty") (regex #"^/dev/pty"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper")
  (literal "/dev/ptmx") (regex #"^/dev/tty"))"""

_NETWORK = """(allow network-outbound (remote ip))
(allow network-inbound (local ip))
(allow network-bind (local ip))
(allow system-socket)
(allow mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.networkd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))"""

_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_-"


class SeatbeltSandbox:
    """Sandbox that runs commands under the sandbox-exec binary at `program`."""

    name = "sandbox-exec"
    is_container = False

    def __init__(self, program: str) -> None:
        self.program = program

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """See `Sandbox.wrap`. Raises UsageError when a writable root is `/`."""
        if "/" in policy.writable_roots:
            raise UsageError("A command cannot be fenced into /: open a directory below it.")
        text, parameters = build_profile(policy)
        defined = [word for name, value in parameters.items() for word in ("-D", f"{name}={value}")]
        environment = ("/usr/bin/env", f"TMPDIR={policy.temp_directory}")
        return SandboxedCommand((self.program, "-p", text, *defined, *environment, *arguments))

    def sweep(self) -> None:
        """Do nothing: no placeholders are created for a command."""


def build_profile(policy: SandboxPolicy) -> tuple[str, dict[str, str]]:
    """Return the text of the profile and its parameters."""
    parameters: dict[str, str] = {}

    def named(kind: str, path: str) -> str:
        name = f"{kind}_{len(parameters)}"
        parameters[name] = path
        return f'(param "{name}")'

    rules = [_BASE]
    rules += [f"(allow file-write* (subpath {named('WRITABLE', root)}))" for root in policy.writable_roots]
    for root in policy.writable_roots:
        for relative, _ in policy.read_only_paths:
            path = os.path.join(root, relative)
            rules.append(f'(deny file-write* (regex #"{_case_insensitive_regex(path, root)}"))')
            # Renaming a directory would move the protected path away from its name.
            pinned = [named("PINNED", parent) for parent in ancestors(path, root)]
            rules += [f"(deny file-write-unlink (literal {parent}))" for parent in pinned]
        rules += _nested_rules(policy, root, named)
    for path in map(os.path.realpath, policy.hidden_paths):
        if path not in policy.writable_roots:
            rules.append(f"(deny file-read* file-write* (subpath {named('HIDDEN', path)}))")
    for mount in policy.mounts:
        if mount.is_writable:
            rules.append(f"(allow file-write* (subpath {named('SHOWN', mount.source)}))")
        if is_beneath_any(mount.source, policy.hidden_paths):
            rules.append(f"(allow file-read* (subpath {named('SHOWN', mount.source)}))")
    # The temporary directory may lie in a hidden one.
    rules.append(f"(allow file-read* file-write* (subpath {named('TEMPORARY', policy.temp_directory)}))")
    if policy.network:
        rules.append(_NETWORK)
    return "\n".join(rules) + "\n", parameters


def _nested_rules(policy: SandboxPolicy, root: str, named: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the rules for control paths that exist below a root."""
    in_git = ControlNames([path for path, _ in policy.read_only_paths]).in_git
    left_open = policy.left_open
    repositories = (directory for directory in policy.found.git_directories if directory not in left_open)
    found = (
        *policy.found.paths,
        *policy.found.unreadable,
        *(f"{git}/{name}" for git in repositories for name in in_git),
    )
    for path in found:
        if is_beneath(path, root) and path not in left_open:
            yield f"(deny file-write* (subpath {named('NESTED', path)}))"
            for parent in ancestors(path, root):
                yield f"(deny file-write-unlink (literal {named('PINNED', parent)}))"


def _case_insensitive_regex(path: str, root: str) -> str:
    """Return a regex for the path and everything below it. It may match more: similar names are refused as well."""
    spelled = [_escape_character(character) for character in root]
    spelled += [
        f"[{character.lower()}{character.upper()}]"
        if character.isascii() and character.isalpha()
        else _escape_character(character)
        for character in path[len(root) :]
    ]
    return f"^{''.join(spelled)}(/|$)"


def _escape_character(character: str) -> str:
    if character in _PLAIN:
        return character
    return "." if character.isascii() else ".+"
