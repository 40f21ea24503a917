"""Forecasts from `clade new --horizon` to `clade predict`: with a run, and with the model's file alone."""

import csv
import datetime
import json
import math
import tomllib
import unittest

from live_runs import RunTest

HORIZON = 6


def value(shop, day):
    """A level of its own for each shop, a week, and what a sale adds."""
    return round(100 * (shop + 1) + 12 * math.sin(2 * math.pi * day / 7) + 20 * on_sale(day) + (day * 7919 % 11) / 5, 3)


def on_sale(day):
    return day * 31 % 10 < 3


def sales(shops, days, ahead=0):
    """A row for each shop and day; those ahead say whether there is a sale, and not what is sold."""
    first = datetime.date(2024, 1, 1)
    lines = ["shop,day,sale,sold"]
    for shop in range(shops):
        for day in range(days + ahead):
            sold = value(shop, day) if day < days else ""
            lines.append(f"north {shop},{first + datetime.timedelta(days=day)},{int(on_sale(day))},{sold}")
    return "\n".join(lines) + "\n"


class Forecasts(RunTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "sales.csv"
        self.data.write_text(sales(4, 120, ahead=HORIZON))
        self.file = self.folder / "made.toml"

    def table(self, text):
        return list(csv.DictReader(text.splitlines()))

    def test_what_follows_each_series_is_forecast_by_a_run_and_by_its_model(self):
        profile = json.loads(self.finish("new", self.data, "--horizon", HORIZON, "--output", self.file, "--json").out)
        self.assertEqual(profile["event"], "profile")
        data = tomllib.loads(self.file.read_text())["data"]
        self.assertEqual({key: data[key] for key in ("horizon", "time", "series", "season", "known", "target")},
                         {"horizon": HORIZON, "time": "day", "series": ["shop"], "season": 7, "known": ["sale"],
                          "target": "sold"})
        run = self.finish("run", self.file, "--slots", "2", "--set", "evolution.population=4", "--set",
                          "evolution.generations=2", "--set", "training.epochs=8", "--set", "final.members=1", "--set",
                          "final.epochs=8")
        self.assertIn("4 series of 120 steps, a step is 1 day, a season is 7 steps; the next 6 are forecast", run.said())
        folder = self.run_folder()
        end = json.loads(self.finish("show", folder, "--json").out)["end"]
        tests = {one["subject"]: one["test_metrics"] for one in end["comparison"]}
        for simple in ("exponential smoothing", "seasonal naive", "linear model"):
            self.assertGreater(tests[simple]["test.mae"], 0, simple)
        drawn = end["details"]["forecasts"]
        self.assertEqual([f["series"] for f in drawn], [[f"north {shop}"] for shop in range(4)])
        self.assertEqual([s["ahead"] for s in drawn[0]["steps"]], list(range(1, HORIZON + 1)))
        self.assertEqual(drawn[0]["to"], "2024-04-29")
        report = self.folder / "report.html"
        self.finish("report", folder, "--output", report)
        self.assertIn("Forecast of north 3 from", report.read_text())
        rows = self.table(self.finish("predict", folder, self.data, "--intervals", "0.8").out)
        self.assertEqual(len(rows), 4 * HORIZON)
        self.assertEqual(list(rows[0]), ["shop", "day", "sold", "sold_low", "sold_high"])
        self.assertEqual((rows[0]["shop"], rows[0]["day"]), ("north 0", "2024-04-30"))
        off = naive = 0
        for i, row in enumerate(rows):
            shop, day = divmod(i, HORIZON)
            day += 120
            off += abs(float(row["sold"]) - value(shop, day)) / len(rows)
            naive += abs(value(shop, day - 7) - value(shop, day)) / len(rows)
            self.assertLess(float(row["sold_low"]), float(row["sold"]))
            self.assertLess(float(row["sold"]), float(row["sold_high"]))
        # Sales are known ahead, and the value one week before does not know them.
        self.assertLess(off, naive / 2)

        model = self.folder / "sales.safetensors"
        self.finish("export", folder, "--safetensors", model)
        by_model = self.finish("predict", model, self.data).out
        self.assertEqual([float(row["sold"]) for row in self.table(by_model)], [float(row["sold"]) for row in rows])
        # The last week is held back, forecast and compared.
        later = self.folder / "later.csv"
        later.write_text(sales(4, 120 + HORIZON))
        score = json.loads(self.finish("predict", model, later, "--score", "--intervals", "0.8", "--json").out)
        self.assertEqual((score["rows"], score["left_out"]), (4 * HORIZON, 0))
        self.assertLess(score["metrics"]["mase"], 1)
        self.assertLess(score["metrics"]["smape"], 0.2)
        self.assertGreater(score["intervals"]["coverage"], 0.5)
        # Steps of another length are no steps of the model's.
        weekly = self.folder / "weekly.csv"
        head, *lines = sales(1, 120).splitlines()
        weekly.write_text("\n".join([head, *lines[::7]]) + "\n")
        self.assert_refused("a step is 7 days, where the model learnt steps of 1 day", "predict", model, weekly)
        self.assert_refused("a step is 7 days, where the model learnt steps of 1 day", "predict", folder, weekly)
        # One of the series alone is forecast alike.
        one = self.folder / "one.csv"
        lines = self.data.read_text().splitlines()
        one.write_text("\n".join(line for line in lines if line.startswith(("shop", "north 2"))) + "\n")
        alone = self.finish("predict", model, one)
        # A network rounds otherwise where it is asked of fewer at once.
        for row, same in zip(self.table(alone.out), (r for r in self.table(by_model) if r["shop"] == "north 2"), strict=True):
            self.assertEqual(row["day"], same["day"])
            self.assertAlmostEqual(float(row["sold"]), float(same["sold"]), places=3)
        self.assertEqual(alone.err, "")
        held = self.folder / "held.csv"
        self.finish("predict", model, later, "--score", "--output", held)
        self.assertEqual([row["sold"] for row in self.table(held.read_text())], [row["sold"] for row in self.table(by_model)])

    def test_columns_that_are_series_are_forecast(self):
        rows = list(csv.DictReader(sales(3, 120).splitlines()))
        shops = sorted({row["shop"] for row in rows})
        table = {}
        for row in rows:
            table.setdefault(row["day"], {})[row["shop"]] = row["sold"]
        wide = self.folder / "wide.csv"
        with open(wide, "w", newline="") as out:
            csv.writer(out).writerows([["day", *shops]] + [[day, *(of[shop] for shop in shops)] for day, of in table.items()])
        self.finish("new", wide, "--targets", ",".join(shops), "--horizon", HORIZON, "--output", self.file)
        run = self.finish("run", self.file, "--slots", "2", "--set", "evolution.population=4", "--set",
                          "evolution.generations=2", "--set", "training.epochs=8", "--set", "final.members=1", "--set",
                          "final.epochs=8")
        self.assertIn("3 series of 120 steps", run.said())
        folder = self.run_folder()
        rows = self.table(self.finish("predict", folder, wide).out)
        self.assertEqual(list(rows[0]), ["series", "day", "value"])
        self.assertEqual([row["series"] for row in rows], [shop for shop in shops for _ in range(HORIZON)])
        model = self.folder / "wide.safetensors"
        self.finish("export", folder, "--safetensors", model)
        self.assertEqual(self.table(self.finish("predict", model, wide).out), rows)
        score = json.loads(self.finish("predict", model, wide, "--score", "--json").out)
        self.assertEqual(score["rows"], 3 * HORIZON)

    def assert_refused(self, part, *words):
        command = self.start(*words)
        self.assertEqual(command.end(), 2, command.said())
        self.assertIn(part, command.err)
        self.assertEqual(command.err.count("\n"), 1, command.err)

    def test_what_cannot_be_forecast_is_said_in_a_line(self):
        short = self.folder / "short.csv"
        short.write_text(sales(2, 20))
        self.assert_refused("the longest series has 20 steps", "new", short, "--horizon", HORIZON, "--output", self.file)
        twice = self.folder / "twice.csv"
        twice.write_text(sales(1, 60) + sales(1, 60).split("\n", 1)[1])
        self.assert_refused("no two columns tell their series apart", "new", twice, "--horizon", HORIZON, "--output", self.file)
        self.assert_refused("--test is not for forecasts", "new", self.data, "--horizon", HORIZON, "--test", self.data, "--output", self.file)
        self.assert_refused("from 1 to 10000", "new", self.data, "--horizon", 0, "--output", self.file)
        self.assert_refused("--horizon", "new", self.data, "--season", 7, "--output", self.file)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
