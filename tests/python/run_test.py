"""Searches from Python: of each kind of table, interrupted, resumed, opened again."""

import contextlib
import io
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
import unittest

import numpy as np
import pandas as pd
import polars as pl

import clade
from clade.program import call
from clade.progress import Bars, time_left
from clade.searching import plain_name
from searches import DATA, ROOT, SMALL, SearchTest, iris_rows

COLUMNS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def iris():
    return pd.DataFrame([[*row, kind] for row, kind in iris_rows()], columns=[*COLUMNS, "kind"])


class Searching(SearchTest):
    def test_all_models_are_ranked_and_the_columns_that_matter_are_told(self):
        run = self.search(iris(), target="kind", settings={"final.model": "ensemble"})
        board = run.leaderboard()
        self.assertLessEqual({"boosted trees", "the linear model"}, set(board["model"]))
        # Cross-validation judges the models of few rows that it can, and they come first.
        crossed = board["cross_validation.accuracy"].notna()
        self.assertLessEqual({"boosted trees", "the linear model"}, set(board["model"][crossed]))
        self.assertTrue(crossed.is_monotonic_decreasing)
        self.assertTrue(board["cross_validation.accuracy"][crossed].is_monotonic_decreasing)
        self.assertTrue(board["validation.accuracy"][~crossed].is_monotonic_decreasing)
        self.assertAlmostEqual(board["share"].sum(), 1)
        columns = run.model.column_importances()
        self.assertEqual(set(columns["column"]), set(COLUMNS))
        self.assertEqual(columns.attrs["metric"], "validation.accuracy")
        self.assertTrue((columns["low"] <= columns["worse"]).all() and (columns["worse"] <= columns["high"]).all())
        self.assertTrue(columns["worse"].is_monotonic_decreasing)

    def test_several_targets_are_predicted_side_by_side(self):
        frame = pd.DataFrame({"x": np.linspace(-1, 1, 120), "y": np.tile([0.0, 1.0, 2.0], 40)}, index=range(7, 127))
        frame["double"], frame["other"] = 2 * frame.x, 5 - frame.y
        frame["positive"], frame["even"] = frame.x > 0, frame.y != 1
        run = self.search(frame[["x", "y", "double", "other"]], target=["double", "other"])
        predicted = run.predict(frame[["y", "x"]])
        self.assertEqual(list(predicted.columns), ["double", "other"])
        self.assertTrue(predicted.index.equals(frame.index))
        self.assertEqual(run.experiment["data"]["targets"], ["double", "other"])
        with self.assertRaisesRegex(clade.CladeError, "a number is predicted"):
            run.predict_proba(frame)

        run = self.search(frame[["x", "y", "positive", "even"]], target=("positive", "even"))
        labels, chances = run.predict(frame), run.predict_proba(frame)
        self.assertEqual(list(labels.columns), ["positive", "even"])
        self.assertEqual(set(labels.to_numpy().ravel()) | {0, 1}, {0, 1})
        self.assertTrue(((chances >= 0.5) == (labels == 1)).all().all())
        again = run.predict(pl.from_pandas(frame.reset_index(drop=True)))
        self.assertEqual(again["even"].to_list(), labels["even"].to_list())
        self.assertIn('no column "neither"', self.refused(frame, target=["double", "neither"]))

    def test_a_folder_of_images_is_searched_and_predicted_by_file(self):
        samples = ROOT / "tests" / "engine" / "data" / "images"
        photos = self.folder / "photos"
        for kind, sample in (("gray", "grey.png"), ("red", "color.png")):
            for i in range(20):
                image = photos / kind / f"{i:02}.png"
                image.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(samples / sample, image)
        run = self.search(photos)
        self.assertEqual(run.state, "finished")
        predicted = run.predict(photos)
        self.assertEqual(len(predicted), 40)
        self.assertEqual(predicted["gray/07.png"], "gray")
        self.assertEqual(predicted["red/19.png"], "red")
        self.assertEqual(run.predict(photos / "red" / "03.png"), {"03.png": "red"})
        self.assertEqual(run.predict_proba(photos).shape, (40, 2))

    def test_the_final_phase_has_a_bar_of_its_own(self):
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            bars = Bars(True)
            bars.show({"event": "generation", "succeeded": 7, "failed": 1, "best": 3, "best_fitness": 0.5}, 8)
            for trained, left in ((0, None), (6, 100.4), (15, None)):
                bars.show({"event": "final", "trained": trained, "trainings": 15, "seconds_left": left}, 8)
                bars.tick(8)
            bars.close()
        search, final = shown.getvalue().partition("final")[::2]
        self.assertIn("8/8", search)
        self.assertIn("best 0.5 (#3)", search)
        self.assertRegex(final, r"6 of 15 trainings \[.*, 1 min 40 s left\]")
        self.assertRegex(final, r"15 of 15 trainings \[.*, putting the model together\]")
        self.assertEqual([time_left(s) for s in (0.4, 59.6, 7500)], ["0 s left", "1 min 00 s left", "2 h 05 min left"])

    def test_the_program_tells_of_its_final_phase(self):
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            self.search(iris(), target="kind", minutes=0.2, progress=True, settings={"final.model": "ensemble"})
        self.assertRegex(shown.getvalue(), r"final: 100%.* trainings \[.*, putting the model together\]")

    def test_a_table_of_pandas_becomes_a_run_that_predicts_and_shows_itself(self):
        frame = iris()
        run = self.search(frame, target="kind")
        self.assertEqual(run.state, "finished")
        self.assertEqual(run.folder.parent, self.runs)
        self.assertRegex(repr(run), r"^<clade run kind-\d{8}-\d{6}: finished, 23 networks evaluated, best "
                                    r"validation\.\w+ [\d.]+>$")

        trials = run.trials_dataframe()
        self.assertEqual(len(trials), 23)
        self.assertTrue((trials["outcome"] == "succeeded").any())

        new = frame.drop(columns="kind").iloc[::-1][:5]
        predicted = run.predict(new)
        self.assertEqual(list(predicted.index), list(new.index))
        self.assertLessEqual(set(predicted), set(frame["kind"]))
        shares = run.predict_proba(new)
        self.assertEqual(list(shares.idxmax(axis=1)), list(predicted))
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)

        page = run._repr_html_()
        for part in ("<svg", "the best so far", f"champion #{run.champion.id}", "its network", "test."):
            self.assertIn(part, page)
        self.assertIn(f"#{run.champion.id} of kind: ", repr(run.champion))

        again = clade.open(run.folder)
        self.assertEqual((again.folder, again.champion.metrics), (run.folder, run.champion.metrics))
        self.assertEqual(clade.open("kind").folder, run.folder)
        self.assertEqual(again.resume(progress=False).state, "finished")

    def test_a_champion_is_a_torch_module_that_predicts_the_same(self):
        import torch
        run = self.search(iris(), target="kind")
        network = run.model.to_torch()
        self.assertIsInstance(network, torch.nn.Module)
        rows = [row for row, _ in iris_rows()][::10]
        wanted = run.predict_proba(pd.DataFrame(rows, columns=COLUMNS)).to_numpy()
        predicted = network.source.predict(rows, network)
        np.testing.assert_allclose([list(shares.values()) for _, shares in predicted], wanted, atol=1e-5)
        for name in ("net.onnx", "net.safetensors", "net.pt", "model.py"):
            self.assertTrue(run.champion.export(self.folder / name).is_file())
        with self.assertRaises(clade.CladeError) as caught:
            run.champion.export("net.h5")
        self.assertIn("a file that ends in .onnx, .pt, .safetensors, .py", str(caught.exception))

    def test_a_champion_takes_rows_of_numbers_categories_dates_and_blanks(self):
        frame = pd.DataFrame({
            "age": [20.5 + i % 40 if i % 7 else None for i in range(80)],
            "plan": [("basic", "plus", None)[i % 3] for i in range(80)], "active": [i % 2 == 0 for i in range(80)],
            "since": pd.date_range("2024-01-01", periods=80)[::-1], "churned": ["yes" if i % 5 < 2 else "no" for i in range(80)]})
        run = self.search(frame, target="churned")
        new = frame.drop(columns="churned").head(12)
        rows = [line.split(",") for line in new.to_csv(index=False).splitlines()[1:]]
        network = run.model.to_torch()
        self.assertEqual(network.source.COLUMNS, list(new.columns))
        predicted = [list(shares.values()) for _, shares in network.source.predict(rows, network)]
        np.testing.assert_allclose(predicted, run.predict_proba(new).to_numpy(), atol=1e-5)

    def test_labels_come_back_as_the_kind_that_they_were(self):
        frame = pl.DataFrame({"a": [0.0, 1.0] * 30, "b": list(range(60)), "y": [False, True] * 30})
        predicted = self.search(frame, target="y").predict(frame.head(4).drop("y"))
        self.assertIsInstance(predicted, pl.Series)
        self.assertEqual(predicted.dtype, pl.Boolean)
        X = np.column_stack([frame["a"], frame["b"]])
        predicted = self.search(X, np.array([3, 8] * 30)).predict(X[:4])
        self.assertLessEqual(set(predicted.tolist()), {3, 8})

    def test_numbers_are_predicted_in_their_own_unit(self):
        x = np.linspace(0, 1, 60)
        frame = pd.DataFrame({"x": x, "z": x[::-1], "price": 1000 + 500 * x})
        run = self.search(frame, target="price", task="regression")
        predicted = run.predict(frame)
        self.assertGreater(predicted.mean(), 500)
        self.assertEqual(predicted.name, "price")
        wide = run.predict(frame, intervals=0.8)
        self.assertEqual(list(wide.columns), ["price", "price_low", "price_high"])
        self.assertEqual(list(wide["price"]), list(predicted))
        self.assertTrue((wide["price_low"] < wide["price"]).all())
        like_it = run.predict(pl.DataFrame({"x": x, "z": x[::-1]}), intervals=0.8)
        self.assertEqual(like_it["price_high"].to_list(), list(wide["price_high"]))
        with self.assertRaises(clade.CladeError) as caught:
            run.predict_proba(frame)
        self.assertIn("a number is predicted", str(caught.exception))

    def test_quantiles_are_columns_in_rising_order(self):
        x = np.linspace(0, 1, 80)
        frame = pd.DataFrame({"x": x, "z": x[::-1], "price": 1000 + 500 * x + 50 * np.sin(40 * x)})
        run = self.search(frame, target="price", quantiles=[0.2, 0.8])
        self.assertEqual(run.experiment["data"]["task"], "quantiles")
        predicted = run.predict(frame)
        self.assertEqual(list(predicted.columns), ["price_q0.2", "price_q0.8"])
        self.assertTrue((predicted["price_q0.2"] <= predicted["price_q0.8"]).all())
        self.assertIn("rising order", self.refused(frame, "price", quantiles=[0.8, 0.2]))

    def test_labels_of_numbered_columns_arrive_whichever_row_is_blank(self):
        x = np.linspace(-1, 1, 60)
        frame = pd.DataFrame({3: x, 1: x[::-1], 2: [None] + ["up" if v > 0 else "down" for v in x[1:]]})
        predicted = self.search(frame, 2).predict(frame[[3, 1]])
        self.assertEqual((len(predicted), set(predicted)), (60, {"up", "down"}))

    def test_a_target_may_have_any_name(self):
        x = np.linspace(-1, 1, 60)
        for name, called in (("größe_価格", "groesse_"), ("価格", "search"), ("long_" * 20, "long_" * 8)):
            frame = pd.DataFrame({"x": x, "z": x[::-1], name: x > 0})
            run = self.search(frame, name, settings={"evolution.generations": 1})
            self.assertEqual((run.name, run.experiment["data"]["target"]), (called.rstrip("-"), name))

    def test_names_are_spelled_as_the_program_spells_them(self):
        known = [chr(c) for c in (*range(0xc0, 0x180), *range(0x300, 0x340), *range(0x386, 0x3d0), *range(0x400, 0x4a0))]
        for first in range(0, len(known), 16):
            name = "n" + "".join(known[first:first + 16]) + "x"
            table = self.folder / f"{name}.csv"
            table.write_text("a,y\n" + "".join(f"{i * 7 % 40},{'no' if i % 3 else 'yes'}\n" for i in range(40)), encoding="utf-8")
            call("new", table, "--output", table.with_suffix(".toml"))
            written = tomllib.loads(table.with_suffix(".toml").read_text(encoding="utf-8"))
            self.assertEqual(plain_name(name), written["experiment"]["name"])

    def test_what_was_seen_and_left_out_is_said_and_kept(self):
        x = np.linspace(-1, 1, 60)
        frame = pd.DataFrame({"x": x, "code": [f"k{i}-{i * 7919 % 60}" for i in range(60)],
                              "odd": ["n/k" if i % 20 == 0 else str(v) for i, v in enumerate(x)], "y": x > 0})
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            run = self.search(frame, "y", progress=True)
        summary = clade.open(run.folder).summary()
        for text in (said.getvalue(), summary):
            for part in ("60 rows, 4 columns; target y; classification of 2 classes", "left out  code",
                         'look at   "odd" holds numbers but for', "validation.accuracy", "linear model"):
                self.assertIn(part, text)

    def test_an_error_of_rows_names_no_file_that_nobody_knows(self):
        run = self.search(iris(), "kind", settings={"evolution.generations": 1})
        with self.assertRaises(clade.CladeError) as caught:
            run.predict(iris()[COLUMNS[1:]])
        self.assertEqual(str(caught.exception), 'the column "sepal_length" of the training data is missing')

    def test_the_readmes_lines_do_what_it_says(self):
        lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
        self.assertIn("minutes=5)", lines)
        df = iris().rename(columns={"kind": "churned"})
        given = {"df": df, "df2": df.drop(columns="churned"), "X": df[COLUMNS], "y": df["churned"],
                 "short": {"slots": 2, "progress": False, "settings": SMALL}}
        exec(lines.replace("minutes=5)", "**short)"), given)
        self.assertEqual(given["run"].champion.run.name, "churned")

    def test_what_is_wrong_is_the_programs_sentence(self):
        self.assertIn("nonsense", self.refused(iris(), "kind", settings={"evolution.nonsense": 3}))
        self.assertEqual(self.refused(iris(), "kind", minutes=-1), "minutes is -1; it must be more than 0")
        self.assertIn("regression, multilabel, quantiles", self.refused(iris(), "kind", task="ranking"))
        with self.assertRaises(clade.CladeError) as caught:
            clade.open("nothing")
        self.assertIn("nothing", str(caught.exception))
        self.assertNotIn("clade: ", str(caught.exception))


