"""Copying owner, extended attributes and mode from one open file to another."""

import errno
import os
import stat
import sys

from tejat.core.i18n import lazy

# Signatures of the content: copied, they would mark the new content as tampered with.
_CONTENT_SIGNATURES = frozenset({"security.ima", "security.evm"})


def copy_metadata(source: int, target: int) -> None:
    """Copy everything but content and times from descriptor `source` to `target`.

    Metadata that cannot be kept is an error: a file that silently changes owner or loses an access list becomes
    readable or closed to others without notice. Raises PermissionError with the reason in `strerror`, OSError
    otherwise.

    The owner comes first, because changing it clears the set-user-id bits; the mode comes last, because an access list,
    which is an extended attribute, changes it.
    """
    expected = os.fstat(source)
    _copy_owner(expected, target)
    _copy_attributes(source, target)
    _copy_mode(expected, target)


def _copy_owner(expected: os.stat_result, target: int) -> None:
    found = os.fstat(target)
    # Only differences are set: an ordinary user may set the group, but not even repeat another owner.
    user = -1 if found.st_uid == expected.st_uid else expected.st_uid
    group = -1 if found.st_gid == expected.st_gid else expected.st_gid
    if user == group == -1:
        return
    try:
        os.fchown(target, user, group)
    except OSError as error:
        # EINVAL: the owner has no id in this user namespace.
        if error.errno not in (errno.EPERM, errno.EACCES, errno.EINVAL):
            raise
        owner = f"user {expected.st_uid} and group {expected.st_gid}"
        reason = lazy("The owner {owner} cannot be preserved by this user", owner=owner)
        raise PermissionError(errno.EPERM, reason) from error


def _copy_attributes(source: int, target: int) -> None:
    if sys.platform != "linux":
        return
    try:
        expected = _attributes(source)
        found = _attributes(target)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return
        raise
    name = ""
    try:
        for name, value in expected.items():
            if found.get(name) != value:
                os.setxattr(target, name, value)
        for name in found.keys() - expected.keys():
            # The directory's default access list was applied to the target; the source may have dropped it.
            if not name.startswith("security."):
                os.removexattr(target, name)
    except PermissionError as error:
        reason = lazy("The extended attribute {name} cannot be preserved by this user", name=name)
        raise PermissionError(error.errno, reason) from error


if sys.platform == "linux":

    def _attributes(file: int) -> dict[str, bytes]:
        return {name: os.getxattr(file, name) for name in os.listxattr(file) if name not in _CONTENT_SIGNATURES}


def _copy_mode(expected: os.stat_result, target: int) -> None:
    if os.fstat(target).st_mode == expected.st_mode:
        return
    os.fchmod(target, stat.S_IMODE(expected.st_mode))
    # A set-group-id bit for a group that is not ours is dropped without an error.
    if os.fstat(target).st_mode != expected.st_mode:
        reason = lazy("The mode {mode:04o} cannot be preserved by this user", mode=stat.S_IMODE(expected.st_mode))
        raise PermissionError(errno.EPERM, reason)
