"""The figures of `clade bench ask` for the engine's own cost and of `clade bench step` for training, and their
limits. How large a cost is depends on the machine, and is not judged here."""

import json
import pathlib
import unittest

from live_runs import RunTest

SPACES = pathlib.Path(__file__).resolve().parents[2] / "search_spaces"


class Ask(RunTest):
    def ask(self, *words, space=SPACES / "mlp.toml", status=0):
        return self.finish("bench", "ask", "--space", space, *words, status=status)

    def test_every_strategy_is_measured_on_what_it_can_search(self):
        said = json.loads(self.ask("--evaluations", "60", "--measured", "20", "--json").out)
        self.assertEqual((said["evaluations"], said["measured"], said["in_flight"]), (60, 20, 8))
        spaces = {}
        for row in said["rows"]:
            spaces.setdefault(row["strategy"], []).append(row["space"])
            self.assertGreaterEqual(row["candidates"], 60)
            for part in ("head", "breeding"):
                self.assertGreater(row[part]["mean_ms"], 0)
                self.assertGreaterEqual(row[part]["max_ms"], row[part]["p99_ms"])
        self.assertEqual(spaces["regularized"], ["layers", "numbers"])
        self.assertEqual(spaces["cma_es"], ["numbers"])
        self.assertEqual(spaces["map_elites"], ["layers"])
        self.assertEqual(spaces["islands of three"], ["layers", "numbers"])

    def test_people_read_a_table(self):
        said = self.ask("--evaluations", "30", "--in-flight", "1", "--strategies", "random", "mine: population=5")
        lines = said.out.splitlines()
        self.assertEqual(lines[0], "the last 30 of 30 candidates, 1 in flight")
        self.assertEqual([line.split()[:2] for line in lines[2:]],
                         [["random", "layers"], ["random", "numbers"], ["mine", "layers"], ["mine", "numbers"]])

    def test_what_cannot_be_measured_is_refused_in_one_line(self):
        for words, part in [
            (["--strategies", "regulated"],
             '--strategies: "regulated" is no strategy of this bench; did you mean "regularized"?'),
            (["--strategies", "bayesian"], '--strategies: "bayesian" is none of random, generational'),
            (["--strategies", "mine: population=ten"], "--strategies mine: "),
            (["--strategies", "mine: strategy=cma_es elites=3 in_flight=0 population=2"], "evolution.population is 2"),
        ]:
            with self.subTest(part):
                refused = self.ask("--evaluations", "30", *words, status=2)
                self.assertEqual((refused.out, refused.err.count("\n")), ("", 1))
                self.assertIn(part, refused.err)
        self.assertIn("none.toml", self.ask(space=self.folder / "none.toml", status=2).err)
        self.ask("--evaluations", "0", status=2)


class Step(RunTest):
    def test_a_network_is_timed_without_a_peer(self):
        said = self.finish("bench", "step", "--python", "", "--only", "dense, batch 32", "--turns", "1",
                           "--runs", self.folder)
        lines = said.out.splitlines()
        self.assertEqual(lines[0], "one thread, float32, the median of 1 turns")
        self.assertEqual(lines[1].split(), ["network", "a", "second", "clade", "eager", "ratio", "compiled", "ratio"])
        self.assertEqual(lines[2].split()[:4], ["dense,", "batch", "32", "rows"])
        self.assertGreater(int(lines[2].split()[4]), 0)
        self.assertEqual(lines[2].split()[5:], ["-"] * 4)
        self.assertEqual(list(self.folder.glob("bench-step*")), [])

    def test_a_peer_that_does_not_start_is_one_line(self):
        refused = self.finish("bench", "step", "--python", "/no/python", "--only", "dense, batch 32",
                              "--runs", self.folder, status=2)
        self.assertEqual((refused.out, refused.err.count("\n")), ("", 1))


if __name__ == "__main__":
    unittest.main()
