"""Fixtures of the tests of reports."""

from support.web.browser import browser

__all__ = ["browser"]
