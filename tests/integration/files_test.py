"""The output of a command goes where it was told, and only there: devices, links and FIFOs stay what they are,
output that cannot be written is told, streams that are closed are not taken for files, and a store has one lock by
all its names."""

import contextlib
import os
import pathlib
import pty
import shutil
import signal
import stat
import subprocess
import threading
import unittest

from live_runs import CLADE, PATIENCE_S, RunTest, await_true


class FilesTest(RunTest):
    def finish_a_run(self, **changes):
        self.file = self.write_experiment(**{"population": 4, "generations": 2, **changes})
        self.finish("run", self.file, "--slots", "2")
        return self.run_folder()

    def assert_one_line(self, command, status, *parts):
        self.assertEqual(command.end(), status, command.said())
        self.assertRegex(command.err, r"^clade: [^\n]+\n$")
        for part in parts:
            self.assertIn(part, command.err)


def read_in_thread(file):
    """Returns a function that waits for all that is in a FIFO, which is opened in a thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(pathlib.Path(file).read_text()))
    thread.start()

    def content():
        thread.join(PATIENCE_S)
        return found[0]
    return content


def pending(pid):
    """The signals that a process has not taken yet."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("ShdPnd:"):
            mask = int(line.split()[1], 16)
            return {number for number in range(1, 65) if mask & 1 << number - 1}
    raise AssertionError("no pending signals in /proc")