class Interrupting(SearchTest):
    """With far more to do than a test has time for."""
    LONG = {"evolution.population": 50, "evolution.generations": 200, "training.epochs": 20}

    def start(self):
        return self.search(iris(), target="kind", settings=self.LONG, wait=False)

    def assert_stopped_and_whole(self, run):
        self.assertEqual(run.state, "stopped")
        checked = subprocess.run([os.environ["CLADE_BINARY"], "check", run.folder], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_one_interrupt_finishes_what_is_in_training_and_returns_the_run(self):
        run = self.start()
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        self.assertIs(run.wait(progress=False), run)
        self.assert_stopped_and_whole(run)
        evaluated = run._stored()["evaluated"]
        run.resume(progress=False, wait=False)
        self.assertEqual(run.stop().state, "stopped")
        self.assertGreaterEqual(run._stored()["evaluated"], evaluated)

    def test_a_python_that_is_killed_leaves_a_run_that_drains(self):
        code = ("import clade, os, sys\n"
                "run = clade.search(sys.argv[1], 'last', wait=False, progress=False, slots=2, settings="
                f"{self.LONG!r})\nprint(run.folder, run._session.pid, flush=True)\nsys.stdin.read()")
        python = subprocess.Popen([sys.executable, "-c", code, DATA / "iris.csv"], text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        folder, pid = python.stdout.readline().split()
        descriptor = os.pidfd_open(int(pid))
        python.kill()
        python.communicate()
        self.await_end(descriptor)
        run = clade.open(folder)
        self.assert_stopped_and_whole(run)
        self.assertEqual(run.reason, "interrupted")

    def await_end(self, descriptor):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        self.assertTrue(poll.poll(60_000), "the run did not end")
        os.close(descriptor)


if __name__ == "__main__":
    unittest.main()
