"""Sessions of other processes of the same user, over a Unix socket."""
