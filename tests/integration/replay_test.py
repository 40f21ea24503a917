"""Stored runs, made again: every decision, every training, and what is said of records that were falsified by somebody
who knows how their checksums are made."""

import contextlib
import ctypes
import json
import pathlib
import sqlite3
import struct
import unittest

from live_runs import CLADE, RunTest

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits_withSeed.restype = ctypes.c_uint64
XXHASH.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]

POPULATION, GENERATIONS = 8, 4
HAS_TORCH = (pathlib.Path(CLADE).parent / "libclade_training.so").exists()


def hash64(data, seed):
    return XXHASH.XXH3_64bits_withSeed(data, len(data), seed)


class ReplayTest(RunTest):
    def make_run(self, **changes):
        self.file = self.write_experiment(**{"population": POPULATION, "generations": GENERATIONS, "duration": "0us",
                                             "misbehaviour": "diverge = 0.1", **changes})
        self.finish("run", self.file, "--slots", "2")
        return self.run_folder()

    def replay(self, *words, status=0):
        command = self.finish("replay", self.run_folder(), *words, status=status)
        if status == 2:
            self.assertEqual((command.err.count("\n"), command.out), (1, ""), command.said())
        return command

    def falsify(self, change, where):
        """Changes the payload of the first record for which `where` holds, and every checksum from there on."""
        with contextlib.closing(sqlite3.connect(self.run_folder() / "run.db")) as store:
            rows = store.execute("select sequence, unix_ms, kind, payload from records order by sequence").fetchall()
            changed = next(row[0] for row in rows if where(row[2], row[3]))
            checksum = 0
            for sequence, unix_ms, kind, payload in rows:
                if sequence == changed:
                    payload = change(payload)
                checksum = hash64(payload, hash64(struct.pack("<QQQ", sequence, unix_ms, kind), checksum))
                signed = checksum - (1 << 64) if checksum >> 63 else checksum
                store.execute("update records set payload = ?, checksum = ? where sequence = ?",
                              (payload, signed, sequence))
            store.commit()
        return changed


class Verifying(ReplayTest):
    def test_every_decision_of_a_run_is_equal(self):
        self.make_run()
        text = self.replay("--verify").out
        found = json.loads(self.replay("--verify", "--json").out)
        self.assertEqual((found["equal"], found["difference"], found["digest"]), (True, None, self.digest()))
        self.assertEqual(found["candidates"], POPULATION * GENERATIONS)
        self.assertEqual(found["records"], self.count("select count(*) from records"))
        self.assertEqual(found["by_kind"]["closings"], GENERATIONS)
        self.assertEqual(sum(found["by_kind"].values()), found["decisions"])
        self.assertIn(f"all {found['decisions']} decisions equal", text)
        self.assertIn(f"digest {found['digest']}\n", text)

    def test_a_run_that_goes_on_is_verified_as_far_as_it_is(self):
        run = self.start("run", self.write_experiment(duration="20ms"), "--slots", "2")
        self.await_evaluations(10, run)
        self.assertIn("decisions equal", self.replay("--verify").out)
        run.kill()
        self.assert_nothing_left()
        self.assertIn("decisions equal", self.replay("--verify").out)

    def test_every_strategy_and_order_of_telling(self):
        for number, lines in enumerate(('strategy = "random"', 'strategy = "regularised"\ntell_order = "asked"',
                                        'strategy = "regularised"\ntell_order = "arrived"')):
            file = self.write_experiment(population=8, generations=4, duration="1ms", name=f"toy{number}")
            file.write_text(file.read_text().replace("[evolution]\n", f"[evolution]\n{lines}\n"))
            self.finish("run", file, "--slots", "2")
            self.assertIn("decisions equal", self.finish("replay", f"toy{number}", "--verify").out)


