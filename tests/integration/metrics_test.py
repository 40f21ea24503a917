#!/usr/bin/env python3
"""The facts that other programs are told of a run: metrics, read by Prometheus's own parser, and events, by
TensorBoard's own reader. Run by CTest: python3 metrics_test.py CLASS[.METHOD]"""

import json
import os
import pathlib
import re
import subprocess
import unittest
import urllib.request

from live_runs import PATIENCE_S, RunTest, await_true

VENV = pathlib.Path(os.environ.get("CLADE_TEST_VENV", "/nonexistent"))

# These run in the tests' environment. The samples of standard input as JSON: [[name, labels, value]].
SAMPLES = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families as families
found = list(families(sys.stdin.read()))
assert all(f.documentation and f.type in ("counter", "gauge") for f in found), found
print(json.dumps([[s.name, s.labels, s.value] for f in found for s in f.samples]))
"""
# The curves of a folder of events as JSON {tag: [[step, value, time]]}, and its texts {tag: text}.
EVENTS = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
print(json.dumps([{t: [[e.step, e.value, e.wall_time] for e in events.Scalars(t)] for t in tags["scalars"]},
                  {t: events.Tensors(t)[0].tensor_proto.string_val[0].decode() for t in tags["tensors"]}]))
"""


def in_environment(program, *words, text=""):
    return json.loads(subprocess.run([VENV / "bin/python3", "-c", program, *map(str, words)], input=text,
                                     stdout=subprocess.PIPE, text=True, check=True).stdout)


def need(module):
    if not list(VENV.glob(f"lib/python3*/site-packages/{module}")):
        raise unittest.SkipTest(f"no {module}: tools/test installs it into build/test_venv")


class Prometheus(RunTest):
    @classmethod
    def setUpClass(cls):
        need("prometheus_client")

    def serve(self):
        viewer = self.start("attach", self.run_folder(), "--metrics", "0")
        return viewer, await_true(lambda: re.search(r"http://127\.0\.0\.1:\d+/metrics", viewer.out),
                                  "no address was said").group()

    def scrape(self, address):
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            text = answer.read().decode()
        return {(name, *labels.values()): value for name, labels, value in in_environment(SAMPLES, text=text)}

    def test_a_live_run_is_scraped_and_then_what_is_left_of_it(self):
        run = self.start("run", self.write_experiment(duration="100ms", misbehaviour="diverge = 0.1"), "--slots", "2")
        self.await_evaluations(3, run)
        viewer, address = self.serve()

        def with_slots():
            now = self.scrape(address)
            return now if sum(v for k, v in now.items() if k[0] == "clade_slots") == 2 else None
        live = await_true(with_slots, "the metrics never had two slots")
        self.assertGreaterEqual(live["clade_evaluations_total", "succeeded"], 1)
        self.assertEqual(live["clade_planned_candidates",], 64)
        run.interrupt()
        run.end()
        count = self.count("select count(*) from evaluations")

        def stopped():
            now = self.scrape(address)
            return now if any("stopped" in key for key in now) else None
        rest = await_true(stopped, "the metrics never said that the run has stopped")
        self.assertEqual(sum(v for k, v in rest.items() if k[0] == "clade_evaluations_total"), count)
        self.assertEqual(rest["clade_records_total",], self.count("select count(*) from records"))
        shown = self.show()
        self.assertAlmostEqual(next(v for k, v in rest.items() if k[0] == "clade_best_fitness"), shown["best_fitness"])
        viewer.interrupt()
        viewer.end()

    def test_a_port_in_use_is_refused_in_a_sentence(self):
        self.finish("run", self.write_experiment(generations=1), "--slots", "2")
        viewer, address = self.serve()
        port = address.split(":")[2].split("/")[0]
        refused = self.finish("attach", self.run_folder(), "--metrics", port, status=2)
        self.assertEqual(refused.said(), f"clade: port {port} of 127.0.0.1 cannot be had; --metrics 0 takes any that is free\n")
        viewer.interrupt()
        viewer.end()


class TensorBoard(RunTest):
    @classmethod
    def setUpClass(cls):
        need("tensorboard")

    def assert_written(self, events):
        shown = self.show()
        scalars, texts = in_environment(EVENTS, events)
        for tag, key in (("fitness/best", "best_fitness"), ("fitness/median", "median"),
                         ("fitness/lower_quartile", "lower_quartile"), ("fitness/upper_quartile", "upper_quartile")):
            self.assertEqual([step for step, _, _ in scalars[tag]], list(range(4)))
            for (_, value, _), generation in zip(scalars[tag], shown["generations"]):
                self.assertAlmostEqual(value, generation[key], places=5)
        self.assertEqual([value for _, value, _ in scalars["evaluations/failed"]],
                         [generation["failed"] for generation in shown["generations"]])
        self.assertIn('name = "toy"', texts["experiment"])
        self.assert_candidate_written(events / f"candidate-{shown['best']:06}", shown["best"])

    def assert_candidate_written(self, events, id):
        shown = self.show("--genome", id)
        scalars, texts = in_environment(EVENTS, events)
        curve = [(epoch["number"], epoch["metrics"]["validation.accuracy"]) for epoch in shown["evaluation"]["curve"]]
        self.assertEqual(len(curve), 2)
        for (step, value, _), (number, accuracy) in zip(scalars["validation.accuracy"], curve, strict=True):
            self.assertEqual(step, number)
            self.assertAlmostEqual(value, accuracy, places=5)
        self.assertIn("| learning_rate |", texts["hyperparameters"])
        self.assertIn("input", texts["network"])

    def test_a_finished_run_is_written_at_once(self):
        self.finish("run", self.write_experiment(misbehaviour="diverge = 0.1"), "--slots", "2")
        events = self.folder / "events"
        self.finish("attach", self.run_folder(), "--tensorboard", events)
        self.assert_written(events)

    def test_a_live_run_is_written_to_its_end(self):
        run = self.start("run", self.write_experiment(duration="150ms", misbehaviour="diverge = 0.1"), "--slots", "2")
        self.await_evaluations(3, run)
        events = self.folder / "events"
        viewer = self.start("attach", self.run_folder(), "--tensorboard", events)
        await_true(events.exists, "nothing was written")
        self.assertTrue(run.running)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(viewer.end(), 0, viewer.said())
        self.assert_written(events)


if __name__ == "__main__":
    unittest.main()
