"""Declarations, calls and results as the SDKs of model services take and return them, for callers with their own loop.

There is one module per API, each with the same functions. The SDKs are not imported: what they take are plain dicts of
JSON values, and what they return is read by its fields.
"""
