"""Periods of many subscriptions, day by day."""

import unittest
from datetime import date, timedelta

import periods

BEGINNINGS = (
    *(date(2023, 1, day) for day in (1, 28, 29, 30, 31)),
    date(2024, 2, 29),
    date(2023, 12, 31),
    date(1999, 11, 30),
)


class PeriodTest(unittest.TestCase):
    def test_every_day_belongs_to_one_period(self) -> None:
        for began in BEGINNINGS:
            last = began - timedelta(days=1)
            for count in range(40):
                with self.subTest(began=began, count=count):
                    found = periods.period_of(began, last + timedelta(days=1))
                    self.assertEqual(found.first, last + timedelta(days=1))
                    self.assertEqual(found.first.day, min(began.day, _length(found.first)))
                    self.assertEqual(periods.period_of(began, found.last), found)
                    self.assertEqual(found.days, (found.last - found.first).days + 1)
                    self.assertTrue(28 <= found.days <= 31)
                    self.assertEqual(periods.next_bill(began, found.first), found.last + timedelta(days=1))
                    last = found.last

    def test_end_of_months(self) -> None:
        began = date(2024, 1, 31)
        firsts = [began]
        for _ in range(4):
            firsts.append(periods.next_bill(began, firsts[-1]))
        self.assertEqual([day.isoformat()[5:] for day in firsts], ["01-31", "02-29", "03-31", "04-30", "05-31"])

    def test_days_left(self) -> None:
        began = date(2023, 1, 10)
        self.assertEqual(periods.days_left(began, date(2023, 1, 10)), 31)
        self.assertEqual(periods.days_left(began, date(2023, 2, 9)), 1)
        self.assertEqual(periods.days_left(began, date(2023, 2, 10)), 28)

    def test_prorated(self) -> None:
        began = date(2023, 1, 10)
        self.assertEqual(periods.prorated(3100, began, date(2023, 1, 10)), 3100)
        self.assertEqual(periods.prorated(3100, began, date(2023, 2, 9)), 100)
        self.assertEqual(periods.prorated(1000, began, date(2023, 2, 11)), 1000 * 27 // 28)

    def test_before(self) -> None:
        with self.assertRaises(ValueError):
            periods.period_of(date(2023, 1, 10), date(2023, 1, 9))


def _length(day: date) -> int:
    return ((day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)).day
