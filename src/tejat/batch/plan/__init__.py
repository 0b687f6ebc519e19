"""The tasks of a batch: task files, templates, and the plan that a batch works through."""
