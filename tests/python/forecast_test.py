"""Forecasts from Python: a search of series in a table of pandas or polars, and what follows them as such a table."""

import datetime
import math
import unittest

import pandas
import polars

from searches import SearchTest


def sales(days, ahead=0):
    """A row for each shop and day, with a week's season."""
    first = datetime.datetime(2024, 1, 1)
    rows = [(shop, first + datetime.timedelta(days=day),
             100.0 * (1 + len(shop)) + 10 * math.sin(2 * math.pi * day / 7) + day * 7919 % 11 / 5)
            for shop in ("north", "south-west") for day in range(days + ahead)]
    return {"shop": [row[0] for row in rows], "day": [row[1] for row in rows], "sold": [row[2] for row in rows]}


class Forecasts(SearchTest):
    def test_what_follows_each_series_is_a_table_like_the_data(self):
        frame = pandas.DataFrame(sales(90))
        run = self.search(frame, "sold", horizon=5)
        self.assertEqual(run.experiment["data"]["series"], ["shop"])
        found = run.predict(frame)
        self.assertEqual(list(found.columns), ["shop", "day", "sold"])
        self.assertEqual(list(found.dtypes[:2]), list(frame.dtypes[:2]))
        self.assertEqual(list(found["shop"]), ["north"] * 5 + ["south-west"] * 5)
        self.assertEqual(list(found["day"][:5]), list(pandas.date_range("2024-03-31", periods=5)))
        truth = pandas.DataFrame(sales(90, 5)).groupby("shop").tail(5)["sold"]
        self.assertLess(abs(found["sold"].to_numpy() - truth.to_numpy()).max(), 10)

        wide = run.predict(frame, intervals=0.8)
        self.assertEqual(list(wide.columns), ["shop", "day", "sold", "sold_low", "sold_high"])
        self.assertEqual(list(wide["sold"]), list(found["sold"]))
        self.assertTrue((wide["sold_low"] < wide["sold"]).all() and (wide["sold"] < wide["sold_high"]).all())

        like_it = run.predict(polars.DataFrame(sales(90)))
        self.assertEqual(like_it.columns, ["shop", "day", "sold"])
        self.assertEqual(like_it["day"].to_list()[:5], [d.to_pydatetime() for d in found["day"][:5]])
        self.assertEqual(like_it["sold"].to_list(), found["sold"].to_list())

    def test_a_horizon_that_cannot_be_is_said(self):
        self.assertIn("horizon", self.refused(pandas.DataFrame(sales(9)), "sold", horizon=20))


if __name__ == "__main__":
    unittest.main()
