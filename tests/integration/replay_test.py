"""Stored runs, made again: every decision, every training, and what is said of records that were falsified by somebody
who knows how their checksums are made."""

import contextlib
import ctypes
import gzip
import json
import pathlib
import shutil
import sqlite3
import struct
import subprocess
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
        for number, strategy in enumerate(('"random"', '"auto"', '"regularized"\ntell_order = "asked"',
                                           '"regularized"\ntell_order = "arrived"')):
            file = self.write_experiment(population=8, generations=4, duration="1ms", name=f"toy{number}",
                                         strategy=strategy)
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


class Playback(ReplayTest):
    def events(self, *words):
        return [json.loads(line) for line in self.replay("--json", *words).out.splitlines()]

    def test_every_record_comes_as_it_came(self):
        self.make_run()
        came = self.events("--speed", "inf")
        self.assertEqual(came[0]["event"], "picture")
        self.assertEqual(came[0]["showing"], "replay")
        self.assertEqual([e["sequence"] for e in came if "sequence" in e and e["event"] != "picture"],
                         [row[0] for row in self.query("select sequence from records where kind <> 1 order by sequence")])
        self.assertEqual(came[-1]["showing"], "finished")
        self.assertEqual(came[-1]["digest"], self.digest())

    def test_from_a_generation_to_another(self):
        self.make_run()
        came = self.events("--speed", "inf", "--from", "1", "--to", "2")
        self.assertEqual({e["generation"] for e in came if e["event"] == "born"}, {1, 2})
        self.assertEqual([e["generation"] for e in came if e["event"] == "generation"], [1, 2])
        self.assertEqual([g["generation"] for g in came[0]["generations"]], [0])

    def test_step_by_step_it_waits_for_the_person(self):
        self.make_run()
        # Nobody is there to press Enter.
        self.assertEqual([e["generation"] for e in self.events("--step") if e["event"] == "generation"], [0])

    def test_what_is_no_speed_is_refused(self):
        self.make_run()
        for speed in ("0", "-1", "fast"):
            self.assertIn("no speed", self.replay("--speed", speed, status=2).err)


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
        self.assertIn("no terminal", self.replay(status=2).err)
        for words in (("--verify", "--retrain", "1"), ("--verify", "--as", "x"), ("--slots", "cpu:1", "--verify")):
            self.assertIn("clade replay --help", self.replay(*words, status=2).err)
        self.assertIn("no run", self.finish("replay", "elsewhere", "--verify", status=2).err)


@unittest.skipUnless(HAS_TORCH, "this build has no LibTorch")
class Networks(ReplayTest):
    def evolve(self):
        experiment = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "iris.toml"
        self.finish("run", experiment, "--slots", "2", "--set", "evolution.population=4", "--set",
                    "evolution.elites=2", "--set", "evolution.generations=2")

    def test_a_fork_with_another_seed_keeps_the_split_and_takes_other_training(self):
        self.evolve()
        words = ("replay", "iris", "--from", 1, "--as", "fork", "--change", "experiment.seed=9", "--change",
                 "training.epochs=3")
        best = self.count("select best from generations where generation = 0")
        kept = self.count("select count(*) from weights where id = ?", best) == 1
        forked = self.finish(*words)
        self.assertEqual(f"#{best}, the best so far, has no weights" in forked.out, not kept)
        self.finish("resume", "fork", "--slots", "2")
        self.assertIn("decisions equal", self.finish("replay", "fork", "--verify").out)
        self.assertIn(" equal, ", self.finish("replay", "fork", "--retrain", "all").out)
        last = json.loads(self.finish("show", "fork", "--genome", 8, "--json").out)
        self.assertLessEqual(len(last["evaluation"]["curve"]), 3)
        fork = next(f for f in self.runs.iterdir() if f.name.startswith("fork-"))
        with contextlib.closing(sqlite3.connect(fork / "run.db")) as store:
            (experiment,), = store.execute("select experiment from runs")
        self.assertIn("seed = 9\n", experiment)
        self.assertIn("limit = 0\nseed = 1\n", experiment)

    def test_a_program_without_libtorch_says_so(self):
        self.evolve()
        alone = self.folder / "clade"
        shutil.copy(CLADE, alone)
        words = [alone, "replay", self.run_folder(), "--retrain", "all"]
        refused = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual((refused.returncode, refused.stdout, refused.stderr.count("\n")), (2, "", 1))
        self.assertIn("LibTorch", refused.stderr)

    def test_networks_are_trained_again_bit_for_bit(self):
        self.evolve()
        trained = self.count("select count(*) from evaluations where outcome = 'succeeded' and equal_to is null")
        self.assertIn(f"all {trained} trained again on cpu equal", self.replay("--retrain", "all").out)


