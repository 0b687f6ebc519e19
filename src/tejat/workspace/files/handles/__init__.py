"""Open files and directories of the workspace."""
