"""The engine for Ray clusters.

The batch starts a process, the Ray driver, and talks to it over a socket: Ray writes to standard error as it likes and
ends the process when its cluster is gone, and neither may happen to the batch.
"""