class Forks(ReplayTest):
    def fork(self, origin, generation, name, *changes, status=0):
        words = [word for change in changes for word in ("--change", change)]
        command = self.finish("replay", origin, "--from", generation, "--as", name, *words, status=status)
        if status == 2:
            self.assertEqual((command.err.count("\n"), command.out), (1, ""), command.said())
            self.assertEqual([f.name for f in self.runs.iterdir() if f.name.startswith(name + "-")], [])
        return command

    def folder_of(self, name):
        found = [f for f in self.runs.iterdir() if f.name.startswith(name + "-")]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def go_on(self, name):
        """To its end; returns what `clade show` says of it."""
        self.finish("resume", name, "--slots", "2")
        shown = json.loads(self.finish("show", name, "--json").out)
        self.assertEqual(shown["state"], "finished")
        self.assertIn("decisions equal", self.finish("replay", name, "--verify").out)
        self.finish("check", name)
        return shown

    def test_a_run_goes_on_with_another_population_or_seed_or_training(self):
        origin = self.make_run()
        before = (origin / "run.db").read_bytes()
        for name, change, candidates in (("wide", "evolution.population=12", 2 * POPULATION + 2 * 12),
                                         ("seven", "experiment.seed=9", 4 * POPULATION),
                                         ("long", "synthetic.epochs=5", 4 * POPULATION),
                                         ("more", "evolution.generations=6", 6 * POPULATION)):
            forked = self.fork(origin, 2, name, change)
            self.assertIn(f"clade resume {name}\n", forked.out)
            self.assertIn(str(self.folder_of(name)), forked.out)
            shown = self.go_on(name)
            self.assertEqual(shown["born"], candidates, name)
            self.assertEqual(shown["forked_from"], f"{origin.name} at generation 2: {change}")
            self.assertIn(f"forked from {origin.name} at generation 2: {change}", self.finish("show", name).out)
        self.assertEqual((origin / "run.db").read_bytes(), before)
        long = self.finish("show", "long", "--genome", 4 * POPULATION, "--json")
        self.assertEqual(len(json.loads(long.out)["evaluation"]["curve"]), 5)
        self.assertIn("equal", self.finish("replay", "long", "--retrain", "all").out)

    def test_one_without_a_change_does_what_its_origin_did(self):
        origin = self.make_run()
        for generation in range(GENERATIONS):
            self.fork(origin, generation, f"same{generation}")
            self.go_on(f"same{generation}")
            genomes = [self.genomes_of(folder) for folder in (origin, self.folder_of(f"same{generation}"))]
            self.assertEqual(genomes[0], genomes[1])

    @staticmethod
    def genomes_of(folder):
        with contextlib.closing(sqlite3.connect(f"file:{folder}/run.db?mode=ro", uri=True)) as store:
            return store.execute("select id, generation, place, network, origin, fitness, weights_hash "
                                 "from genomes join evaluations using (id) order by id").fetchall()

    def test_forks_of_forks_and_of_a_run_that_stopped(self):
        run = self.start("run", self.write_experiment(duration="10ms"), "--slots", "2")
        self.await_count("select count(*) from generations where closed_ms is not null", 2, run)
        run.kill()
        self.assert_nothing_left()
        origin = self.run_folder()
        self.fork(origin, 1, "one", "evolution.population=6")
        self.go_on("one")
        self.fork("one", 3, "two", "experiment.seed=9", "evolution.population=20", "evolution.generations=5")
        self.assertEqual(self.go_on("two")["born"], 16 + 2 * 6 + 2 * 20)
        self.fork("two", 1, "three", "evolution.population=5")
        self.assertEqual(self.go_on("three")["born"], 16 + 3 * 5)

    def test_a_steady_state_is_forked(self):
        for order in ("asked", "arrived"):
            file = self.write_experiment(population=8, generations=4, duration="1ms", name=order,
                                         strategy=f'"regularized"\ntell_order = "{order}"')
            self.finish("run", file, "--slots", "2")
            self.fork(order, 2, f"more-{order}", "evolution.population=10", "experiment.seed=3")
            self.assertEqual(self.go_on(f"more-{order}")["born"], 2 * 8 + 2 * 10)

    def test_what_a_fork_cannot_have_is_refused(self):
        origin = self.make_run()
        for change, word in (("evolution.strategy=random", "evolution.strategy"), ("data.shape=[1, 4, 4]", "data"),
                             ("objective.maximize=[\"validation.loss\"]", "objective"),
                             ("evolution.generations=2", "evolution.generations"),
                             ("evolution.poplation=3", "population"),
                             ("search_space.limits.parameters=10", "max_parameters"), ("experiment.name=x", "--as")):
            self.assertIn(word, self.fork(origin, 2, "no", change, status=2).err, change)
        self.assertIn("from 0 to 4", self.fork(origin, 5, "no", status=2).err)
        self.assertIn("name", self.fork(origin, 2, "n o", status=2).err)
        self.assertIn("--from", self.finish("replay", origin, "--as", "no", status=2).err)
        self.finish("replay", origin, "--change", "experiment.seed=2", status=2)


