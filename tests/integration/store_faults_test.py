"""A store that cannot be written, or must not be: a sentence, an exit status that says whose fault it is, and nothing
lost."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import unittest

from live_runs import RunTest

POPULATION, GENERATIONS = 16, 6


class StoreTest(RunTest):
    def write_experiment(self, **changes):
        return super().write_experiment(**{"population": POPULATION, "generations": GENERATIONS, **changes})

    def assert_one_line(self, command, *parts):
        self.assertEqual(command.err.count("\n"), 1, command.err)
        for part in parts:
            self.assertIn(part, command.err)


class FullDisk(StoreTest):
    def assert_resumes(self, file):
        self.assertLess(self.count("select evaluated from progress"), POPULATION * GENERATIONS)
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(POPULATION * GENERATIONS)
        self.assert_undisturbed(file)

    def test_a_limit_on_the_size_of_files(self):
        file = self.write_experiment()
        run = self.start("run", file, "--slots", "2", file_size=160_000)
        self.assertEqual(run.end(), 1, run.said())
        self.assert_one_line(run, str(self.run_folder() / "run.db"))
        self.assert_nothing_left()
        self.assert_resumes(file)

    def test_a_file_system_without_room(self):
        self.runs.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "clade-test", self.runs]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("only who may mount a file system can have a small one")
        try:
            file = self.write_experiment()
            run = self.start("run", file, "--slots", "2")
            self.assertEqual(run.end(), 1, run.said())
            self.assert_one_line(run, str(self.run_folder() / "run.db"))
            self.assert_nothing_left()
            again = self.start("resume", self.run_folder())
            self.assertEqual(again.end(), 1, again.said())
            self.assert_one_line(again)
            subprocess.run(["mount", "-o", "remount,size=10m", self.runs], check=True)
            self.finish("resume", self.run_folder(), "--slots", "2")
            self.assert_whole(POPULATION * GENERATIONS)
        finally:
            for command in self.commands:
                command.kill()
            self.assert_nothing_left()
            subprocess.run(["umount", self.runs], check=True)


    def test_one_without_room_for_the_first_page(self):
        self.runs.mkdir()
        for size in ("60k", "100k"):
            mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "clade-test", self.runs]
            if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
                self.skipTest("only who may mount a file system can have a small one")
            try:
                run = self.start("run", self.write_experiment(), "--slots", "2")
                self.assertEqual(run.end(), 1, run.said())
                self.assert_one_line(run, "disk full", "start it again")
                self.assertEqual(list(self.runs.iterdir()), [], "what cannot be resumed was left")
            finally:
                subprocess.run(["umount", self.runs], check=True)


class FailingDisk(StoreTest):
    def assert_stops_and_resumes(self, kind, call):
        file = self.write_experiment()
        run = self.start("run", file, "--slots", "2", environment={
            "LD_PRELOAD": os.environ["CLADE_FAILING_DISK"], "CLADE_TEST_FAIL": kind, "CLADE_TEST_FAIL_AT": str(call)})
        self.assertEqual(run.end(), 1, run.said())
        self.assert_one_line(run, str(self.run_folder() / "run.db"), "clade resume")
        self.assert_nothing_left()
        self.finish("check", self.run_folder())
        evaluated = self.count("select evaluated from progress")
        self.assertEqual(self.count("select count(*) from records where kind = 3"), evaluated)
        self.assertGreater(evaluated, 0)
        self.assertLess(evaluated, POPULATION * GENERATIONS)
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(POPULATION * GENERATIONS)
        self.finish("check", self.run_folder())
        self.assert_undisturbed(file)

    def test_writes(self):
        self.assert_stops_and_resumes("write", 400)

    def test_syncs(self):
        self.assert_stops_and_resumes("sync", 40)


class DamagedStore(StoreTest):
    def stop_a_run(self, evaluations=20):
        self.experiment = self.write_experiment()
        run = self.start("run", self.experiment, "--slots", "2")
        self.await_evaluations(evaluations, run)
        run.kill()
        self.assert_nothing_left()
        # The records that were in the log go to the file, which is then compared byte by byte.
        with contextlib.closing(sqlite3.connect(self.run_folder() / "run.db")) as store:
            store.execute("pragma wal_checkpoint(truncate)")
        return self.run_folder() / "run.db"

    def flip(self, file, payload_of):
        """Changes a byte within a record's payload."""
        (payload,), = self.query("select payload from records where sequence = ?", payload_of)
        content = file.read_bytes()
        self.assertEqual(content.count(payload[:60]), 1)
        at = content.index(payload[:60]) + 30
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])


