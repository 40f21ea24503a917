"""Several fidelities through real processes: candidates that go on, what is stored of them and what is shown."""

import json
import unittest

from live_runs import RunTest

POPULATION, GENERATIONS = 16, 4
EPOCHS, RUNGS = 9, (1, 3, 9)


class Rungs(RunTest):
    def write_rungs(self, strategy, duration="9ms"):
        file = self.write_experiment(population=POPULATION, generations=GENERATIONS, duration=duration, name=strategy,
                                     strategy=f'"{strategy}"\nrungs = {list(RUNGS)}')
        file.write_text(file.read_text().replace("epochs = 2\n", f"epochs = {EPOCHS}\n"))
        return file

    def assert_climbed(self):
        """A candidate that goes on has the genome of the one it starts from, one rung further, and pays for the rest
        alone."""
        self.assert_whole(POPULATION * GENERATIONS)
        self.assertEqual({row[0] for row in self.query("select distinct epochs from genomes")}, set(RUNGS))
        promoted = self.query("select g.id, g.network, g.epochs, f.network, f.epochs from genomes g "
                              "join genomes f on f.id = g.start")
        self.assertNotEqual(promoted, [])
        for candidate, network, epochs, below, fewer in promoted:
            self.assertEqual((network, RUNGS.index(epochs)), (below, RUNGS.index(fewer) + 1))
            curve = self.query("select min(number), max(number) from epochs where id = ?", candidate)
            self.assertIn(curve, ([(fewer + 1, epochs)], [(None, None)]))
        return promoted

    def test_asha_is_stopped_anywhere_and_goes_on(self):
        file = self.write_rungs("asha")
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(20, run)
        run.kill()
        run = self.start("resume", self.run_folder(), "--slots", "1")
        self.await_evaluations(40, run)
        run.kill()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_climbed()
        self.assert_undisturbed(file)

    def test_every_strategy_of_fidelities(self):
        for strategy in ("successive_halving", "hyperband", "dehb", "median_stopping"):
            with self.subTest(strategy):
                self.finish("run", self.write_rungs(strategy, "1ms"), "--slots", "2")
                self.assert_climbed()
                self.assertIn("decisions equal", self.finish("replay", strategy, "--verify").out)
                self.run_folder().rename(self.folder / strategy)

    def test_what_goes_on_is_shown_as_such(self):
        self.finish("run", self.write_rungs("asha", "1ms"), "--slots", "2")
        candidate, _, epochs, *_ = self.assert_climbed()[-1]
        start = self.count("select start from genomes where id = ?", candidate)
        shown = self.show("--genome", str(candidate))
        self.assertEqual((shown["epochs"], shown["start"]), (epochs, start))
        self.assertEqual(shown["lineage"][0]["epochs"], epochs)
        text = self.finish("show", "asha", "--genome", str(candidate)).out
        self.assertIn(f"goes on to epoch {epochs}", text)
        self.assertIn(f"its training starts from the weights of #{start}\n", text)
        story = json.loads(self.finish("explain", "asha", str(candidate), "--json").out)
        step = story["line"][-1]
        self.assertEqual((step["changes"], step["gain"]), ([f"goes on to epoch {epochs}"], None))

    def test_population_based_training_changes_numbers_and_keeps_weights(self):
        self.finish("run", self.write_rungs("population_based_training", "1ms"), "--slots", "2")
        self.assert_whole(POPULATION * GENERATIONS)
        rows = self.query("select g.generation, g.epochs, g.origin, f.epochs from genomes g "
                          "left join genomes f on f.id = g.start")
        for generation, epochs, origin, below in rows:
            rung = generation % len(RUNGS)
            self.assertEqual((epochs, below), (RUNGS[rung], RUNGS[rung - 1] if rung else None))
            self.assertEqual(origin.startswith("goes on"), rung > 0)
        self.assertTrue(any(" -> " in origin for _, _, origin, below in rows if below))


if __name__ == "__main__":
    unittest.main()
