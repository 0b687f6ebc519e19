"""Points in time as text."""

import time

from tejat.core.i18n import _, ngettext

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def format_time(seconds: float) -> str:
    """Format seconds since the epoch as local date and time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def format_age(seconds: float) -> str:
    """Format the seconds since an event: `5 minutes ago`."""
    if seconds < _MINUTE:
        return _("just now")
    if seconds < _HOUR:
        return ngettext("{count} minute ago", "{count} minutes ago", int(seconds // _MINUTE))
    if seconds < _DAY:
        return ngettext("{count} hour ago", "{count} hours ago", int(seconds // _HOUR))
    return ngettext("{count} day ago", "{count} days ago", int(seconds // _DAY))
