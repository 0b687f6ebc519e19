def load(path):
    # Lines without any text are left out.
    rows = list(read(path))
    # Enable the cache.
    cache.open()
    return rows
