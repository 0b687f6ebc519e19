import unittest

from ledger.invoice import Invoice, Line


class InvoiceTest(unittest.TestCase):
    def test_no_discount(self):
        invoice = Invoice([Line("tea", 250), Line("cake", 400)])
        self.assertEqual(invoice.total(), 650)

    def test_even_discount(self):
        invoice = Invoice([Line("tea", 200), Line("cake", 400)], discount=60)
        self.assertEqual(invoice.print(), "tea: 1.80\ncake: 3.60")

    def test_discount_with_a_rest(self):
        invoice = Invoice([Line("tea", 100), Line("cake", 100), Line("jam", 100)], discount=50)
        self.assertEqual(invoice.print(), "tea: 0.83\ncake: 0.83\njam: 0.84")
        self.assertEqual(invoice.total(), 250)


if __name__ == "__main__":
    unittest.main()
