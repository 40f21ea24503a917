"""`clade launch ssh` with a real ssh server: keys that only their owner reads, one worker for a machine, and a line for
each host."""

import os
import re
import signal
import stat
import unittest

from live_runs import RunTest, await_end, await_true, processes_of
from ssh_server import SshServer

# Writes down what it was called with, and stays.
RECORDER = """#!/bin/sh
for word; do echo "<$word>"; done
exec tail -n 0 -f "$5/ca.pem"
"""


class SshTest(RunTest):
    @classmethod
    def setUpClass(cls):
        cls.server = SshServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def start_listening(self, **changes):
        """A run without slots of its own; returns it and its folder."""
        self.file = self.write_experiment(**changes)
        run = self.start("run", self.file, "--listen", "127.0.0.1:0", "--slots", "none")
        folder = self.run_folder()
        await_true(lambda: (folder / "address").exists() or not run.running, "the run does not listen")
        return run, folder

    def launch(self, hosts, folder, *words, status=0):
        return self.finish("launch", "ssh", hosts, "--run", folder, *self.server.options, *words, status=status)

    def remote(self, folder):
        return self.server.home / ".clade" / "keys" / folder.name


class Script(SshTest):
    """The commands that run on the other machine; its program is a stand-in."""

    def setUp(self):
        super().setUp()
        self.run_command, self.place = self.start_listening()

    def tearDown(self):
        self.run_command.kill()
        for process in processes_of(self.remote(self.place)):
            os.kill(process.pid, signal.SIGKILL)
            await_end(process.pid)
        super().tearDown()

    def program(self, text):
        program = self.server.home / "a worker's"
        program.write_text(text)
        program.chmod(0o755)
        return program

    def test_keys_are_private_and_one_worker_is_started_once(self):
        recorder = self.program(RECORDER)
        old = os.umask(0)
        try:
            said = self.launch("127.0.0.1:cpu:2+cpu:1", self.place, "--program", recorder).out
        finally:
            os.umask(old)
        remote = self.remote(self.place)
        self.assertRegex(said, r"^127\.0\.0\.1: worker started, process [0-9]+; its log: "
                               rf"~/\.clade/keys/{self.place.name}/worker\.log\n$")
        for path in (remote, *remote.parents):
            if path == self.server.home:
                break
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700, path)
        for name in ("ca.pem", "cert.pem", "key.pem"):
            self.assertEqual((remote / name).read_text(), (self.place / "keys/worker" / name).read_text())
            self.assertEqual(stat.S_IMODE((remote / name).stat().st_mode), 0o600, name)
        log = remote / "worker.log"
        words = await_true(lambda: len(log.read_text().splitlines()) == 9 and log.read_text().splitlines(),
                           "the worker was not called")
        self.assertEqual(words, [f"<{word}>" for word in (
            "worker", "--connect", (self.place / "address").read_text().strip(), "--keys", remote, "--slots",
            "cpu:2,cpu:1", "--name", "127.0.0.1")])
        again = self.launch("127.0.0.1", self.place, "--program", recorder).out
        self.assertTrue(again.startswith("127.0.0.1: a worker of this run is there already; "), again)
        [worker] = [p for p in processes_of(remote) if p.role == "-n"]
        self.assertEqual(os.getsid(worker.pid), worker.pid, "it has a session of its own")
        self.assertIn(f"process {worker.pid};", said)

    def test_each_host_has_its_line_and_what_failed_is_said(self):
        recorder = self.program(RECORDER)
        done = self.launch("127.0.0.1,nobody@127.0.0.1:4,localhost.invalid", self.place, "--program", recorder, status=1)
        self.assertRegex(done.out, r"^127\.0\.0\.1: worker started, process [0-9]+; .*\n$")
        lines = done.err.splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^nobody@127\.0\.0\.1: ssh failed: .*Permission denied")
        self.assertRegex(lines[1], r"^localhost\.invalid: ssh failed: .*localhost\.invalid")

    def test_a_worker_that_ends_at_once_is_no_success(self):
        program = self.program("#!/bin/sh\necho 'clade: no such slots' >&2\nexit 2\n")
        done = self.launch("127.0.0.1", self.place, "--program", program, status=1)
        self.assertEqual((done.out, done.err), ("", "127.0.0.1: the worker ended with status 2: clade: no such slots "
                                                    f"(its log: ~/.clade/keys/{self.place.name}/worker.log)\n"))

    def test_a_machine_without_clade_says_so(self):
        done = self.launch("127.0.0.1", self.place, "--program", "/no/clade", status=1)
        self.assertEqual(done.err, "127.0.0.1: clade is not there; --program names where it is\n")


class Runs(SshTest):
    def assert_ended_well(self):
        self.assert_whole(64)
        self.assertEqual(self.query("select distinct slot from nodes"), [("127.0.0.1/cpu:0",)])
        self.assert_undisturbed(self.file)

    def test_a_run_that_listens_is_evaluated_there(self):
        run, folder = self.start_listening(duration="10ms")
        self.launch("127.0.0.1:1", folder)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_ended_well()

    def test_a_run_is_launched_with_its_workers(self):
        self.file = self.write_experiment(duration="10ms")
        said = self.finish("launch", "ssh", "127.0.0.1:1", self.file, "--host", "127.0.0.1", *self.server.options).out
        await_end(int(re.search(r" as process ([0-9]+) of this machine;", said)[1]))
        self.assert_ended_well()

    def test_a_run_that_no_host_works_for_is_not_left(self):
        done = self.finish("launch", "ssh", "nobody@127.0.0.1", self.write_experiment(), *self.server.options, status=1)
        self.assertIn("nobody@127.0.0.1: ssh failed: ", done.err)
        self.assertEqual(list(self.runs.iterdir()), [])
        self.assert_nothing_left()

    def test_a_run_that_does_not_run_gets_no_workers(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")
        done = self.launch("127.0.0.1", self.run_folder(), status=2)
        self.assertIn(" does not run on this machine; go on with it first: clade resume toy-", done.err)


if __name__ == "__main__":
    unittest.main()
