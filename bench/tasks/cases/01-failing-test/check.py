"""Allocations add up, and the first shares get the rest."""

import unittest

from ledger.invoice import Invoice, Line
from ledger.money import allocate


class AllocateTest(unittest.TestCase):
    def test_every_allocation_adds_up(self) -> None:
        for total in (-1001, -7, -1, 0, 1, 2, 50, 99, 100, 101, 10**18 + 7):
            for weights in ([1], [1, 1], [1, 1, 1], [3, 2, 2], [1, 0, 5], [7] * 11, [100, 100, 100]):
                with self.subTest(total=total, weights=weights):
                    shares = allocate(total, weights)
                    self.assertEqual(sum(shares), total)
                    self.assertEqual(len(shares), len(weights))
                    for share, weight in zip(shares, weights, strict=True):
                        self.assertLess(abs(share * sum(weights) - total * weight), 2 * sum(weights))

    def test_the_first_get_the_rest(self) -> None:
        self.assertEqual(allocate(50, [1, 1, 1]), [17, 17, 16])
        self.assertEqual(allocate(100, [1, 1, 1]), [34, 33, 33])
        self.assertEqual(allocate(5, [1, 1, 1, 1]), [2, 1, 1, 1])

    def test_wrong_weights(self) -> None:
        for weights in ([], [0, 0]):
            with self.assertRaises(ValueError):
                allocate(10, weights)

    def test_invoice(self) -> None:
        invoice = Invoice([Line("tea", 100), Line("cake", 100), Line("jam", 100)], discount=50)
        self.assertEqual([line.cents for line in invoice.net_lines()], [83, 83, 84])
        self.assertEqual(Invoice([Line("a", 1), Line("b", 1)], discount=-1).total(), 3)
