"""Open file descriptors of this process."""

import gc
import os


def count_open() -> int:
    return len(os.listdir("/dev/fd"))


def count_leaked(before: int) -> int:
    """How many more descriptors are open than before, after a garbage collection."""
    if count_open() > before:
        gc.collect()
    return max(count_open() - before, 0)
