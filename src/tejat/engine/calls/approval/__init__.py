"""Approval of calls: approvers, trials, the setting for sandboxed commands, and errors of calls that may not run."""
