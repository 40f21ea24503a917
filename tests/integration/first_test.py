"""The first candidates of a search: a grid, points that somebody knows, and what was good in earlier runs."""

import unittest

from live_runs import RunTest

POINTS = """
[points.chain]
layers = [{op = "conv", filters = 8}, {op = "dense", units = 32}]
hyperparameters = {optimizer = "adam", learning_rate = 0.01}
[points.rate]
hyperparameters = {learning_rate = 0.02}
"""

NUMBERS = """
[limits]
max_nodes = 0
[hyperparameters]
optimizer = ["sgd", "adam"]
learning_rate = {low = 0.001, high = 0.1, log = true}
batch_size = [16, 32]
"""


class First(RunTest):
    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def born(self):
        return self.query("select id, origin from genomes order by id")

    def refused(self, file, *words):
        said = self.finish("run", file, "--slots", "1", status=2)
        self.assertEqual(said.err.count("\n"), 1, said.err)
        for word in words:
            self.assertIn(word, said.err)

    def write_first(self, population=8, generations=2, strategy="generational", name="first"):
        return self.write_experiment(population=population, generations=generations, duration="1ms", name=name,
                                     strategy=f'"{strategy}"\nfirst = "points.toml"')

    def test_known_points_come_first_and_stay_when_their_file_changes(self):
        points = self.write("points.toml", POINTS)
        said = self.finish("run", self.write_first(), "--slots", "2").out
        self.assertEqual([row[1] for row in self.born()[:2]], ["the seed chain", "the seed rate"])
        self.assertIn("what the known points brought\n  chain, #1: ", said)
        points.write_text("[points.other]\n")
        self.assertIn("decisions equal", self.finish("replay", "first", "--verify").out)

    def test_a_stopped_search_goes_on_without_the_file(self):
        points = self.write("points.toml", POINTS)
        file = self.write_first(population=12, generations=4, strategy="asha")
        file.write_text(file.read_text().replace("1ms", "9ms").replace("first =", "rungs = [1, 2]\nfirst ="))
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(3, run)
        run.kill()
        points.unlink()
        self.finish("resume", self.run_folder(), "--slots", "1")
        self.assert_whole(48)
        self.assertIn("decisions equal", self.finish("replay", "first", "--verify").out)

    def test_what_is_wrong_in_a_file_of_points_is_said_before_anything_runs(self):
        file = self.write_first()
        self.refused(file, "points.toml")
        for text, words in ((POINTS.replace("0.02", "0.2"), "points.toml:6: points.rate: learning_rate = 0.2 is not"),
                            (POINTS.replace("layers", "layer"), "points.toml:3: unknown key \"layer\" in points.chain; did you mean"),
                            (POINTS.replace('"dense"', '"lstm"'), "points.toml:3: points.chain: lstm: there is no operators.lstm")):
            self.write("points.toml", text)
            self.refused(file, words)
        self.write("points.toml", "".join(f"[points.p{i}]\nhyperparameters = {{learning_rate = 0.0{i}}}\n"
                                          for i in range(1, 10)))
        self.refused(self.write_first(population=8), "write population = 9")
        self.assertEqual(list((self.folder / "runs").glob("*")), [])

    def write_grid(self, name, population, generations):
        self.write("numbers.toml", NUMBERS)
        file = self.write_experiment(population=population, generations=generations, duration="1ms", name=name,
                                     space=self.folder / "numbers.toml", strategy='"grid"')
        file.write_text(file.read_text().replace("shape = [1, 8, 8]", "shape = [16]"))
        return file

    def test_a_grid_is_searched_whole_and_replays(self):
        self.refused(self.write_grid("large", 4, 2), "the grid has 12 points and the search makes 8 candidates; "
                     "write points_per_range = 2 (8 points) or generations = 3")
        self.finish("run", self.write_grid("grid", 4, 3), "--slots", "2")
        self.assertEqual(self.count("select count(distinct network) from genomes"), 12)
        self.assertIn("decisions equal", self.finish("replay", "grid", "--verify").out)

    def test_earlier_runs_give_the_first_candidates(self):
        names = []
        for seed, name in enumerate(("one", "two")):
            self.finish("run", self.write_experiment(population=8, generations=2, duration="1ms", name=name), "--slots", "2",
                        "--seed", seed)
            names.append(self.run_folder().name)
            self.run_folder().rename(self.folder / names[-1])
        file = self.write_experiment(population=8, generations=2, duration="1ms", name="later")
        file.write_text(file.read_text().replace("shape = [1, 8, 8]\nclasses = 10", "shape = [3, 16, 16]\nclasses = 4"))
        said = self.finish("run", file, "--slots", "2", "--start-from", self.folder / names[0],
                           "--start-from", self.folder / names[1]).out
        for name in names:
            self.assertIn(f"2 of the first candidates come from {name}", said)
            self.assertIn(f"  {name} #", said)
        self.assertTrue(all(origin.startswith("the seed ") for _, origin in self.born()[:4]))
        self.assertIn("decisions equal", self.finish("replay", "later", "--verify").out)

    def test_a_model_begins_with_the_results_of_an_earlier_run(self):
        self.finish("run", self.write_experiment(population=8, generations=3, duration="1ms", name="one"), "--slots", "2")
        earlier = self.run_folder().name
        self.run_folder().rename(self.folder / earlier)
        file = self.write_experiment(population=8, generations=2, duration="1ms", name="later", strategy='"surrogate"')
        said = self.finish("run", file, "--slots", "2", "--start-from", self.folder / earlier).out
        self.assertRegex(said, rf"come from {earlier}[^\n]*; the model begins with \d+ of its results")
        self.assertRegex(said, r"results that the model began with order the \d+ of this run with a rank correlation of -?[01]\.\d\d\n")
        self.assertIn("decisions equal", self.finish("replay", "later", "--verify").out)


if __name__ == "__main__":
    unittest.main()