class RefusedStore(DamagedStore):
    falsifies_runs = True

    def assert_refused(self, file, *parts):
        before = file.read_bytes(), sorted(file.parent.rglob("*"))
        for command in ("resume", "show"):
            refused = self.finish(command, file.parent, *(("--json",) if command == "show" else ()), status=2)
            self.assert_one_line(refused, str(file), *parts)
        self.assertEqual(file.read_bytes(), before[0], "the store was written")
        extra = set(file.parent.rglob("*")) - set(before[1])
        self.assertLessEqual({f.name for f in extra}, {"run.db-wal", "run.db-shm"})

    def test_one_with_a_changed_byte_in_a_record(self):
        file = self.stop_a_run()
        self.flip(file, 21)
        self.assert_refused(file, "record 21", "damaged", f"clade check {file.parent}")

    def test_one_that_lacks_its_last_records(self):
        file = self.stop_a_run()
        with contextlib.closing(sqlite3.connect(file)) as store:
            store.execute("delete from records where sequence > 30")
            store.commit()
            store.execute("pragma wal_checkpoint(truncate)")
        self.assert_refused(file, "record 31", "damaged")

    def test_one_that_is_no_store(self):
        file = self.stop_a_run()
        file.write_bytes(b"this is no database, but it is long enough to be one" * 100)
        self.assert_refused(file)

    def test_one_that_is_cut_off(self):
        file = self.stop_a_run()
        file.write_bytes(file.read_bytes()[:50_000])
        self.assert_refused(file, f"clade check {file.parent}")

    def test_one_of_a_newer_version(self):
        file = self.stop_a_run()
        with contextlib.closing(sqlite3.connect(file)) as store:
            version, = store.execute("pragma user_version").fetchone()
            store.execute(f"pragma user_version = {version + 1}")
            store.commit()
            store.execute("pragma wal_checkpoint(truncate)")
        self.assert_refused(file, "newer")

    def test_one_that_is_open_in_another_run(self):
        experiment = self.write_experiment(duration="30ms")
        run = self.start("run", experiment, "--slots", "2")
        self.await_evaluations(10, run)
        worker = self.worker(run)
        refused = self.finish("resume", self.run_folder(), status=2)
        self.assert_one_line(refused, "open in another run", str(run.pid))
        self.assertEqual(self.worker(run).pid, worker.pid)
        self.finish("show", self.run_folder())
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(POPULATION * GENERATIONS)
        self.assert_undisturbed(experiment)


class LostLog(DamagedStore):
    falsifies_runs = True

    def start_a_run(self):
        run = self.start("run", self.write_experiment(duration="20ms"), "--slots", "2")
        self.await_evaluations(5, run)
        return run

    def assert_told(self, folder, *parts):
        for command in ("check", "resume"):
            refused = self.finish(command, folder, status=2)
            self.assert_one_line(refused, str(folder / "run.db"), "holds no record", "run.db-wal", *parts)
            self.assertNotIn("resumes", refused.out)
        self.finish("check", folder, "--json", status=2)

    def test_a_run_whose_log_is_gone(self):
        self.start_a_run().kill()
        self.assert_nothing_left()
        (self.run_folder() / "run.db-wal").unlink()
        self.assert_told(self.run_folder(), "head.log")

    def test_a_store_that_was_copied_alone_from_a_live_run(self):
        run = self.start_a_run()
        copy = self.folder / "copy"
        copy.mkdir()
        shutil.copy(self.run_folder() / "run.db", copy)
        self.assert_told(copy, "copied without its log")
        run.interrupt()
        run.end()


class Repairs(DamagedStore):
    def assert_repaired(self, file, whole=None):
        damaged = file.read_bytes()
        checked = self.finish("check", file.parent, status=2)
        self.assert_one_line(checked, f"clade check {file.parent} --repair")
        found = json.loads(self.finish("check", file.parent, "--json", status=2).out)
        self.assertFalse(found["whole"])
        if whole is not None:
            self.assertEqual(found["records"], whole)
        self.assertEqual(file.read_bytes(), damaged, "the store was written")
        repaired = self.finish("check", file.parent, "--repair")
        self.assertIn(f"clade resume {file.parent}", repaired.out)
        self.assertEqual((file.parent / "run.db.damaged").read_bytes(), damaged)
        self.assertEqual(self.count("select count(*) from records"), found["records"])
        self.finish("check", file.parent)
        self.finish("resume", file.parent, "--slots", "2")
        self.assert_whole(POPULATION * GENERATIONS)
        self.finish("check", file.parent)
        self.assert_undisturbed(self.experiment)
        return found

    def test_a_changed_byte_in_a_record(self):
        file = self.stop_a_run()
        self.flip(file, 21)
        self.assertIn("record 21", self.assert_repaired(file, whole=20)["record_fault"])

    def test_a_store_that_is_cut_off(self):
        file = self.stop_a_run(evaluations=60)
        file.write_bytes(file.read_bytes()[:-10_000])
        self.assertGreater(self.assert_repaired(file)["records"], 0)

    def test_a_table_that_is_not_what_the_records_say(self):
        file = self.stop_a_run()
        with contextlib.closing(sqlite3.connect(file)) as store:
            store.execute("update evaluations set fitness = 2 where id = 3")
            store.commit()
            store.execute("pragma wal_checkpoint(truncate)")
        self.assertIn("evaluations", self.assert_repaired(file)["table_fault"])

    def test_one_that_is_open_in_another_run(self):
        run = self.start("run", self.write_experiment(duration="30ms"), "--slots", "2")
        self.await_evaluations(10, run)
        self.finish("check", self.run_folder())
        refused = self.finish("check", self.run_folder(), "--repair", status=2)
        self.assert_one_line(refused, "open in another run", str(run.pid))
        self.assertEqual(run.end(), 0, run.said())
        self.finish("check", self.run_folder())


class UnwritablePlace(StoreTest):
    def test_a_place_for_runs_that_is_a_file(self):
        self.runs.write_text("not a folder")
        run = self.finish("run", self.write_experiment(), status=1)
        self.assert_one_line(run, str(self.runs))

    def test_a_process_that_may_have_too_little(self):
        for limits, part in (({"descriptors": 20}, "ulimit -n"), ({"address_space": 500 << 20}, "ulimit -v")):
            run = self.start("run", self.write_experiment(), **limits)
            self.assertEqual(run.end(), 1, run.said())
            self.assert_one_line(run, part)
        self.assertFalse(self.runs.exists() and any(self.runs.iterdir()))


if __name__ == "__main__":
    unittest.main()