class Outputs(FilesTest):
    def setUp(self):
        super().setUp()
        run = self.finish_a_run()
        data = self.folder / "some.csv"
        data.write_text("a,b,kind\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(40)))
        # Each way to name a file for output that needs no trained network, and what begins it.
        self.writers = {
            "report": (["report", run, "--output"], "<!DOCTYPE html>"),
            "markdown": (["report", run, "--md", "--output"], "# "),
            "csv": (["export", run, "--csv"], "id,"),
            "new": (["new", data, "--target", "kind", "--force", "--output"], ""),
        }

    def test_links_are_followed(self):
        for name, (words, begin) in self.writers.items():
            with self.subTest(name):
                there, link = self.folder / f"{name}.there", self.folder / f"{name}.toml"
                there.write_text("what was there")
                link.symlink_to(there)
                self.finish(*words, link)
                self.assertTrue(link.is_symlink())
                self.assertTrue(there.read_text().startswith(begin))
                self.assertNotIn("what was there", there.read_text())

    def test_a_device_stays_a_device(self):
        for name, (words, _) in self.writers.items():
            with self.subTest(name):
                device = self.folder / f"{name}-full.toml"
                try:
                    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
                except PermissionError:
                    device.symlink_to("/dev/full")
                before = os.lstat(device)
                self.assert_one_line(self.start(*words, device, out=subprocess.DEVNULL), 1, str(device),
                                     "No space left on device")
                self.assertEqual((os.lstat(device).st_mode, os.lstat(device).st_rdev), (before.st_mode, before.st_rdev))
                self.assertEqual([f for f in self.folder.iterdir() if f.name.startswith(".clade")], [])

    def test_the_null_device_takes_all_and_stays(self):
        for name in ("report", "markdown", "csv"):
            self.finish(*self.writers[name][0], "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.lstat("/dev/null").st_mode))
        self.assertEqual(os.stat("/dev/null").st_rdev, os.makedev(1, 3))

    def test_a_fifo_is_waited_for_and_read_whole(self):
        for name in ("report", "markdown", "csv"):
            with self.subTest(name):
                words, begin = self.writers[name]
                fifo, file = self.folder / f"{name}.fifo", self.folder / f"{name}.file"
                os.mkfifo(fifo)
                writer = self.start(*words, fifo)
                await_true(lambda: f"waiting until somebody reads {fifo}\n" in writer.err, "it does not say so")
                content = read_in_thread(fifo)
                self.assertEqual(writer.end(), 0, writer.said())
                self.finish(*words, file)
                self.assertEqual(content(), file.read_text())
                self.assertTrue(content().startswith(begin))
                self.assertTrue(fifo.is_fifo())

    def test_a_fifo_that_is_read_is_not_waited_for(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            wrote = self.finish(*self.writers["csv"][0], fifo)
            self.assertEqual(wrote.err, "")
            self.assertTrue(os.read(reader, 100).startswith(b"id,"))
        finally:
            os.close(reader)

    def test_standard_output_by_name_is_added_to(self):
        for name in ("report", "markdown", "csv"):
            with self.subTest(name):
                words, _ = self.writers[name]
                self.finish(*words, self.folder / "alone")
                together = self.folder / "together"
                together.write_text("what was there\n")
                with open(together, "a") as out:
                    command = self.start(*words, "/dev/stdout", out=out)
                self.assertEqual(command.end(), 0, command.err)
                self.assertEqual(together.read_text(), "what was there\n" + (self.folder / "alone").read_text())
                self.assertEqual(command.err.count("\n"), 1, "it does not say where it went")

    def test_into_a_pipe_that_a_shell_names(self):
        words = " ".join(f"'{word}'" for word in [CLADE, *self.writers["csv"][0]])
        done = subprocess.run(["bash", "-c", f"{words} >(cat >piped; echo done >over) && until [ -s over ]; do :; done"],
                              cwd=self.folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.finish(*self.writers["csv"][0], self.folder / "alone")
        self.assertEqual((self.folder / "piped").read_text(), (self.folder / "alone").read_text())

    def test_what_a_run_has_recorded_is_not_written_over(self):
        run = self.run_folder()
        shutil.copy(run / "run.db", self.folder / "copy.db")
        (self.folder / "link.html").symlink_to(run / "run.db")
        for name, (words, _) in self.writers.items():
            for file in (run / "run.db", run / "run.db.lock", self.folder / "copy.db", self.folder / "link.html"):
                with self.subTest(f"{name} {file.name}"):
                    before = file.read_bytes()
                    self.assert_one_line(self.start(*words, file, out=subprocess.DEVNULL), 2, str(file), "store")
                    self.assertEqual(file.read_bytes(), before)
        self.finish("check", run)

    def test_a_command_that_is_killed_leaves_nothing(self):
        place = self.folder / "place"
        place.mkdir()
        (place / "x").write_text("what was there")
        for _ in range(8):
            writer = self.start(*self.writers["report"][0], place / "x")
            await_true(lambda: not writer.running or self.has_open(writer.pid, place), "it never opens its file")
            writer.terminate()
            writer.end()
            self.assertEqual([f.name for f in place.iterdir()], ["x"])

    @staticmethod
    def has_open(pid, place):
        with contextlib.suppress(OSError):
            return any(str(place) in os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())
        return False

    def test_a_file_without_room_keeps_what_it_had(self):
        place = self.folder / "small"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "clade-test", place]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("only who may mount a file system can have a small one")
        try:
            (place / "x.html").write_text("what was there")
            self.assert_one_line(self.start("report", self.run_folder(), "--output", place / "x.html"), 1,
                                 "No space left on device")
            self.assertEqual([f.name for f in place.iterdir()], ["x.html"])
            self.assertEqual((place / "x.html").read_text(), "what was there")
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            self.assert_one_line(self.start("report", self.run_folder(), "--output", place / "x.html"), 2,
                                 "Read-only file system")
        finally:
            subprocess.run(["umount", place], check=True)


class Keys(FilesTest):
    def test_a_folder_that_is_there_stays_as_open_as_it_is(self):
        place = self.folder / "home"
        place.mkdir()
        place.chmod(0o755)
        self.finish("keys", "new", place)
        self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o755)
        self.assertEqual(stat.S_IMODE((place / "authority").stat().st_mode), 0o700)
        self.finish("keys", "new", self.folder / "fresh")
        self.assertEqual(stat.S_IMODE((self.folder / "fresh").stat().st_mode), 0o700)

    def test_a_key_replaces_no_link(self):
        authority = self.folder / "keys" / "authority"
        authority.mkdir(parents=True)
        theirs = self.folder / "theirs"
        theirs.write_text("of value")
        (authority / "cert.pem").symlink_to(theirs)
        self.assert_one_line(self.start("keys", "new", self.folder / "keys"), 1, str(authority / "cert.pem"))
        self.assertEqual(theirs.read_text(), "of value")
        self.assertTrue((authority / "cert.pem").is_symlink())


class StandardOutput(FilesTest):
    def printing(self):
        run = self.finish_a_run()
        self.finish("run", self.file, "--slots", "2", "--seed", "8")
        one, two = sorted(self.runs.iterdir())
        self.assertIn(run, (one, two))
        yield from (["list"], ["list", "--json"], ["show", one], ["show", one, "--json"], ["show", one, "--genome", "1"],
                    ["show", one, "--generation", "0"], ["attach", one, "--json"], ["check", one],
                    ["check", one, "--json"], ["check", one, "--repair"], ["explain", one, "1"],
                    ["explain", one, "1", "--json"], ["plan", self.file], ["plan", self.file, "--json"],
                    ["diff", one, two], ["diff", one, two, "--json"], ["replay", one, "--json", "--speed", "inf"],
                    ["replay", one, "--verify"], ["report", one, "--output", "-"], ["report", one],
                    ["export", one, "--csv", self.folder / "x.csv"], ["note", one, "words"], ["tag", one, "word"],
                    ["upgrade", one], ["resume", one], ["keys", "new", self.folder / "keys"],
                    ["devices"], ["doctor", "--slots", "1"], ["help"], ["help", "run"], ["--help"], ["run", "--help"], ["--version"], ["version"],
                    ["completion", "bash"], ["attach", one, "--web"], ["attach", one, "--metrics", "0"])

    def test_what_cannot_be_printed_is_told(self):
        with open("/dev/full", "w") as full:
            for words in self.printing():
                with self.subTest(" ".join(map(str, words))):
                    self.assert_one_line(self.start(*words, out=full), 1, "standard output cannot be written",
                                         "No space left on device")

    def test_what_nobody_can_be_told_is_told_too(self):
        for words in self.printing():
            with self.subTest(" ".join(map(str, words))):
                self.assert_one_line(self.start(*words, closed=(1,)), 1, "standard output cannot be written",
                                     "Bad file descriptor")

    def test_one_line_alone_says_what_is_wrong(self):
        with open("/dev/full", "w") as full:
            self.assert_one_line(self.start("show", "nowhere", out=full), 2, "nowhere")

    def test_a_run_goes_on_and_says_so_at_its_end(self):
        for words in ([], ["--json"]):
            with open("/dev/full", "w") as full:
                self.file = self.write_experiment(population=4, generations=2)
                ended = self.start("run", self.file, "--slots", "2", *words, out=full)
            self.assert_one_line(ended, 1, "No space left on device", f"clade show {self.run_folder()}")
            self.assert_whole(8)
            self.assert_undisturbed(self.file)
            self.runs.rename(self.folder / f"runs{len(words)}")
            self.runs.mkdir()

    def test_a_run_that_is_interrupted_can_be_resumed_all_the_same(self):
        self.file = self.write_experiment(duration="30ms")
        with open("/dev/full", "w") as full:
            run = self.start("run", self.file, "--slots", "2", out=full)
        self.await_evaluations(3, run)
        run.interrupt()
        self.assert_one_line(run, 130, "standard output cannot be written")
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "interrupted")])
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_undisturbed(self.file)

    def test_a_reader_that_does_not_read_does_not_keep_a_run_from_stopping(self):
        self.file = self.write_experiment(duration="20ms", generations=40)
        read, write = os.pipe()
        try:
            os.set_blocking(write, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(write, b"x" * 4096)
            # There is room for what it says first, and for a few generations.
            os.read(read, 4096)
            os.write(write, b"x" * 3500)
            os.set_blocking(write, True)
            run = self.start("run", self.file, "--slots", "2", out=write)
            self.await_evaluations(16 * 12, run)
            run.terminate()
            self.assertEqual(run.end(), 130, run.said())
            self.assertRegex(run.err, r"^clade: SIGTERM: [^\n]+\nclade: [^\n]*standard output cannot be written[^\n]*\n$")
        finally:
            os.close(read)
            os.close(write)
        self.assert_nothing_left()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(16 * 40)

    def test_a_reader_that_has_enough_ends_it_as_always(self):
        run = self.finish_a_run()
        self.assertEqual(run, self.run_folder())
        read, write = os.pipe()
        os.close(read)
        try:
            self.assertEqual(self.start("show", run, out=write).end(), -signal.SIGPIPE)
        finally:
            os.close(write)


class ClosedStreams(FilesTest):
    def test_no_stream_becomes_a_file_of_the_run(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed):
                file = self.write_experiment(population=4, generations=2)
                run = self.start("run", file, "--slots", "2", closed=closed)
                self.assertEqual(run.end(), 1 if 1 in closed else 0, run.said())
                self.assertRegex((self.run_folder() / "run.db.lock").read_text(), r"^\d+\n$")
                for log in ("head.log", "worker.log"):
                    self.assertNotIn("generation   0", self.log(log))
                self.finish("check", self.run_folder())
                self.assert_whole(8)
                self.assert_undisturbed(file)
                for folder in (self.runs, self.folder / "disturbed"):
                    if folder.exists():
                        folder.rename(self.folder / f"{folder.name}{''.join(map(str, closed))}")

    def test_no_stream_becomes_what_is_exported(self):
        run = self.finish_a_run()
        self.finish("export", run, "--csv", self.folder / "whole.csv")
        for closed in ((0,), (2,), (0, 2), (0, 1, 2)):
            file = self.folder / f"{len(closed)}{closed[-1]}.csv"
            self.start("export", run, "--csv", file, closed=closed).end()
            self.assertEqual(file.read_text(), (self.folder / "whole.csv").read_text())


class OneLock(FilesTest):
    def refused_while_it_runs(self, *others):
        self.file = self.write_experiment(duration="100ms")
        run = self.start("run", self.file, "--slots", "2")
        self.await_evaluations(3, run)
        for other in others:
            refused = self.finish("resume", other(self.run_folder()), status=2)
            self.assertRegex(refused.err, rf"^clade: [^\n]*(open in another run, process {run.pid}|has another name too)[^\n]*\n$")
            self.assertEqual(refused.out, "", "it says that it resumes what it does not")
        self.assertEqual(run.end(), 0, run.said())
        (self.folder / "named" / "run.db").unlink(missing_ok=True)
        self.finish("check", self.run_folder())
        self.assert_undisturbed(self.file)

    def link_to_store(self, run):
        folder = self.folder / "linked"
        folder.mkdir()
        (folder / "run.db").symlink_to(run / "run.db")
        return folder

    def link_to_folder(self, run):
        (self.folder / "link").symlink_to(run)
        return self.folder / "link"

    def second_name(self, run):
        folder = self.folder / "named"
        folder.mkdir()
        os.link(run / "run.db", folder / "run.db")
        return folder

    def test_by_links_a_store_is_as_taken_as_by_its_name(self):
        self.refused_while_it_runs(lambda run: run, self.link_to_folder, self.link_to_store, self.second_name)


class ForeignFolders(FilesTest):
    falsifies_runs = True

    def test_a_run_of_another_user_is_told_from_none(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody else")
        run = self.finish_a_run()
        os.chmod(self.folder, 0o755)
        os.chmod(self.runs, 0o755)
        for words in (["show", run], ["show", "toy"], ["show", run / "run.db"], ["resume", run], ["attach", run, "--json"],
                      ["check", run], ["report", run], ["explain", run, "1"], ["export", run, "--csv", "/dev/null"],
                      ["list"], ["workers", run], ["replay", run, "--verify"], ["note", run, "x"]):
            with self.subTest(" ".join(map(str, words))):
                refused = self.start(*words, user=65534)
                self.assert_one_line(refused, 1, str(run))
                self.assertIn("permission denied", refused.err.lower())

    def test_nothing_is_written_through_links_that_came_with_a_run(self):
        self.file = self.write_experiment(duration="20ms")
        run = self.start("run", self.file, "--slots", "2")
        self.await_evaluations(3, run)
        run.kill()
        self.assert_nothing_left()
        theirs = self.folder / "theirs"
        for name in ("run.db.lock", "head.log", "worker.log", "address", "slots.json", "slots.json.new", "keys", "live"):
            with self.subTest(name):
                place = self.run_folder() / name
                kept = self.folder / f"kept-{name}"
                if place.exists():
                    place.rename(kept)
                theirs.write_text("of value")
                place.symlink_to(theirs)
                refused = self.finish("resume", self.run_folder(), status=2)
                self.assertIn(f"{place}: a link", refused.err)
                self.assertEqual(theirs.read_text(), "of value")
                place.unlink()
                os.mkfifo(place)
                self.finish("resume", self.run_folder(), status=2)
                place.unlink()
                if kept.exists():
                    kept.rename(place)
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_undisturbed(self.file)


class HangUp(FilesTest):
    def start_run(self):
        self.file = self.write_experiment(duration="40ms")
        run = self.start("run", self.file, "--slots", "2")
        self.await_evaluations(3, run)
        return run

    def assert_drained(self, run):
        self.assertEqual(run.end(), 130, run.said())
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "interrupted")])
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.assertIn(f"go on with: clade resume {self.run_folder()}", run.out)
        self.assertEqual(run.err, "")
        self.assert_nothing_left()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_undisturbed(self.file)

    def test_a_run_whose_terminal_goes_away_drains(self):
        run = self.start_run()
        run.process.send_signal(signal.SIGHUP)
        self.assert_drained(run)

    def test_a_terminal_that_says_so_more_than_once_is_no_second_interrupt(self):
        run = self.start_run()
        run.process.send_signal(signal.SIGHUP)
        while run.running:
            run.process.send_signal(signal.SIGHUP)
        self.assert_drained(run)

    def test_a_request_to_stop_is_not_hurried_by_it(self):
        run = self.start_run()
        run.process.send_signal(signal.SIGSTOP) # So that both are there when it goes on.
        run.interrupt()
        run.process.send_signal(signal.SIGHUP)
        run.process.send_signal(signal.SIGCONT)
        while run.running:
            run.process.send_signal(signal.SIGHUP)
        self.assert_drained(run)

    def test_under_nohup_a_run_goes_on(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            run = self.start_run()
        finally:
            signal.signal(signal.SIGHUP, before)
        done = self.count("select count(*) from evaluations")
        worker = self.worker(run)
        for pid in (run.pid, worker.pid):
            os.kill(pid, signal.SIGHUP)
        self.await_evaluations(done + 4, run)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.assert_undisturbed(self.file)

    def test_a_terminal_that_is_closed_is_drained_for(self):
        self.file = self.write_experiment(duration="40ms")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ["CLADE_RUNS"] = str(self.runs)
            os.execv(CLADE, [CLADE, "run", str(self.file), "--slots", "2"])
        seen = b""
        while b"generation 1" not in seen:
            seen += os.read(terminal, 4096)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 130)
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "interrupted")])
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.assert_nothing_left()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_undisturbed(self.file)

    def test_a_second_request_of_another_kind_stops_at_once(self):
        self.file = self.write_experiment(duration="9s")
        run = self.start("run", self.file, "--slots", "2")
        await_true(lambda: self.worker(run) and len(self.nodes()) == 2, "no slot is at work")
        run.interrupt()
        await_true(lambda: signal.SIGINT not in pending(run.pid), "the signal was not taken")
        run.terminate()
        self.assertEqual(run.end(), 130, run.said())
        self.assertIn("stopped at once", run.err)
        self.assert_nothing_left()

    def test_a_worker_that_is_told_so_drains(self):
        run = self.start_run()
        os.kill(self.worker(run).pid, signal.SIGHUP)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.assertEqual(self.query("select distinct reason from nodes where reason = 'it was drained'"),
                         [("it was drained",)])
        self.assert_undisturbed(self.file)


if __name__ == "__main__":
    unittest.main()
