"""Points in time as text."""

import time


def format_time(seconds: float) -> str:
    """Format seconds since the epoch as local date and time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
