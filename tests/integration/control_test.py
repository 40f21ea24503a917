"""People tell a live run what to do."""

import json
import os
import pwd
import time
import unittest

from live_runs import RunTest, await_true


class Control(RunTest):
    def order(self, name, *words, status=0):
        return self.finish("control", name, self.run_folder(), *words, status=status)

    def refused(self, sentence, name, *words):
        said = self.order(name, *words, status=2).err
        self.assertRegex(said, rf"^clade: [^\n]*{sentence}[^\n]*\n$")

    def orders(self):
        return self.count("select count(*) from records where kind = 11")

    # Evaluations take so long that no run ends before it is told, also where a command takes a second to start.
    def start_run(self, **experiment):
        run = self.start("run", self.write_experiment(**experiment), "--slots", "2")
        self.await_evaluations(1, run)
        return run

    def test_a_run_that_is_held_trains_nothing_until_it_goes_on(self):
        run = self.start_run(population=8, generations=3, duration="400ms")
        self.order("hold")
        # The training that was under way ends; then nothing more does.
        held = time.time() * 1000
        await_true(lambda: all(s["training"] == 0 for s in self.slots(held)), "slots were not idle")
        evaluated = self.count("select count(*) from evaluations")
        self.refused("held already", "hold")
        self.assertEqual(self.count("select count(*) from evaluations"), evaluated)
        self.order("go-on")
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(24)
        self.assertEqual(self.orders(), 2)

    def slots(self, later_than=0):
        """Returns the slots as the head writes them each second."""
        def written():
            file = self.run_folder() / "slots.json"
            view = json.loads(file.read_text()) if file.exists() else {"unix_ms": 0}
            return view["unix_ms"] > later_than and view
        return await_true(written, "slots.json was not written")["slots"]

    def test_it_stops_after_its_generation_and_can_be_resumed(self):
        file = self.write_experiment(population=8, generations=4, duration="200ms")
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(1, run)
        self.order("stop-after")
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.query("select state from progress"), [("paused",)])
        self.assertEqual(self.count("select count(*) from evaluations") % 8, 0)
        self.refused("no head is at work", "stop")
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(32)
        self.assert_undisturbed(file)

    def test_slots_become_more_and_less_and_the_search_stays_the_same(self):
        file = self.write_experiment(population=8, generations=4, duration="300ms")
        run = self.start("run", file, "--slots", "1")
        self.await_evaluations(1, run)
        self.order("slots", "cpu:3")
        await_true(lambda: len(self.nodes()) == 3, "there were never three nodes")
        self.order("slots", "cpu:1")
        self.refused("cpu:N", "slots", "many")
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(32)
        self.assertEqual(self.orders(), 2)
        self.assert_undisturbed(file)

    def test_a_candidate_is_dropped_and_its_slot_goes_on(self):
        run = self.start("run", self.write_experiment(population=4, generations=2, duration="4s"), "--slots", "2")
        dropped = await_true(self.in_training, "nothing was in training")
        self.order("drop", dropped)
        self.refused("is not open", "drop", 999)
        self.assertEqual(run.end(), 0, run.said())
        user = pwd.getpwuid(os.getuid()).pw_name
        self.assertEqual(self.query("select id, reason from evaluations where outcome = 'dropped'"),
                         [(dropped, f"dropped by {user}")])
        self.assertEqual(self.count("select count(*) from attempts"), 0)

    def in_training(self):
        """A candidate that has just begun; its four seconds are long enough."""
        return next((s["training"] for s in self.slots() if s["training"] and s["at_work_ms"] < 500), None)


if __name__ == "__main__":
    unittest.main()