class EarlierVersions(ReplayTest):
    """`stores` has a store of each earlier version of the schema, made by a program of that time: a search of 6 x 4
    candidates that was interrupted after 18, and ends with this digest."""

    STOPPED = "6e018814d09431c6d078b02dc848431b of 39 records"
    FINISHED = "529e3aad0e6cb490d5888aa93c85f345 of 54 records"
    STORES = sorted((pathlib.Path(__file__).resolve().parent / "stores").glob("version-*.db.gz"))

    def each(self):
        """The folder of a run of each, and its version."""
        self.assertNotEqual(self.STORES, [])
        for packed in self.STORES:
            folder = self.runs / "earlier-20260101-120000"
            folder.mkdir(parents=True)
            (folder / "run.db").write_bytes(gzip.decompress(packed.read_bytes()))
            yield folder, int(packed.name.removeprefix("version-").removesuffix(".db.gz"))
            shutil.rmtree(self.runs)

    def goes_on(self, folder):
        self.finish("check", folder)
        self.finish("resume", folder, "--slots", "2")
        self.assertIn(self.FINISHED, self.finish("show", folder, "--json").out)
        self.assertIn("decisions equal", self.finish("replay", folder, "--verify").out)

    def test_a_store_of_each_is_read_as_it_is(self):
        for folder, _ in self.each():
            before = (folder / "run.db").read_bytes()
            self.assertEqual(self.digest(), self.STOPPED)
            self.assertIn("interrupted", self.finish("show", folder).out)
            self.assertEqual(len(self.show("--generation", "1")["candidates"]), 6)
            self.finish("check", folder)
            self.assertIn('"evaluated":18', self.finish("attach", folder, "--json").out)
            self.assertIn("decisions equal", self.replay("--verify").out)
            self.assertIn("trained again on cpu equal", self.replay("--retrain", "all").out)
            self.finish("replay", folder, "--from", 1, "--as", "fork")
            self.finish("resume", "fork", "--slots", "2")
            self.assertEqual((folder / "run.db").read_bytes(), before)

    def test_a_copy_of_each_goes_on_and_the_run_stays_as_it_was(self):
        for folder, version in self.each():
            before = (folder / "run.db").read_bytes()
            refused = self.finish("resume", folder, "--slots", "2", status=2)
            self.assertIn(f"(schema {version}; ", refused.err)
            self.assertIn(f"clade upgrade {folder}", refused.err)
            said = self.finish("upgrade", folder).out
            copy = self.runs / "earlier-upgraded-20260101-120000"
            self.assertIn(f"{copy}/run.db: a copy", said)
            self.assertEqual((folder / "run.db").read_bytes(), before)
            self.assertEqual(copy.stat().st_mode, folder.stat().st_mode)
            self.assertIn("there already", self.finish("upgrade", folder, status=2).err)
            self.assertIn("nothing to upgrade", self.finish("upgrade", copy).out)
            self.goes_on(copy)

    def test_each_goes_on_that_is_upgraded_in_place(self):
        for folder, version in self.each():
            said = self.finish("upgrade", folder, "--in-place").out
            self.assertIn(f"upgraded from schema {version} to schema ", said)
            self.goes_on(folder)


if __name__ == "__main__":
    unittest.main()
