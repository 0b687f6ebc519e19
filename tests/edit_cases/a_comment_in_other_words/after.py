def load(path):
    # Lines without any text are left out.
    rows = [row.strip() for row in read(path) if row.strip()]
    # Enable the cache.
    cache.open()
    return rows
