"""Many tasks, each a headless run in a copy of a repository: `tejat batch`."""
