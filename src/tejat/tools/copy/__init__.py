"""Tools that work in an overlay copy of the workspace, through a worker process inside of it."""
