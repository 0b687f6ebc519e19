"""The figures we promise, each measured against a baseline in the same run."""