class Falsified(ReplayTest):
    falsifies_runs = True

    def test_a_decision_is_named_with_both_sides(self):
        self.make_run()
        record = self.falsify(lambda payload: payload.replace(b"sampled", b"guessed"),
                              lambda kind, payload: kind == 2 and b"sampled" in payload)
        text = self.replay("--verify", status=1).out
        for part in (f"record {record} differs: born #1", "stored      origin: guessed", "made again  origin: sampled"):
            self.assertIn(part, text)
        found = json.loads(self.replay("--verify", "--json", status=1).out)
        self.assertFalse(found["equal"])
        self.assertEqual(found["difference"]["sequence"], record)
        self.assertEqual((found["difference"]["stored"], found["difference"]["made"]),
                         ("origin: guessed", "origin: sampled"))

    def test_a_training_is_told_from_the_stored_one(self):
        self.make_run()
        best = self.count("select best from progress")
        weights = self.count("select weights_hash from evaluations where id = ?", best)
        coded = struct.pack(">q", weights)
        self.falsify(lambda payload: payload.replace(coded, coded[:-1] + bytes([coded[-1] ^ 1])),
                     lambda kind, payload: kind == 3 and coded in payload)
        self.assertIn(f"#{best}: differs in 2 epochs, other weights\n", self.replay("--retrain", best, status=1).out)
        self.assertIn(f"#{best}: differs", self.replay("--retrain", "champion", status=1).out)
        self.assertIn(f"#{best}: differs", self.replay("--retrain", "all", status=1).out)

    def test_a_store_that_is_damaged_or_newer_is_refused(self):
        file = self.make_run() / "run.db"
        for words in (("--verify",), ("--retrain", "all")):
            with self.subTest(words):
                whole = file.read_bytes()
                with contextlib.closing(sqlite3.connect(file)) as store:
                    store.execute("update records set checksum = 1 where sequence = 9")
                    store.commit()
                    store.execute("pragma wal_checkpoint(truncate)")
                self.assertIn("record 9", self.replay(*words, status=2).err)
                with contextlib.closing(sqlite3.connect(file)) as store:
                    store.execute("pragma user_version = 1000")
                    store.execute("pragma wal_checkpoint(truncate)")
                self.assertIn("newer", self.replay(*words, status=2).err)
                file.write_bytes(whole)


class Retraining(ReplayTest):
    def test_all_of_a_synthetic_run_is_equal(self):
        self.make_run()
        text = self.replay("--retrain", "all").out
        trained = self.count("select count(*) from evaluations where equal_to is null")
        self.assertEqual(text.count(": equal, "), trained)
        self.assertIn(f"all {trained} trained again on cpu equal", text)
        lines = [json.loads(line) for line in self.replay("--retrain", "all", "--json").out.splitlines()]
        self.assertEqual([line["equal"] for line in lines], [True] * trained)

    def test_one_and_the_champion(self):
        self.make_run()
        self.assertIn("#3: equal", self.replay("--retrain", "3").out)
        champion = self.count("select champion from progress")
        self.assertIn(f"#{champion}: equal, 2 epochs", self.replay("--retrain", "champion").out)

    def test_what_cannot_be_trained_is_refused(self):
        self.make_run(misbehaviour="crash = 0.1")
        crashed = self.count("select id from evaluations where outcome = 'crashed'")
        self.assertIn("crashed", self.replay("--retrain", crashed, status=2).err)
        self.assertIn("no candidate", self.replay("--retrain", "1000", status=2).err)
        self.assertIn("champion or all", self.replay("--retrain", "best", status=2).err)
        self.assertIn("nothing can be trained", self.replay("--retrain", "all", "--slots", "none", status=2).err)
        self.assertIn("--verify", self.replay(status=2).err)
        self.assertIn("no run", self.finish("replay", "elsewhere", "--verify", status=2).err)


class Networks(ReplayTest):
    @unittest.skipUnless(HAS_TORCH, "this build has no LibTorch")
    def test_networks_are_trained_again_bit_for_bit(self):
        experiment = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "iris.toml"
        self.finish("run", experiment, "--slots", "2", "--set", "evolution.population=4", "--set",
                    "evolution.elites=2", "--set", "evolution.generations=2")
        trained = self.count("select count(*) from evaluations where outcome = 'succeeded' and equal_to is null")
        self.assertIn(f"all {trained} trained again on cpu equal", self.replay("--retrain", "all").out)


if __name__ == "__main__":
    unittest.main()
