"""Free slots in a calendar. Times are whole minutes since midnight; an end is not part of its slot."""


def merge(busy):
    """Return the busy slots in order, with those joined that overlap or touch. The argument is not changed.

    Raises ValueError for a slot that ends before it begins. Empty slots are left out.
    """
    joined = []
    for begin, end in sorted(busy):
        if end < begin:
            raise ValueError(f"slot ends before it begins: {begin} to {end}")
        if begin == end:
            continue
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def free(busy, opens, closes, minimum=1):
    """Return the free slots between two times that last at least `minimum` minutes."""
    found = []
    begin = opens
    for start, end in merge(busy):
        if end <= opens:
            continue
        if start >= closes:
            break
        if start - begin >= minimum:
            found.append((begin, start))
        begin = max(begin, end)
    if closes - begin >= minimum:
        found.append((begin, closes))
    return found


def show(minutes):
    """Return a time as `HH:MM`; the end of the day is `24:00`. Raises ValueError for a time outside of the day."""
    if not 0 <= minutes <= 24 * 60:
        raise ValueError(f"not a time of the day: {minutes}")
    return f"{minutes // 60:02}:{minutes % 60:02}"
