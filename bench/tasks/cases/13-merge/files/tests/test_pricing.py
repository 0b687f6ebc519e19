import unittest

from shop import pricing, report


class PricingTest(unittest.TestCase):
    def test_report(self):
        self.assertEqual(report.report([[(100, 2)]]), "1 items, 238 cents")


if __name__ == "__main__":
    unittest.main()
