"""Dialogs: approvals, elicitations, choices, input and history search."""
