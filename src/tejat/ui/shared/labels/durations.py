"""Durations in words."""

from tejat.core.i18n import _


def format_duration(seconds: float) -> str:
    """Format a duration as `0.3 s`, `12 s`, `5 min`, `1 min 5 s` or `2 h 3 min`."""
    if seconds < 0.05:
        return _("under 0.1 s")
    if seconds < 9.95:
        return _("{seconds} s", seconds=f"{seconds:.1f}")
    if not seconds < _ENDLESS:  # infinite or not a number, in a value that a program made
        return _("{seconds} s", seconds=seconds)
    whole = round(seconds)
    if whole < 60:
        return _("{seconds} s", seconds=whole)
    if whole < 3600 and not whole % 60:
        return _("{minutes} min", minutes=whole // 60)
    if whole < 3600:
        return _("{minutes} min {seconds} s", minutes=whole // 60, seconds=whole % 60)
    return _("{hours} h {minutes} min", hours=whole // 3600, minutes=whole % 3600 // 60)


def format_elapsed(seconds: float) -> str:
    """Format the time of something that still runs, in whole seconds so that it does not flicker."""
    whole = max(int(seconds), 0)
    return _("{seconds} s", seconds=whole) if whole < 60 else format_duration(whole)


_ENDLESS = float("inf")
