"""Billing periods.

A period begins on the day of the month on which the subscription began. A month that is too short has it on its last
day; longer months after it have it on the original day again. A period ends on the day before the next one begins:
both of its days, first and last, belong to it, and no day belongs to two periods. Days before the subscription belong
to no period.

`days_left` counts the given day itself: on the last day of a period one day is left. `prorated` is the part of a price
for the days that are left, rounded down to whole cents, and the full price on the first day of a period.
"""

import calendar
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True)
class Period:
    first: date
    last: date

    @property
    def days(self):
        return (self.last - self.first).days


def add_month(day):
    """The same day of the next month, or its last day."""
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def period_of(began, day):
    """The period that a day belongs to. Raises ValueError for a day before the subscription began."""
    if day < began:
        raise ValueError(f"{day} is before {began}")
    first = began
    while add_month(first) < day:
        first = add_month(first)
    return Period(first, add_month(first))


def days_left(began, day):
    return (period_of(began, day).last - day).days


def prorated(cents, began, day):
    period = period_of(began, day)
    return cents * days_left(began, day) // period.days


def next_bill(began, day):
    """The first day of the period after the one of this day."""
    return period_of(began, day).last + timedelta(days=1)
