"""A store that cannot be written, or must not be: a sentence, an exit status that says whose fault it is, and nothing
lost."""

import contextlib
import os
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


class RefusedStore(StoreTest):
    def stop_a_run(self):
        run = self.start("run", self.write_experiment(), "--slots", "2")
        self.await_evaluations(20, run)
        run.kill()
        self.assert_nothing_left()
        # What was in the log goes to the file, which is then compared byte by byte.
        with contextlib.closing(sqlite3.connect(self.run_folder() / "run.db")) as store:
            store.execute("pragma wal_checkpoint(truncate)")
        return self.run_folder() / "run.db"

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
        (payload,), = self.query("select payload from records where sequence = 21")
        content = file.read_bytes()
        self.assertEqual(content.count(payload[:60]), 1)
        at = content.index(payload[:60]) + 30
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
        self.assert_refused(file, "record 21", "damaged")

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
        self.assert_refused(file)

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


class UnwritablePlace(StoreTest):
    def test_a_place_for_runs_that_is_a_file(self):
        self.runs.write_text("not a folder")
        run = self.finish("run", self.write_experiment(), status=1)
        self.assert_one_line(run, str(self.runs))


if __name__ == "__main__":
    unittest.main()
