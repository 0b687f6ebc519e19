"""A cache of values that take long to load."""

import threading


class LoadingCache:
    """Values by key, loaded when they are first wanted."""

    def __init__(self, loader):
        self._loader = loader
        self._values = {}
        self._lock = threading.Lock()

    def get(self, key):
        """Return the value of a key. Raises what the loader raises."""
        with self._lock:
            if key in self._values:
                return self._values[key]
        value = self._loader(key)
        with self._lock:
            self._values[key] = value
        return value

    def invalidate(self, key):
        """Forget a value, so that the next `get` loads it again."""
        with self._lock:
            self._values.pop(key, None)

    def __len__(self):
        with self._lock:
            return len(self._values)
